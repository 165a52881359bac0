#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A system call that failed: what was tried, and `errno`.
struct SystemError: Error, CustomStringConvertible {
  let operation: String
  let number: Int32

  init(operation: String, number: Int32 = errno) {
    self.operation = operation
    self.number = number
  }

  var description: String { "cannot \(operation): \(Self.text(number))" }

  /// The system's words for an error number.
  static func text(_ number: Int32) -> String {
    unsafe String(cString: strerror(number))
  }
}

extension SystemError {
  static func meansNoSpace(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
  static func meansNoPermission(_ number: Int32) -> Bool { number == EACCES || number == EPERM }
  /// Of the process, or of the whole system.
  static func meansNoDescriptors(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }
}

extension SystemError {
  var isMissing: Bool { number == ENOENT }
  var isInTheWay: Bool { number == EEXIST }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A failed system call: its purpose, and `errno`.
package struct SystemError: Error, CustomStringConvertible {
  let operation: String
  let number: Int32

  init(operation: String, number: Int32 = errno) {
    self.operation = operation
    self.number = number
  }

  package var description: String { "cannot \(operation): \(Self.text(number))" }

  static func text(_ number: Int32) -> String {
    unsafe String(cString: strerror(number))
  }

  var isMissing: Bool { number == ENOENT }
  package var alreadyExists: Bool { number == EEXIST }

  static func meansNoSpace(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
  static func meansNoPermission(_ number: Int32) -> Bool { number == EACCES || number == EPERM }
  /// Whether the process or the whole system has no file descriptors left.
  static func meansNoDescriptors(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }
}

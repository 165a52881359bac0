import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The arguments of the program as the system passed them, without reading a file: `CommandLine` needs /proc on Linux.
package enum ProgramArguments {
  /// All of them; the first is the program's name.
  ///
  /// Bytes that are not UTF-8 are replaced. Empty if the system passed none, so that a program cannot know what it was asked to do.
  package static let all = unsafe pointers.map { unsafe String(cString: $0) }

  /// The index of the first argument that is not valid UTF-8.
  package static var firstInvalid: Int? { unsafe pointers.firstIndex { unsafe String(validatingCString: $0) == nil } }

  private static var pointers: [UnsafePointer<CChar>] {
    var count: Int32 = 0
    let first = unsafe userstore_arguments(&count)
    return unsafe (0..<Int(count)).compactMap { unsafe first?[$0].map { unsafe UnsafePointer($0) } }
  }
}

/// Standard error as a text stream; text that cannot be written is lost.
struct StandardError: TextOutputStream {
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The system's `write`, which the method of the same name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

/// The clock of the timestamps in the log, which users can set.
package enum WallClock {
  /// Milliseconds since 1970.
  package static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Duration {
  /// Whole milliseconds, clamped at about 290 million years.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1_000)
    if milliseconds.overflow { return seconds < 0 ? .min : .max }
    return milliseconds.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}

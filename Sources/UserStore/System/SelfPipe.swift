#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A pipe that ends a wait for descriptors, from any thread.
package final class SelfPipe: Sendable {
  /// Readable after `wake`, until `drain`.
  package let reader: Int32
  private let writer: Int32

  package init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError(operation: "create a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    close(reader)
    close(writer)
  }

  /// Ends a wait, the current one or the next.
  package func wake() {
    var byte: UInt8 = 1
    // If the pipe is full, the reader wakes anyway.
    _ = unsafe write(writer, &byte, 1)
  }

  /// Consumes the wake-ups so far.
  package func drain() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while unsafe read(reader, &bytes, 64) == 64 {}
  }
}

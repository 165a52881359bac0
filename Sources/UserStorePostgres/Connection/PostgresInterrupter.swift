import Synchronization
import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Ends the waits of one connection, from any thread.
final class PostgresInterrupter: Sendable {
  private let reader: Int32
  private let writer: Int32
  private let interrupted = Atomic(false)
  private let inUse = Atomic(false)

  /// Throws `cannotOpen` if the process has no descriptors left.
  init() throws(StoreError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw StoreError(PostgresError(.cannotConnect, reason, purpose: "create a pipe"))
    }
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

  /// Ends a `PostgresConnection.wait`, the current one or the next.
  func wake() {
    var byte: UInt8 = 1
    // If the pipe is full, the reader wakes anyway.
    _ = unsafe write(writer, &byte, 1)
  }

  /// Ends the use of the connection permanently: the running operation and every later one throw `.interrupted`.
  ///
  /// The thread that was waiting asks the server to cancel the running statement, and closes the connection.
  func interrupt() {
    interrupted.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  var isInterrupted: Bool { interrupted.load(ordering: .sequentiallyConsistent) }

  /// Whether the connection is open, or being made.
  var isInUse: Bool {
    get { inUse.load(ordering: .sequentiallyConsistent) }
    set { inUse.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// The descriptor that is readable after `wake` and `interrupt`.
  var descriptor: Int32 { reader }

  /// Consumes the wake-ups so far.
  func drain() {
    var bytes: [UInt8] = Array(repeating: 0, count: 64)
    while unsafe read(reader, &bytes, 64) == 64 {}
  }
}

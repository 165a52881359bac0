import CUserStoreLibPQ
import Synchronization
import UserStore

/// Ends the waits of one connection, from any thread.
final class PostgresInterrupter: Sendable {
  private let pipe: SelfPipe
  private let interrupted = Atomic(false)
  private let inUse = Atomic(false)

  /// Throws `cannotOpen` if the process has no descriptors left.
  init() throws(StoreError) {
    do { pipe = try SelfPipe() } catch { throw StoreError(error, otherwise: .cannotOpen) }
  }

  /// Ends a `PostgresConnection.wait`, the current one or the next.
  func wake() { pipe.wake() }

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
  var descriptor: Int32 { pipe.reader }

  /// Consumes the wake-ups so far.
  func drain() { pipe.drain() }

  /// Waits for a wake-up, at most for `timeout`.
  func wait(for timeout: Duration) {
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    if userstore_pq_wait(-1, 0, 0, descriptor, milliseconds) != 0 { drain() }
  }
}

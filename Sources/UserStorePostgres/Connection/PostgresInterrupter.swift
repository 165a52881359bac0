import CUserStoreLibPQ
import Synchronization
import UserStore

/// Ends the waits of one connection, from any thread.
final class PostgresInterrupter: Sendable {
  private let pipe: SelfPipe
  private let isClosed = Atomic(false)
  private let isStopped = Atomic(false)
  private let inUse = Atomic(false)

  init() throws(StoreError) {
    do { pipe = try SelfPipe() } catch { throw StoreError(error, otherwise: .cannotOpen) }
  }

  /// Ends the current or the next `PostgresConnection.wait`.
  func wake() { pipe.wake() }

  /// Ends the use of the connection for good: the running operation and all later ones throw `.interrupted`.
  ///
  /// The waiting thread asks the server to cancel the running statement, and closes the connection.
  func interrupt() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Ends the use of the connection in the same way, until `resume`.
  func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Lets the connection be used, or made again, after `stop`.
  func resume() { isStopped.store(false, ordering: .sequentiallyConsistent) }

  var isInterrupted: Bool {
    isClosed.load(ordering: .sequentiallyConsistent) || isStopped.load(ordering: .sequentiallyConsistent)
  }

  /// Whether the connection is open, or being made.
  var isInUse: Bool {
    get { inUse.load(ordering: .sequentiallyConsistent) }
    set { inUse.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Readable after `wake`, `interrupt` and `stop`.
  var descriptor: Int32 { pipe.reader }

  func drain() { pipe.drain() }

  /// Waits for a wake-up, at most for `timeout`.
  func wait(for timeout: Duration) {
    let milliseconds = Int32(clamping: timeout.wholeMilliseconds)
    if userstore_pq_wait(-1, 0, 0, descriptor, milliseconds) != 0 { drain() }
  }
}

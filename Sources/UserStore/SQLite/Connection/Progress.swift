import CUserStoreSQLite
import Synchronization

/// The progress handler of a connection, which ends a statement that runs too long (sqlite.org/c3ref/progress_handler.html).
///
/// `sqlite3_interrupt` is no substitute: it has no effect between two statements.
final class Progress: @unchecked Sendable {
  // Unchecked: only `isInterrupted` is used by other threads than the connection's.

  private let interrupted = Atomic(false)
  private var shouldContinue: (() -> Bool)?

  /// SQLite's instructions between two calls: some microseconds, or half a second if each reads a value of megabytes.
  private static let instructions: Int32 = 1_000
  /// The same with a closure to ask: some milliseconds.
  private static let instructionsPerQuestion: Int32 = 100_000

  /// Whether the running statement, and those that follow, are to end; any thread may set it.
  var isInterrupted: Bool {
    get { interrupted.load(ordering: .relaxed) }
    set { interrupted.store(newValue, ordering: .relaxed) }
  }

  /// Installs the handler on a connection, which must keep this object until it is closed.
  func install(on connection: OpaquePointer, asking shouldContinue: (() -> Bool)? = nil) {
    self.shouldContinue = shouldContinue
    unsafe sqlite3_progress_handler(
      connection, shouldContinue == nil ? Self.instructions : Self.instructionsPerQuestion,
      { context in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<Progress>.fromOpaque(context).takeUnretainedValue().goesOn ? 0 : 1
      }, unsafe Unmanaged.passUnretained(self).toOpaque())
  }

  /// Before each statement: most end before the handler is called.
  ///
  /// - Throws: `StoreError.Code.closed`.
  func check() throws(StoreError) { if isInterrupted { throw SessionPool.closed } }

  private var goesOn: Bool { !isInterrupted && shouldContinue?() ?? true }
}

/// A read that a task awaits, and whose statements end when the task is canceled.
final class AwaitedRead: Sendable {
  private struct State {
    var isCanceled = false
    /// The sessions of the transactions that it is in: one of each store.
    var sessions: [any Session] = []
  }

  private let state = Lock(State())

  private final class Slot {
    var read: AwaitedRead?
  }

  private static let slot = ThreadLocal<Slot> { Slot() }

  /// The read that the calling thread runs; nil for one that nobody awaits.
  static var current: AwaitedRead? { slot.withValue { $0.read } }

  var isCanceled: Bool { state.withLock { $0.isCanceled } }

  /// Runs `body` on the calling thread, whose transactions belong to this read.
  func perform<Result>(_ body: () throws -> Result) rethrows -> Result {
    let slot = Self.slot.value
    slot.read = self
    defer { slot.read = nil }
    return try body()
  }

  /// Runs `body`, whose transactions do not belong to a read: listeners must not be interrupted.
  func suspend(_ body: () -> Void) {
    let slot = Self.slot.value
    slot.read = nil
    defer { slot.read = self }
    body()
  }

  /// Notes that a transaction begins; call `end` when it has ended, or if this throws.
  ///
  /// - Throws: `StoreError.Code.closed` if the task was canceled.
  func begin(_ session: any Session) throws(StoreError) {
    let isCanceled = state.withLock { state in
      state.sessions.append(session)
      return state.isCanceled
    }
    if isCanceled { throw SessionPool.closed }
  }

  func end() { state.withLock { _ = $0.sessions.popLast() } }

  func cancel() {
    // Under the lock: a session must not be lent to another read meanwhile.
    state.withLock { state in
      state.isCanceled = true
      for session in state.sessions { session.interrupt() }
    }
  }
}

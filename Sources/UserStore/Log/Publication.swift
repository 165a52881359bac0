// Modeled in Proof/Model/WakeUp.pml and Proof/Model/Pump.pml; change both.

/// The position up to which the hub has received the log, and the wake-up of the log's other readers.
///
/// The writer and the watcher both append the sets after this position. Whichever reads a set first appends it, so that the
/// hub's order is the log's order, and no set is delivered twice.
final class Publication: Sendable {
  let hub: ListenerHub<ChangeSet>
  /// Wakes the feeds of this store.
  private let bell = Bell()
  /// Wakes the watchers of other processes.
  private let signal: @Sendable () -> Void
  private let state: Lock<State>

  private struct State {
    var position: Cursor
    /// The number of this log among the successive logs of this store; revisions of different logs cannot be compared.
    var log: Int64 = 0
    /// The numbers of earlier logs, by their epochs.
    var previousLogs: [Int64: Int64] = [:]
    /// Whether the writer is committing; it appends its sets itself.
    var isCommitting = false
    /// How many commits the writer has started.
    var ownCommits = 0
    /// Called when the writer is done, so that the watcher can resubmit what was refused.
    var retry: (@Sendable () -> Void)?

    mutating func refuses(_ retry: @escaping @Sendable () -> Void) -> Bool {
      if isCommitting { self.retry = retry }
      return isCommitting
    }
  }

  /// Creates a publication that starts at `position`, the end of the log when the store was opened.
  init(hub: ListenerHub<ChangeSet>, position: Cursor, signal: @escaping @Sendable () -> Void) {
    self.hub = hub
    self.signal = signal
    state = Lock(State(position: position))
  }

  /// Whether there are listeners; if not, no change set needs to be read for them.
  var hasListeners: Bool { hub.hasListeners }

  /// Delivers the queued rounds; those through the ticket are delivered when this returns, if that is possible.
  func deliver(through ticket: Int?) { hub.deliver(through: ticket) }

  // MARK: Feeds

  /// A stream with an element whenever there may be more of the log, until the store is closed.
  func rings() -> Bell.Rings { bell.rings() }

  func ring() { bell.ring() }

  /// Wakes the feeds of this store, and the watchers of other processes.
  func wakeFollowers() {
    bell.ring()
    signal()
  }

  var isClosed: Bool { bell.isClosed }

  func close() { bell.close() }

  // MARK: Position

  /// The end of the last set that was appended, or skipped because there were no listeners.
  var position: Cursor { state.withLock { $0.position } }

  /// The place of a cursor in the order of all rounds.
  ///
  /// A reader may be ahead of `position`, already in the next log, or behind it, in an earlier log.
  func round(at cursor: Cursor) -> Int128 {
    state.withLock { state in
      let log =
        cursor.epoch == state.position.epoch
        ? state.log : state.previousLogs[cursor.epoch] ?? state.log + 1
      return cursor.revision.position(inLog: log)
    }
  }

  /// Called before the writer commits: until `endOwnCommit`, sets from the watcher are refused.
  func beginOwnCommit() {
    state.withLock { state in
      state.isCommitting = true
      state.ownCommits += 1
    }
  }

  /// Called when the writer has committed and appended its sets, or has failed.
  ///
  /// It then calls `retry`, because nothing else might wake the watcher: the events of a refused set of another process are over,
  /// and the writer's own signal does not follow if the commit failed or wrote nothing to the log.
  func endOwnCommit() {
    let retry = state.withLock { state in
      state.isCommitting = false
      return state.retry.take()
    }
    retry?()
  }

  var ownCommits: Int { state.withLock { $0.ownCommits } }

  /// Appends sets that the watcher read, unless the writer is committing; then `retry` is called once when it is done.
  func appendFound(_ sets: [ChangeSet], retry: @escaping @Sendable () -> Void) -> Found {
    if state.withLock({ $0.refuses(retry) }) { return .refused }
    return .given(append(sets, cascade: nil))
  }

  enum Found {
    /// Appended, with the ticket to wait for.
    case given(Int?)
    case refused
  }

  /// Appends sets to the hub's queue, in the order of their commits, and skips those that it has received.
  ///
  /// - Returns: A ticket to wait for; nil if no set was appended.
  func append(_ sets: [ChangeSet], cascade: Cascade?) -> Int? {
    state.withLock { state in
      var ticket: Int?
      for set in sets where set.cursor.epoch == state.position.epoch {
        guard var round = set.dropping(through: state.position.revision.rawValue) else { continue }
        round.position = set.revision.position(inLog: state.log)
        if !set.isHidden { ticket = hub.append(round, cascade: cascade) }
        state.position = set.cursor
      }
      return ticket
    }
  }

  /// Moves to `cursor` without appending sets: there were no listeners when they were committed.
  func skip(to cursor: Cursor) {
    state.withLock { state in
      guard cursor.epoch == state.position.epoch, cursor.revision > state.position.revision else { return }
      state.position = cursor
    }
  }

  /// Appends a discontinuity: the log continues after `head`, not after `position`; returns a ticket to wait for, nil if another
  /// thread has moved the position.
  func reset(from position: Cursor, to head: Cursor, because code: StoreError.Code) -> Int? {
    state.withLock { state in
      guard state.position == position else { return nil }
      return reset(&state, to: head, because: code)
    }
  }

  /// Resets like `reset`, for the watcher, and refuses like `appendFound`: the writer appends its own discontinuity.
  func resetFound(
    from position: Cursor, to head: Cursor, because code: StoreError.Code, retry: @escaping @Sendable () -> Void
  ) -> Found {
    state.withLock { state in
      if state.refuses(retry) { return .refused }
      return .given(state.position == position ? reset(&state, to: head, because: code) : nil)
    }
  }

  /// Resets from any position, after a commit of the writer that replaced the log.
  func restart(at head: Cursor) -> Int? {
    state.withLock { reset(&$0, to: head, because: .diverged) }
  }

  private func reset(_ state: inout State, to head: Cursor, because code: StoreError.Code) -> Int? {
    if head.epoch != state.position.epoch { state.previousLogs[state.position.epoch] = state.log }
    state.log += 1
    state.position = head
    var round = ChangeSet(cursor: head, origin: nil, isForeign: true, content: .discontinuity(code))
    round.position = head.revision.position(inLog: state.log)
    return hub.append(round, cascade: nil)
  }
}

// Modeled in Proof/Model/WakeUp.pml and Proof/Model/Pump.pml; change both.

/// How far the hub has received the log, and what follows when there is more of it.
///
/// The writer and the watcher both append the sets after this position. The first to come appends them, so the hub's order
/// is the log's order, and no set is delivered twice.
final class Publication: Sendable {
  let hub: ListenerHub<ChangeSet>
  /// Wakes the feeds of this store.
  private let bell = Bell()
  private let signal: @Sendable () -> Void
  private let state: Lock<State>

  private struct State {
    var position: Cursor
    /// Counts the logs that followed each other here; revisions of different logs cannot be compared.
    var log: Int64 = 0
    /// The epoch of the log before this one.
    var previous: Int64?
    /// Whether a commit of our own is under way: the writer gives it to the hub, with what belongs to it.
    var isCommitting = false
    /// How many commits of our own were begun.
    var ownCommits = 0
    /// What the watcher wants called when its finds, refused meanwhile, will be accepted.
    var retry: (@Sendable () -> Void)?

    mutating func refuses(_ retry: @escaping @Sendable () -> Void) -> Bool {
      if isCommitting { self.retry = retry }
      return isCommitting
    }
  }

  /// - Parameters:
  ///   - hub: Delivers to the store's listeners.
  ///   - position: The end of the log when the store was opened.
  ///   - signal: Wakes the watchers of other processes.
  init(hub: ListenerHub<ChangeSet>, position: Cursor, signal: @escaping @Sendable () -> Void) {
    self.hub = hub
    self.signal = signal
    state = Lock(State(position: position))
  }

  /// Whether there are listeners.
  ///
  /// If not, no change set needs to be read for them.
  var hasListeners: Bool { hub.hasListeners }

  /// Delivers what is queued.
  ///
  /// - Parameter ticket: What must have been delivered when this returns, if that is possible.
  func deliver(through ticket: Int?) { hub.deliver(through: ticket) }

  // MARK: Feeds

  /// Elements arrive when there may be more of the log, until the store is closed.
  func rings() -> AsyncStream<Void> { bell.rings() }

  /// Wakes the feeds.
  func ring() { bell.ring() }

  /// Wakes everybody who reads the log: the feeds of this store, and the watchers of other processes.
  func wakeFollowers() {
    bell.ring()
    signal()
  }

  /// Ends the feeds: the store is being closed.
  func close() { bell.close() }

  // MARK: Position

  /// The end of the last set that was given, or skipped because nobody listened.
  var position: Cursor { state.withLock { $0.position } }

  /// Where a revision stands among the hub's rounds.
  ///
  /// A reader may be ahead of the tail and have read the next log already, or be behind and have read the previous one.
  func round(at cursor: Cursor) -> Int128 {
    state.withLock { state in
      let log =
        switch cursor.epoch {
        case state.position.epoch: state.log
        case state.previous: state.log - 1
        default: state.log + 1
        }
      return Self.round(cursor.revision, of: log)
    }
  }

  /// The writer is about to commit: until `endOwnCommit` what the watcher finds waits.
  func beginOwnCommit() {
    state.withLock { state in
      state.isCommitting = true
      state.ownCommits += 1
    }
  }

  /// The writer has committed and given its sets, or has failed.
  ///
  /// What was refused meanwhile may be another's, whose events are over: nothing else would bring the watcher back. The
  /// writer's own signal comes after this, but not when the commit failed or told nothing.
  func endOwnCommit() {
    let retry = state.withLock { state in
      state.isCommitting = false
      return state.retry.take()
    }
    retry?()
  }

  /// How many commits of our own were begun so far.
  var ownCommits: Int { state.withLock { $0.ownCommits } }

  /// What the watcher found: given, unless the writer is just giving its own.
  ///
  /// - Parameters:
  ///   - sets: In the order of their commits.
  ///   - retry: Called once, when the writer is done, if they were refused.
  /// - Returns: whether they were given, and the ticket to wait for.
  func appendFound(_ sets: [ChangeSet], retry: @escaping @Sendable () -> Void) -> Found {
    if state.withLock({ $0.refuses(retry) }) { return .refused }
    return .given(append(sets, cascade: nil))
  }

  enum Found {
    case given(Int?)
    case refused
  }

  /// Gives sets to the hub's queue; those that it has already are left out.
  ///
  /// - Parameters:
  ///   - sets: In the order of their commits.
  ///   - cascade: What they belong to, when a listener caused them.
  /// - Returns: a ticket to wait for; nil when there was nothing to give.
  func append(_ sets: [ChangeSet], cascade: Cascade?) -> Int? {
    state.withLock { state in
      var ticket: Int?
      for set in sets where set.cursor.epoch == state.position.epoch {
        guard var round = set.dropping(through: state.position.revision.rawValue) else { continue }
        round.position = Self.round(set.revision, of: state.log)
        ticket = hub.append(round, cascade: cascade)
        state.position = set.cursor
      }
      return ticket
    }
  }

  /// Moves on to `cursor` without giving anything: nobody listened when it was committed.
  func skip(to cursor: Cursor) {
    state.withLock { state in
      guard cursor.epoch == state.position.epoch, cursor.revision > state.position.revision else { return }
      state.position = cursor
    }
  }

  /// Tells the hub that the log does not go on from `position`, and goes on from `head`.
  ///
  /// - Returns: a ticket to wait for; nil when it is no longer at that position: somebody else was first.
  func reset(from position: Cursor, to head: Cursor, because code: StoreError.Code) -> Int? {
    state.withLock { state in
      guard state.position == position else { return nil }
      return reset(&state, to: head, because: code)
    }
  }

  /// The same when the watcher finds it.
  ///
  /// What the writer is just committing it tells by itself.
  func resetFound(
    from position: Cursor, to head: Cursor, because code: StoreError.Code, retry: @escaping @Sendable () -> Void
  ) -> Found {
    state.withLock { state in
      if state.refuses(retry) { return .refused }
      return .given(state.position == position ? reset(&state, to: head, because: code) : nil)
    }
  }

  /// The same after a commit of our own that put another log in the place of this one, wherever the tail is in it.
  ///
  /// - Returns: a ticket to wait for.
  func restart(at head: Cursor) -> Int? {
    state.withLock { reset(&$0, to: head, because: .diverged) }
  }

  private func reset(_ state: inout State, to head: Cursor, because code: StoreError.Code) -> Int? {
    state.log += 1
    if head.epoch != state.position.epoch { state.previous = state.position.epoch }
    state.position = head
    var round = ChangeSet(cursor: head, origin: nil, isForeign: true, content: .discontinuity(code))
    round.position = Self.round(head.revision, of: state.log)
    return hub.append(round, cascade: nil)
  }

  private static func round(_ revision: Revision, of log: Int64) -> Int128 {
    Int128(log) << Revision.bits + Int128(revision.rawValue)
  }
}

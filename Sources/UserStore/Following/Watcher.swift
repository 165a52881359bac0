// Modeled in Proof/Model/WakeUp.pml; change both.

/// Finds the commits of other processes, and of other stores in this process, and appends them to the hub's queue.
///
/// It has a session of its own, and a thread that sleeps until the engine reports a possible commit. It does not keep
/// the store alive.
final class Watcher: Sendable {
  private let events: any CommitEvents
  private let publication: Publication
  private let reader: Reader
  private let open: @Sendable () throws(StoreError) -> any Session
  /// How long a replica may be behind before that is reported.
  private let patience: Duration
  private let state = Lock(State.waiting(nil))
  /// nil until it is started.
  private let thread = Lock<SystemThread?>(nil)

  private enum State {
    /// With the session, which is nil before the first look.
    case waiting((any Session)?)
    case looking
    case stopped(whileLooking: Bool)
  }

  /// Creates a watcher with events that were started before the publication's position was read; `open` opens the session at the
  /// first look, so that a store that is soon closed has none.
  init(
    _ open: @escaping @Sendable () throws(StoreError) -> any Session, _ events: any CommitEvents,
    _ publication: Publication, reader: Reader, patience: Duration = .zero
  ) {
    self.open = open
    self.patience = patience
    self.events = events
    self.publication = publication
    self.reader = reader
  }

  var hasEvents: Bool { events.hasEvents }

  /// Looks soon, without waiting for an event; may be called on any thread.
  func look() { events.wake() }

  /// Starts the thread, which finds everything that was committed after the publication's position.
  func start() throws(StoreError) {
    do {
      let started = try SystemThread.start(named: "userstore-watch", afterEnd: events.closeEvents) { self.run() }
      thread.withLock { $0 = started }
    } catch {
      throw StoreError(.unexpected, "cannot watch the database: \(error)", cause: error)
    }
  }

  /// Ends the thread soon, and closes the session unless the thread is using it; may be called on the thread itself.
  func stop() {
    // Returned from the lock, so that the session is closed outside of it.
    _ = state.withLock { state -> (any Session)? in
      switch state {
      case .waiting(let session):
        state = .stopped(whileLooking: false)
        return session
      case .looking: state = .stopped(whileLooking: true)
      case .stopped: break
      }
      return nil
    }
    events.wake()
  }

  /// Waits until the thread no longer uses the store, after `stop`; returns at once on the thread itself.
  ///
  /// A thread that was waiting only has to wake and end, which takes longer than closing the store.
  func join() {
    if case .stopped(whileLooking: true) = state.withLock({ $0 }) { thread.withLock { $0 }?.join() }
  }

  private func run() {
    var memory = Memory()
    var schedule = LookSchedule(hasEvents: events.hasEvents, idle: events.idleLook)
    var ownCommits = 0
    var reportsWrites = true
    while true {
      // A server has no events while it is a replica.
      if schedule.hasEvents != events.hasEvents {
        schedule = LookSchedule(hasEvents: events.hasEvents, idle: events.idleLook)
      }
      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)
      // An overflow may have dropped the event of a write.
      if !received.isDisjoint(with: [.written, .renamed, .overflowed]) { schedule.written() }
      let before = publication.ownCommits
      let wasReported = memory.isReported
      guard let result = look(&memory) else { return }
      // A signal is sent only once, so a failed look is repeated; so is a look that has just found the connection lost.
      let isNewlyLost = memory.isReported && !wasReported && schedule.hasEvents
      if result == .failed, !received.isEmpty || isNewlyLost { schedule.written() }
      if result == .found, received.isEmpty, schedule.hasEvents { events.missedEvent() }
      schedule.looked(found: result == .found || result == .own)
      let rest = schedule.rest(ownCommits: before - ownCommits, found: result == .found)
      if reportsWrites == schedule.isUnderLoad {
        reportsWrites.toggle()
        events.setReportsWrites(reportsWrites)
        // A write that was not reported may not be visible yet.
        if reportsWrites { schedule.written() }
      }
      // A sleep, because the events are what it rests from; each of our own commits may call `events.wake`, too.
      if let rest { SystemThread.sleep(microseconds: rest) }
      ownCommits = before
    }
  }

  private struct Memory {
    /// The session's `commitCounter` at the last complete look, and the end of the log that it has found.
    var seen: (counter: Int64, end: Cursor)?
    /// Whether the file was missing or replaced at the last look; it may return.
    var hasMoved = false
    /// Whether an error was reported that every look would repeat until one succeeds: the session cannot be opened, or was lost.
    var isReported = false
    /// Since when the server has been a replica that is behind the publication's position, and whether that was reported.
    var lag: (since: ContinuousClock.Instant, isReported: Bool)?
  }

  private enum Look {
    case nothing
    /// Only our own writes, which the hub already has.
    case own
    case found
    /// There may be something: the look is repeated, like one that is too early.
    case failed
  }

  /// Looks once; returns nil if the watcher was stopped.
  private func look(_ memory: inout Memory) -> Look? {
    guard var session = beginLook() else { return nil }
    let result = look(&session, &memory)
    return endLook(session) ? result : nil
  }

  /// Takes the session, which is nil at first, for the thread alone; returns no value if the watcher was stopped.
  private func beginLook() -> (any Session)?? {
    state.withLock { state in
      guard case .waiting(let session) = state else { return nil }
      state = .looking
      return .some(session)
    }
  }

  /// Returns false if the watcher was stopped: then the thread closes the session.
  private func endLook(_ session: (any Session)?) -> Bool {
    state.withLock { state in
      guard case .looking = state else { return false }
      state = .waiting(session)
      return true
    }
  }

  /// Looks once; fails for example because of a lock during recovery, no memory, or a commit of our own.
  private func look(_ session: inout (any Session)?, _ memory: inout Memory) -> Look {
    do {
      let session = try opened(&session, &memory)
      let current = try session.commitCounter(beforeReadingAfter: publication.position)
      memory.hasMoved = false
      memory.isReported = false
      // The position is compared too: after a failover, the log may be as it was before a write of our own that was lost.
      if let seen = memory.seen, seen.counter == current, seen.end == publication.position {
        memory.lag = nil
        return .nothing
      }
      let (result, end) = try appendNewSets(session)
      if result != .failed { (memory.seen, memory.lag) = ((current, end), nil) }
      return result
    } catch {
      switch error.code {
      case .moved:
        if !memory.hasMoved { reportReplaced() }
        memory.hasMoved = true
        return .nothing
      case .behind: reportLag(error, &memory)
      case .connectionLost: reportLoss(error, &memory)
      default: break
      }
      return .failed
    }
  }

  /// Reports once that the connection to the server was lost: until the store connects again, nothing is delivered.
  private func reportLoss(_ error: StoreError, _ memory: inout Memory) {
    if memory.isReported || isStopped { return }
    memory.isReported = true
    let message =
      "the connection was lost, and changes of other programs are delivered when the server can be reached again: "
      + error.message
    publication.hub.handleError(nil, StoreError(error.code, message, hint: error.hint, cause: error))
  }

  /// Reports once that the server is behind, if that lasts: until it has caught up, nothing is delivered.
  private func reportLag(_ error: StoreError, _ memory: inout Memory) {
    var lag = memory.lag ?? (.now, false)
    if !lag.isReported, lag.since.duration(to: .now) >= patience {
      lag.isReported = true
      publication.hub.handleError(nil, error)
    }
    memory.lag = lag
  }

  /// Opens the session if it is not open.
  ///
  /// - Throws: `StoreError.Code.moved` if another file is in the place of the database, and the errors of opening, which it reports.
  private func opened(_ session: inout (any Session)?, _ memory: inout Memory) throws(StoreError) -> any Session {
    if let session { return session }
    do {
      let new = try open()
      session = new
      return new
    } catch {
      // Until it succeeds, nothing of other processes is delivered. A lock is soon released; closing ends the look.
      if !memory.isReported, ![.busy, .moved].contains(error.code), !isStopped {
        memory.isReported = true
        let message = "cannot watch the database, and tries again: \(error.message)"
        publication.hub.handleError(nil, StoreError(error.code, message, hint: error.hint, cause: error))
      }
      throw error
    }
  }

  private var isStopped: Bool {
    state.withLock { state in
      if case .stopped = state { true } else { false }
    }
  }

  private func reportReplaced() {
    var isReported = false
    // Repeated, because a write of our own may move the position in between.
    while !isReported {
      let position = publication.position
      isReported = publication.reset(from: position, to: position, because: .replaced) != nil
    }
    publication.ring()
    publication.deliver(through: nil)
  }

  /// Appends and delivers the new sets, a page at a time, so that a long backlog takes no memory; fails if one is refused.
  ///
  /// Also returns the end of the log that it has found.
  private func appendNewSets(_ session: any Session) throws(StoreError) -> (Look, Cursor) {
    var result = Look.own
    while true {
      let (page, end) = try readPage(session)
      let appended = publication.appendFound(page?.sets ?? [], retry: events.wake)
      publication.ring()
      guard case .given(let ticket) = appended else { return (.failed, end) }
      // Also waits for what another thread is delivering: otherwise, a slow listener would let the queue grow.
      publication.deliver(through: ticket)
      if ticket != nil { result = .found }
      if page?.isLast ?? true { return (result, end) }
    }
  }

  /// Reads the next page, and returns its end; nil if the position is at the end of the log, or was moved there for lack of
  /// listeners or because the log does not continue.
  private func readPage(_ session: any Session) throws(StoreError) -> (page: LogPage?, end: Cursor) {
    // Read before the snapshot, which then contains everything up to the position.
    let position = publication.position
    try session.beginReading(after: position)
    defer { session.rollBack() }
    let head = try session.logEnd()
    if head == position { return (nil, head) }
    do {
      let end = try session.verify(position)
      guard publication.hasListeners else {
        publication.skip(to: head)
        return (nil, head)
      }
      let page = try LogPage(after: position, through: end, session, pages: reader)
      return (page, page.position)
    } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      let result = publication.resetFound(from: position, to: head, because: error.code, retry: events.wake)
      // Thrown, so that the look is repeated.
      if case .refused = result { throw error }
      return (nil, head)
    }
  }
}

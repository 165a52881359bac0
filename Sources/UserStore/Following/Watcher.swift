// Modeled in Proof/Model/WakeUp.pml; change both.

/// Finds what other processes, and other stores in this process, commit, and appends it to the hub's queue.
///
/// It has a thread, which sleeps until the engine reports that something may have been committed, and a session of its own. It
/// does not keep the store alive.
final class Watcher: Sendable {
  private let events: any CommitEvents
  private let publication: Publication
  private let reader: Reader
  private let isStopped = Lock(false)
  private let session: Lock<(any Session)?>
  /// nil until it is started.
  private let thread = Lock<SystemThread?>(nil)

  init(_ session: any Session, _ events: any CommitEvents, _ publication: Publication, reader: Reader) {
    self.session = Lock(session)
    self.events = events
    self.publication = publication
    self.reader = reader
  }

  var hasEvents: Bool { events.hasEvents }

  /// Starts the thread, which finds everything that is committed after this returns.
  func start() throws(StoreError) {
    do {
      let started = try SystemThread.start(named: "userstore-watch", afterEnd: events.closeEvents) {
        // Taken out, so that the connection is closed before `join` returns.
        if let session = self.session.withLock({ $0.take() }) { self.run(session) }
      }
      thread.withLock { $0 = started }
    } catch {
      throw StoreError(.unexpected, "cannot watch the database: \(error)", cause: error)
    }
  }

  /// Ends the thread soon; may be called on the thread itself.
  func stop() {
    isStopped.withLock { $0 = true }
    events.wake()
  }

  /// Waits until the thread has ended, after `stop`; returns at once on the thread itself, and if it was never started.
  func join() { thread.withLock { $0 }?.join() }

  private func run(_ session: any Session) {
    // The session's `commitCounter` at the last complete look.
    var counter = Int64.min
    var schedule = LookSchedule(hasEvents: events.hasEvents)
    // Whether the file was missing or replaced at the last look; it may return.
    var hasMoved = false
    var ownCommits = 0
    var reportsWrites = true
    schedule.written()
    while !isStopped.withLock({ $0 }) {
      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)
      if isStopped.withLock({ $0 }) { return }
      // An overflow may have dropped the event of a write.
      if !received.isDisjoint(with: [.written, .renamed, .overflowed]) { schedule.written() }
      let before = publication.ownCommits
      let result = look(session, &counter, &hasMoved)
      // A signal is sent once, so a failed look must be repeated.
      if result == .failed, !received.isEmpty { schedule.written() }
      schedule.looked(found: result != .nothing)
      let rest = schedule.rest(ownCommits: before - ownCommits, found: result == .found)
      if reportsWrites == schedule.isUnderLoad {
        reportsWrites.toggle()
        events.setReportsWrites(reportsWrites)
        // A write that was not reported may not be visible yet.
        if reportsWrites { schedule.written() }
      }
      // Not interrupted by events: each of our own commits may refuse an append, and then calls `events.wake`.
      if let rest { SystemThread.sleep(microseconds: rest) }
      ownCommits = before
    }
  }

  private enum Look {
    case nothing
    /// Only our own writes, which the hub already has.
    case own
    case found
    /// There may be something: the look is repeated, like one that is too early.
    case failed
  }

  /// Looks once; fails for example because of a lock during recovery, no memory, or a commit of our own.
  private func look(_ session: any Session, _ counter: inout Int64, _ hasMoved: inout Bool) -> Look {
    if session.hasMoved {
      if !hasMoved { reportReplaced() }
      hasMoved = true
      return .nothing
    }
    hasMoved = false
    do {
      let current = try session.commitCounter()
      if current == counter { return .nothing }
      let result = try appendNewSets(session)
      if result != .failed { counter = current }
      return result
    } catch {
      return .failed
    }
  }

  private func reportReplaced() {
    var isReported = false
    // Until no write of our own moves the position in between.
    while !isReported {
      let position = publication.position
      isReported = publication.reset(from: position, to: position, because: .replaced) != nil
    }
    publication.ring()
    publication.deliver(through: nil)
  }

  /// Appends and delivers the new sets, a page at a time, so that a long backlog takes no memory; fails if one is refused.
  private func appendNewSets(_ session: any Session) throws(StoreError) -> Look {
    var result = Look.own
    while true {
      let page = try readPage(session)
      let appended = publication.appendFound(page?.sets ?? [], retry: events.wake)
      publication.ring()
      guard case .given(let ticket) = appended else { return .failed }
      // Also waits for what another thread is delivering: otherwise, a slow listener would let the queue grow.
      publication.deliver(through: ticket)
      if ticket != nil { result = .found }
      if page?.isLast ?? true { return result }
    }
  }

  /// Reads the next page; nil if the position is at the end of the log, or was moved there for lack of listeners or because
  /// the log does not continue.
  private func readPage(_ session: any Session) throws(StoreError) -> LogPage? {
    // Before the snapshot, which then contains everything up to the position.
    let position = publication.position
    try session.beginReading()
    defer { session.rollBack() }
    let head = try session.logEnd()
    if head == position { return nil }
    do {
      let end = try session.verify(position)
      guard publication.hasListeners else {
        publication.skip(to: head)
        return nil
      }
      return try LogPage(after: position, through: end, session, pages: reader)
    } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      let result = publication.resetFound(from: position, to: head, because: error.code, retry: events.wake)
      // Thrown, so that the look is repeated.
      if case .refused = result { throw error }
      return nil
    }
  }
}

// Modelled in Model/WakeUp.pml; change both.

/// Sees what other processes, and other stores in this one, commit, and gives it to the hub.
///
/// A thread of its own, which sleeps until the engine reports that something may have been committed. It reads through a
/// session of its own. It does not keep the store alive.
final class Watcher: Sendable {
  private let events: any CommitEvents
  private let publication: Publication
  private let reader: Reader
  private let isStopped = Lock(false)
  private let session: Lock<(any Session)?>
  /// Nil until it is started.
  private let thread = Lock<SystemThread?>(nil)

  init(_ session: any Session, _ events: any CommitEvents, _ publication: Publication, reader: Reader) {
    self.session = Lock(session)
    self.events = events
    self.publication = publication
    self.reader = reader
  }

  /// Whether the system tells of writes; without, they are polled for.
  var hasEvents: Bool { events.hasEvents }

  /// Starts the thread.
  ///
  /// From when this returns, nothing that is committed is missed.
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

  /// Ends the thread soon; it may be the calling one.
  func stop() {
    isStopped.withLock { $0 = true }
    events.wake()
  }

  /// Waits until the thread has ended, after `stop`.
  ///
  /// Returns at once on the thread itself, and when it could not be started.
  func join() { thread.withLock { $0 }?.join() }

  private func run(_ session: any Session) {
    var counter = Int64.min
    var schedule = LookSchedule(hasEvents: events.hasEvents)
    var isAway = false
    var ownCommits = 0
    var reportsWrites = true
    schedule.written()
    while !isStopped.withLock({ $0 }) {
      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)
      if isStopped.withLock({ $0 }) { return }
      // What was dropped may have been a write.
      if !received.isDisjoint(with: [.written, .renamed, .overflowed]) { schedule.written() }
      let before = publication.ownCommits
      let result = look(session, &counter, &isAway)
      // What a touch tells of must be found, though it tells no more.
      if result == .failed, !received.isEmpty { schedule.written() }
      schedule.looked(found: result != .nothing)
      let rest = schedule.rest(ownCommits: before - ownCommits, found: result == .found)
      if reportsWrites == schedule.isUnderLoad {
        reportsWrites.toggle()
        events.setReportsWrites(reportsWrites)
        // What was not heard meanwhile may not be visible yet.
        if reportsWrites { schedule.written() }
      }
      // Not to be woken from: each of our own commits may refuse what was found, and ask for it again.
      if let rest { SystemThread.sleep(microseconds: rest) }
      ownCommits = before
    }
  }

  private enum Look {
    case nothing
    /// Our own writes only: the hub has them.
    case own
    case found
    /// There may be something.
    case failed
  }

  /// Looks once.
  ///
  /// - Parameters:
  ///   - session: The watcher's.
  ///   - counter: The session's `commitCounter` at the last complete look.
  ///   - isAway: Whether another file lies in the place of the one that is open, or none; it may come back.
  /// - Returns: whether there was something new; a look that fails (a lock during recovery, no memory, a commit of our
  ///   own) is repeated, like one that comes too early.
  private func look(_ session: any Session, _ counter: inout Int64, _ isAway: inout Bool) -> Look {
    if session.hasMoved {
      if !isAway { tellReplaced() }
      isAway = true
      return .nothing
    }
    isAway = false
    do {
      let present = try session.commitCounter()
      if present == counter { return .nothing }
      let result = try takeOver(session)
      if result != .failed { counter = present }
      return result
    } catch {
      return .failed
    }
  }

  private func tellReplaced() {
    var isTold = false
    // Until it meets no write of our own that moves the position meanwhile.
    while !isTold {
      let position = publication.position
      isTold = publication.reset(from: position, to: position, because: .replaced) != nil
    }
    publication.ring()
    publication.deliver(through: nil)
  }

  /// Gives the hub what came since, a page at a time, so that a long backlog takes no memory.
  ///
  /// - Returns: what there was; failed when not all could be given.
  private func takeOver(_ session: any Session) throws(StoreError) -> Look {
    var result = Look.own
    while true {
      let page = try readPage(session)
      let given = publication.appendFound(page?.sets ?? [], retry: events.wake)
      publication.ring()
      // Waits also for what another thread is delivering: otherwise a slow listener would let the queue grow.
      guard case .given(let ticket) = given else { return .failed }
      publication.deliver(through: ticket)
      if ticket != nil { result = .found }
      if page?.isLast ?? true { return result }
    }
  }

  /// - Returns: nil when nobody listens, or the log went another way; the tail is at its end then.
  private func readPage(_ session: any Session) throws(StoreError) -> LogPage? {
    // Before the snapshot, which then holds everything up to it.
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
      return try LogPage(after: position, through: end, session, pages: reader.page)
    } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      let told = publication.resetFound(from: position, to: head, because: error.code, retry: events.wake)
      // The look is not complete then.
      if case .refused = told { throw error }
      return nil
    }
  }
}

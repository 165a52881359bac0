// Modelled in Model/WakeUp.pml; change both.

/// Sees what other processes, and other stores in this one, commit, and gives it to the hub.
///
/// A thread of its own, which sleeps until something happens to the -wal file. It reads through a connection of its own,
/// whose statements only read (`Connection.Access.queryOnly`). It does not keep the store alive.
final class FileWatcher: Sendable {
  private let events: DirectoryEvents
  private let open: @Sendable () throws(StoreError) -> Connection
  private let hub: ListenerHub<ChangeSet>
  private let tail: LogTail
  private let bell: Bell
  private let reader: Reader
  private let isStopped = Lock(false)
  /// Nil until it is started.
  private let thread = Lock<SystemThread?>(nil)

  init(
    path: String, usingEvents: Bool, open: @escaping @Sendable () throws(StoreError) -> Connection,
    hub: ListenerHub<ChangeSet>, tail: LogTail, bell: Bell, reader: Reader
  ) throws(StoreError) {
    let (folder, name) = Files.split(path)
    do {
      // Older versions touch the -wal file, which the folder's watch tells.
      events = try DirectoryEvents(
        folder: folder, names: [name, name + "-wal"], signal: name + "-wal", usingEvents: usingEvents)
    } catch {
      throw StoreError(.unexpected, "cannot watch \(path): \(error)", cause: error)
    }
    self.open = open
    self.hub = hub
    self.tail = tail
    self.bell = bell
    self.reader = reader
  }

  /// Whether the system tells of writes; without, they are polled for.
  var hasEvents: Bool { events.hasEvents }

  /// Starts the thread.
  ///
  /// From when this returns, nothing that is committed is missed.
  func start() throws(StoreError) {
    let lease = Lock<ConnectionPool.Lease?>(ConnectionPool.Lease(try open()))
    do {
      let started = try SystemThread.start(named: "userstore-watch", afterEnd: events.closeEvents) {
        // Taken out, so that the connection is closed when those that join go on.
        if let lease = lease.withLock({ $0.take() }) { self.run(lease) }
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

  private func run(_ lease: ConnectionPool.Lease) {
    var schedule = LookSchedule(hasEvents: events.hasEvents)
    var isAway = false
    var ownCommits = 0
    var hearsWrites = true
    schedule.written()
    while !isStopped.withLock({ $0 }) {
      let happening = events.wait(microseconds: hearsWrites ? schedule.wait : 0)
      if isStopped.withLock({ $0 }) { return }
      // What was dropped may have been a write.
      if !happening.isDisjoint(with: [.written, .renamed, .overflowed]) { schedule.written() }
      let before = tail.ownCommits
      let result = look(lease, &isAway)
      // What a touch tells of must be found, though it tells no more.
      if result == .failed, !happening.isEmpty { schedule.written() }
      schedule.looked(found: result != .nothing)
      let rest = schedule.rest(ownCommits: before - ownCommits, found: result == .found)
      if hearsWrites == schedule.isUnderLoad {
        hearsWrites.toggle()
        events.setHearsWrites(hearsWrites)
        // What was not heard meanwhile may not be visible yet.
        if hearsWrites { schedule.written() }
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
  ///   - lease: The watcher's connection.
  ///   - isAway: Whether another file lies in the place of the one that is open, or none; it may come back.
  /// - Returns: whether there was something new; a look that fails (a lock during recovery, no memory, a commit of our
  ///   own) is repeated, like one that comes too early.
  private func look(_ lease: ConnectionPool.Lease, _ isAway: inout Bool) -> Look {
    if lease.connection.hasMoved {
      if !isAway { tellReplaced() }
      isAway = true
      return .nothing
    }
    isAway = false
    do {
      let version = try ChangeLog.dataVersion(lease.connection)
      if version == lease.dataVersion { return .nothing }
      let result = try takeOver(lease)
      if result != .failed { lease.dataVersion = version }
      return result
    } catch {
      return .failed
    }
  }

  private func tellReplaced() {
    var isTold = false
    // Until it meets no write of our own that moves the position meanwhile.
    while !isTold {
      let position = tail.position
      isTold = tail.reset(from: position, to: position, because: .replaced) != nil
    }
    bell.ring()
    hub.deliver(through: nil)
  }

  /// Gives the hub what came since, a page at a time, so that a long backlog takes no memory.
  ///
  /// - Returns: what there was; failed when not all could be given.
  private func takeOver(_ lease: ConnectionPool.Lease) throws(StoreError) -> Look {
    var result = Look.own
    while true {
      let page = try readPage(lease)
      let given = tail.appendFound(page?.sets ?? [], retry: events.wake)
      bell.ring()
      // Waits also for what another thread is delivering: otherwise a slow listener would let the queue grow.
      guard case .given(let ticket) = given else { return .failed }
      hub.deliver(through: ticket)
      if ticket != nil { result = .found }
      if page?.isLast ?? true { return result }
    }
  }

  /// - Returns: nil when nobody listens, or the log went another way; the tail is at its end then.
  private func readPage(_ lease: ConnectionPool.Lease) throws(StoreError) -> LogPage? {
    // Before the snapshot, which then holds everything up to it.
    let position = tail.position
    try storing("read the log") { () throws(SQLiteError) in try lease.connection.run(TransactionSQL.begin) }
    defer { lease.connection.rollBack() }
    let head = try ChangeLog.head(lease.connection)
    if head == position { return nil }
    do {
      let end = try ChangeLog.verify(position, lease.connection)
      guard hub.hasListeners else {
        tail.skip(to: head)
        return nil
      }
      return try LogPage(after: position, through: end, lease.connection, pages: reader.page)
    } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      let told = tail.resetFound(from: position, to: head, because: error.code, retry: events.wake)
      // The look is not complete then.
      if case .refused = told { throw error }
      return nil
    }
  }
}

// Modelled in Model/WakeUp.pml and Model/Pump.pml; change both.

/// Runs write transactions: one at a time, each told to the hub in the order of its commit.
final class Writer: Sendable {
  let pool: ConnectionPool
  let checkpoints: Checkpoints?
  let hub: ListenerHub<ChangeSet>
  let tail: LogTail
  let bell: Bell
  let reader: Reader
  let store: StoreIdentity
  let housekeeping: Housekeeping
  let walPath: String?
  private let roundLimit: Int
  /// Set after a COMMIT of which nobody knows whether it happened.
  private let failure = Lock<StoreError?>(nil)

  init(
    pool: ConnectionPool, checkpoints: Checkpoints?, hub: ListenerHub<ChangeSet>, tail: LogTail, bell: Bell,
    reader: Reader, store: StoreIdentity, housekeeping: Housekeeping, walPath: String?, roundLimit: Int
  ) {
    self.pool = pool
    self.checkpoints = checkpoints
    self.hub = hub
    self.tail = tail
    self.bell = bell
    self.reader = reader
    self.store = store
    self.housekeeping = housekeeping
    self.walPath = walPath
    self.roundLimit = roundLimit
  }

  /// Runs `body` on the calling thread and commits; when it returns, every inline listener has seen the change, except
  /// inside a listener.
  func write<Result>(origin: String?, _ body: (inout WriteTransaction) throws -> Result) throws -> Result {
    let calling = DeliveryThread.current.calling
    try store.enter()
    let result: Result
    let ticket: Int?
    do {
      defer { store.leave() }
      let lease = try pool.take()
      defer { pool.give(back: lease) }
      (result, ticket) = try commit(on: lease, calling) { group in
        try member(of: &group, on: lease, origin: origin, body)
      }
    } catch {
      // It may have seen that the log begins anew, and have put off what others wrote.
      hub.deliver(through: nil)
      throw error
    }
    hub.deliver(through: ticket)
    keepHouse()
    return result
  }

  /// The same for what throws only the store's errors.
  func writing<Result>(_ body: (inout WriteTransaction) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do { return try write(origin: nil) { transaction in try body(&transaction) } } catch {
      throw error as? StoreError ?? StoreError(.unexpected, "\(error)", cause: error)
    }
  }

  /// Runs several closures in one transaction, each by itself: one that throws takes nobody with it.
  ///
  /// - Returns: for each closure why it failed, nil for success; fewer than there were closures when SQLite ended the
  ///   transaction under one of them: the others were not begun.
  func writeGroup(_ members: [GroupMember]) -> [(any Error)?] {
    var failures: [(any Error)?] = []
    do {
      try store.enter()
      let ticket: Int?
      do {
        defer { store.leave() }
        let lease = try pool.take()
        defer { pool.give(back: lease) }
        (_, ticket) = try commit(on: lease, nil) { group in
          for member in members {
            do {
              try self.member(of: &group, on: lease, origin: member.origin, savepoint: members.count > 1, member.body)
              failures.append(nil)
            } catch {
              failures.append(error)
              // Alone it has no savepoint to go back to; and where there is no transaction any more, nobody goes on.
              if members.count == 1 || !lease.connection.isInTransaction { throw error }
            }
          }
        }
      }
      hub.deliver(through: ticket)
      keepHouse()
    } catch {
      // It may have seen that the log begins anew, and have put off what others wrote.
      hub.deliver(through: nil)
      // Nothing was kept: who failed by itself knows why, the others were taken along.
      if failures.isEmpty { return members.map { _ in error } }
      let taken = members.count == 1 ? error : Self.takenAlong(by: error)
      failures = failures.map { $0 ?? taken }
    }
    return failures
  }

  struct GroupMember {
    let origin: String?
    let body: (inout WriteTransaction) throws -> Void
  }

  func close() {
    housekeeping.thread.stop()
    pool.close()
    checkpoints?.close()
  }

  /// Runs a short write transaction of the store's own, of which no listener hears.
  ///
  /// - Parameters:
  ///   - isWaiting: Whether it waits for another process that writes.
  ///   - shortensWAL: Whether a -wal file that is begun anew is cut off behind it.
  ///   - body: Returns whether to commit.
  /// - Returns: how many pages the -wal file has; nil when it was not committed.
  /// - Throws: as a write.
  func maintain(
    isWaiting: Bool = true, shortensWAL: Bool = false,
    _ body: (inout Connection) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int? {
    try store.enter()
    defer { store.leave() }
    let lease = try pool.take()
    defer { pool.give(back: lease) }
    lease.connection.setWaiting(isWaiting)
    defer { lease.connection.setWaiting(true) }
    if shortensWAL { try storing("write") { () throws(SQLiteError) in try lease.connection.setShortensWAL(true) } }
    defer { if shortensWAL { try? lease.connection.setShortensWAL(false) } }
    try begin(lease)
    defer { if lease.connection.isInTransaction { try? lease.connection.run(TransactionSQL.rollback) } }
    guard try body(&lease.connection) else { return nil }
    try commit(lease)
    checkpoints?.note(walPages: lease.connection.hooks.walPages)
    return lease.connection.hooks.walPages
  }

  // MARK: One transaction

  /// What is known of the transaction so far.
  private struct Group {
    /// The end of the last set in it, or of the log before it.
    var end: Cursor
    var hasChanges = false
  }

  private func commit<Result>(
    on lease: ConnectionPool.Lease, _ calling: CallContext?, _ body: (inout Group) throws -> Result
  ) throws -> (Result, ticket: Int?) {
    try begin(lease)
    var group: Group
    let result: Result
    var sets: [ChangeSet]?
    do {
      let head = try refreshedHead(lease)
      group = Group(end: head)
      result = try body(&group)
      if group.hasChanges, let calling { try admit(calling) }
      if hub.hasListeners { sets = try pendingSets(after: head, through: group.end, on: lease) }
      tail.beginOwnCommit()
      defer { tail.endOwnCommit() }
      try commit(lease)
      // What was just written lies in a file that nobody will find: that is not to be acknowledged.
      if lease.connection.hasMoved { throw DatabaseFile.moved }
      lease.head = group.end
      guard group.hasChanges || sets?.isEmpty == false else { return (result, nil) }
      return (result, publish(sets, after: head, through: group.end, on: lease, calling?.cascade))
    } catch {
      if lease.connection.isInTransaction { try? lease.connection.run(TransactionSQL.rollback) }
      lease.head = nil
      throw error
    }
  }

  func begin(_ lease: ConnectionPool.Lease) throws(StoreError) {
    if let failure = failure.withLock({ $0 }) {
      throw StoreError(.mustReopen, "the store must be reopened before it can write again: \(failure.message)")
    }
    if lease.connection.hasMoved { throw DatabaseFile.moved }
    lease.connection.hooks.reset()
    try storing("write") { () throws(SQLiteError) in try lease.connection.run(TransactionSQL.beginImmediate) }
  }

  /// The end of the log, read again if somebody else has written; then it is also seen whether the log goes on.
  private func refreshedHead(_ lease: ConnectionPool.Lease) throws(StoreError) -> Cursor {
    let version = try storing("write") { () throws(SQLiteError) in try ChangeLog.dataVersion(&lease.connection) }
    if version == lease.dataVersion, let head = lease.head { return head }
    let head = try ChangeLog.head(&lease.connection)
    let position = tail.position
    do { _ = try ChangeLog.verify(position, &lease.connection) } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      _ = tail.reset(from: position, to: head, because: error.code)
    }
    (lease.dataVersion, lease.head) = (version, head)
    return head
  }

  private func member<Result>(
    of group: inout Group, on lease: ConnectionPool.Lease, origin: String?, savepoint: Bool = false,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    lease.connection.hooks.reset()
    if savepoint {
      try storing("write") { () throws(SQLiteError) in try lease.connection.run(TransactionSQL.savepoint) }
    }
    do {
      lease.head = group.end
      var transaction = WriteTransaction(lease)
      let result = try body(&transaction)
      guard lease.connection.isInTransaction else {
        throw StoreError(.transactionEnded, "an error inside the write ended its transaction; nothing of it was kept")
      }
      try mark(&group, on: lease, origin: origin)
      if savepoint {
        try storing("write") { () throws(SQLiteError) in try lease.connection.run(TransactionSQL.release) }
      }
      return result
    } catch {
      if savepoint, lease.connection.isInTransaction { try undoMember(on: lease) }
      throw error
    }
  }

  /// Takes back what one member did; when even that fails, the whole transaction, so that no half of it is committed.
  private func undoMember(on lease: ConnectionPool.Lease) throws(StoreError) {
    do {
      try lease.connection.run(TransactionSQL.rollbackToSavepoint)
      try lease.connection.run(TransactionSQL.release)
    } catch {
      try? lease.connection.run(TransactionSQL.rollback)
      throw StoreError(error, "undo a write")
    }
  }

  /// Ends the member's set.
  ///
  /// The hook's bit spares the question where nothing can have been logged.
  private func mark(_ group: inout Group, on lease: ConnectionPool.Lease, origin: String?) throws(StoreError) {
    guard lease.connection.hooks.hasLogged else { return }
    let end = try storing("write") { () throws(SQLiteError) in
      try ChangeLog.mark(after: group.end, origin: origin, &lease.connection)
    }
    guard let end else { return }
    group.end = end
    group.hasChanges = true
  }

  func commit(_ lease: ConnectionPool.Lease) throws(StoreError) {
    do { try lease.connection.run(TransactionSQL.commit) } catch {
      let isSync = error.code == .ioErrorSync || error.code == .ioErrorFolderSync
      guard isSync, lease.connection.hooks.hasBegunCommit else { throw StoreError(error, "commit") }
      let unknown = StoreError(
        .commitUnknown, "whether the last write was committed is not known, the disk failed while it was synced",
        cause: error)
      failure.withLock { $0 = unknown }
      throw unknown
    }
  }

  // MARK: Telling

  /// Whole sets that the hub was not given yet: those of foreign writers first, then the transaction's own.
  ///
  /// Where the foreign ones cannot be read any more (somebody took a row out), the hub is told that the log begins anew.
  private func pendingSets(
    after head: Cursor, through end: Cursor, on lease: ConnectionPool.Lease
  ) throws(StoreError) -> [ChangeSet] {
    let position = tail.position
    do { return try sets(after: position, through: end, on: lease) } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      _ = tail.reset(from: position, to: head, because: error.code)
      return try sets(after: head, through: end, on: lease)
    }
  }

  /// The first page of them at hand; what goes beyond is read again when it is delivered, by pages.
  private func sets(
    after position: Cursor, through end: Cursor, on lease: ConnectionPool.Lease
  ) throws(StoreError) -> [ChangeSet] {
    var position = position
    guard position.epoch == end.epoch else { return [] }
    let pages: PagedChanges.Read = { [reader] start, end throws(StoreError) in
      try reader.page(after: start, through: end)
    }
    var sets: [ChangeSet] = []
    while position.revision < end.revision {
      let page = try LogPage(after: position, through: end.revision.rawValue, &lease.connection, pages: pages)
      sets += sets.isEmpty ? page.sets : page.ranges(after: position, pages: pages)
      position = page.position
    }
    return sets
  }

  /// After the commit, while nobody else can write through this store.
  private func publish(
    _ sets: [ChangeSet]?, after head: Cursor, through end: Cursor, on lease: ConnectionPool.Lease, _ cascade: Cascade?
  ) -> Int? {
    var sets = sets
    // Somebody came while it was being committed, and may have read the state before it.
    if sets == nil, hub.hasListeners { sets = try? pendingSets(after: head, through: end, on: lease) }
    let ticket = sets.map { tail.append($0, cascade: cascade) } ?? nil
    if sets == nil { tail.skip(to: end) }
    wakeOthers(after: lease)
    housekeeping.wrote(
      rows: end.revision.rawValue - head.revision.rawValue, walPages: lease.connection.hooks.walPages)
    return ticket
  }

  /// Feeds of this store, watchers of others; and whoever checkpoints learns how long the -wal file is.
  func wakeOthers(after lease: ConnectionPool.Lease) {
    wakeReaders()
    checkpoints?.note(walPages: lease.connection.hooks.walPages)
  }

  /// Lets those who read the log by themselves look again, here and in other processes.
  func wakeReaders() {
    bell.ring()
    if let walPath { Files.touch(walPath) }
  }

  private func admit(_ calling: CallContext) throws(StoreError) {
    guard let names = calling.cascade.admit(by: calling.name, limit: roundLimit) else { return }
    throw StoreError(
      .tooManyRounds,
      "listeners have answered each other \(roundLimit) times (\(names.joined(separator: ", "))); this write was refused"
    )
  }

  private static func takenAlong(by error: any Error) -> StoreError {
    // Then it is not so that nothing was changed.
    if let error = error as? StoreError, error.code == .commitUnknown || error.code == .moved { return error }
    return StoreError(
      .rolledBackWithGroup, "SQLite ended the transaction that this write shared with others: \(error)", cause: error)
  }

  // MARK: Checkpoints

  func checkpointIfNeeded() {
    guard let checkpoints, !DeliveryThread.current.scopes.contains(ObjectIdentifier(store)) else { return }
    guard checkpoints.isDue, let lease = try? pool.take() else { return }
    defer { pool.give(back: lease) }
    // With the write lock held no commit can land inside it. Failing is no harm: the next write tries again.
    guard (try? lease.connection.run(TransactionSQL.beginImmediate)) != nil else { return }
    checkpoints.run()
    try? lease.connection.run(TransactionSQL.rollback)
  }
}

// Modelled in Model/WakeUp.pml and Model/Pump.pml; change both.

/// One transaction, from BEGIN to COMMIT.
extension Writer {
  /// Runs one writer's closure in a transaction that others have begun, or in a new one.
  ///
  /// The first needs no savepoint: when it fails, there is nobody else whose work would be lost.
  ///
  /// - Parameters:
  ///   - group: nil afterwards when there is no transaction any more.
  ///   - origin: What the writer calls itself.
  ///   - calling: The listener that writes, if one does.
  ///   - body: The closure.
  /// - Throws: what `body` throws, and the store's errors; nothing of this part was kept then.
  func takePart(
    in group: inout WriteGroup?, origin: String?, _ calling: CallContext?,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    var present = if let group { group } else { try begin() }
    present.size += 1
    do {
      present.end = try perform(in: present, origin: origin, calling, body)
      group = present
    } catch {
      let isOver = present.size == 1 || !present.lease.connection.isInTransaction
      group = isOver ? nil : present
      if isOver { giveUp(present, because: error) }
      throw error
    }
  }

  /// Ends the transaction for all who took part.
  ///
  /// - Returns: a ticket of the hub's queue; nil when there is nothing to tell.
  /// - Throws: why nothing was kept, or why that is not known.
  func end(_ group: WriteGroup, _ cascade: Cascade?) throws(StoreError) -> Int? {
    let lease = group.lease
    defer { pool.give(back: lease) }
    do throws(StoreError) {
      var sets: [ChangeSet]?
      if hub.hasListeners { sets = try pendingSets(after: group.head, through: group.end, on: lease) }
      let isTold = group.hasChanges || sets?.isEmpty == false
      let ticket = try committing(lease) {
        lease.head = group.end
        return isTold ? publish(sets, after: group.head, through: group.end, on: lease, cascade) : nil
      }
      if isTold { wakeOthers(after: lease) }
      return ticket
    } catch {
      undo(on: lease)
      throw error
    }
  }

  /// Commits, and gives the hub what was committed before the watcher can.
  ///
  /// Others are woken after this: what the watcher finds in between is refused.
  func committing<Value>(_ lease: ConnectionPool.Lease, _ tell: () -> Value) throws(StoreError) -> Value {
    tail.beginOwnCommit()
    defer { tail.endOwnCommit() }
    try commit(lease)
    // What was just written lies in a file that nobody will find: that is not to be acknowledged.
    if lease.connection.hasMoved { throw DatabaseFile.moved }
    return tell()
  }

  private func begin() throws(StoreError) -> WriteGroup {
    let lease = try pool.take()
    do throws(StoreError) {
      try begin(lease)
      return WriteGroup(lease, head: try refreshedHead(lease))
    } catch {
      undo(on: lease)
      pool.give(back: lease)
      // Those who have waited as long as this one need not each wait as long again.
      if error.code == .busy { for waiter in line.withLock({ $0.removeEarlier() }) { waiter.end(error) } }
      throw error
    }
  }

  private func giveUp(_ group: WriteGroup, because error: any Error) {
    undo(on: group.lease)
    pool.give(back: group.lease)
    for member in group.members { member.end(Self.takenAlong(by: error)) }
  }

  private func undo(on lease: ConnectionPool.Lease) {
    lease.connection.rollBack()
    lease.head = nil
  }

  func begin(_ lease: ConnectionPool.Lease) throws(StoreError) {
    if let failure = failure.withLock({ $0 }) {
      throw StoreError(.mustReopen, "the store must be reopened before it can write again: \(failure.message)")
    }
    if lease.connection.hasMoved { throw DatabaseFile.moved }
    lease.connection.hooks.reset()
    try run(TransactionSQL.beginImmediate, on: lease)
  }

  /// The end of the log, read again if somebody else has written; then it is also seen whether the log goes on.
  private func refreshedHead(_ lease: ConnectionPool.Lease) throws(StoreError) -> Cursor {
    let version = try storing("write") { () throws(SQLiteError) in try ChangeLog.dataVersion(lease.connection) }
    if version == lease.dataVersion, let head = lease.head { return head }
    let head = try ChangeLog.head(lease.connection)
    let position = tail.position
    do { _ = try ChangeLog.verify(position, lease.connection) } catch {
      guard error.code == .diverged || error.code == .compacted else { throw error }
      _ = tail.reset(from: position, to: head, because: error.code)
    }
    (lease.dataVersion, lease.head) = (version, head)
    return head
  }

  /// - Returns: the end of the transaction so far, with this part; nothing of the part stays when it throws.
  private func perform(
    in group: WriteGroup, origin: String?, _ calling: CallContext?,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws -> Cursor {
    let lease = group.lease
    let isFirst = group.size == 1
    lease.connection.hooks.reset()
    if !isFirst { try run(TransactionSQL.savepoint, on: lease) }
    do {
      lease.head = group.end
      var transaction = WriteTransaction(lease)
      try body(&transaction)
      guard lease.connection.isInTransaction else {
        throw StoreError(.transactionEnded, "an error inside the write ended its transaction; nothing of it was kept")
      }
      let end = try mark(group, origin: origin, calling)
      if !isFirst { try run(TransactionSQL.release, on: lease) }
      return end
    } catch {
      if !isFirst, lease.connection.isInTransaction { try undoPart(on: lease) }
      throw error
    }
  }

  /// Takes back what one writer did; when even that fails, the whole transaction, so that no half of it is committed.
  private func undoPart(on lease: ConnectionPool.Lease) throws(StoreError) {
    do {
      try lease.connection.run(TransactionSQL.rollbackToSavepoint)
      try lease.connection.run(TransactionSQL.release)
    } catch {
      lease.connection.rollBack()
      throw StoreError(error, "undo a write")
    }
  }

  /// Ends the writer's set.
  ///
  /// The hook's bit spares the question where nothing can have been logged.
  private func mark(_ group: WriteGroup, origin: String?, _ calling: CallContext?) throws(StoreError) -> Cursor {
    guard group.lease.connection.hooks.hasLogged else { return group.end }
    let end = try storing("write") { () throws(SQLiteError) in
      try ChangeLog.mark(after: group.end, origin: origin, group.lease.connection)
    }
    guard let end else { return group.end }
    if let calling { try admit(calling) }
    return end
  }

  private func run(_ query: Query, on lease: ConnectionPool.Lease) throws(StoreError) {
    try storing("write") { () throws(SQLiteError) in try lease.connection.run(query) }
  }

  private func admit(_ calling: CallContext) throws(StoreError) {
    guard let names = calling.cascade.admit(by: calling.name, limit: roundLimit) else { return }
    throw StoreError(
      .tooManyRounds,
      "listeners have answered each other \(roundLimit) times (\(names.joined(separator: ", "))); this write was refused"
    )
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
}

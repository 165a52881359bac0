// Modeled in Proof/Model/WakeUp.pml and Proof/Model/Pump.pml; change both.

/// The writing session: transactions from BEGIN to COMMIT, and the change sets that the hub receives from them; used only by
/// the writer that has the turn.
final class WriteSession: Sendable {
  private let sessions: SessionPool
  let publication: Publication
  let reader: Reader
  private let compactor: Compactor
  private let roundLimit: Int

  init(_ sessions: SessionPool, _ publication: Publication, reader: Reader, compactor: Compactor, roundLimit: Int) {
    self.sessions = sessions
    self.publication = publication
    self.reader = reader
    self.compactor = compactor
    self.roundLimit = roundLimit
  }

  // MARK: Groups

  /// Begins a transaction that several writers may share.
  func begin() throws(StoreError) -> WriteGroup {
    let session = try sessions.take()
    do throws(StoreError) {
      try session.beginWriting(isWaiting: true)
      var group = WriteGroup(session)
      try checkPosition(&group)
      return group
    } catch {
      sessions.give(back: session)
      throw error
    }
  }

  /// Runs one writer's closure in the group's transaction.
  ///
  /// If it throws, the part was rolled back. The first writer needs no savepoint: no other writer's work can be lost.
  func perform(
    in group: WriteGroup, origin: String?, _ calling: DeliveryThread?, _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    let session = group.session
    let isFirst = group.size == 1
    if !isFirst { try session.savepoint() }
    do {
      var transaction = WriteTransaction(session)
      try body(&transaction)
      guard session.transaction == .open else {
        throw StoreError(.transactionEnded, "an error inside the write ended its transaction and rolled it back")
      }
      try session.endSet(origin: origin)
      // A write in a listener shares its transaction with no other.
      if let calling, try session.writingEnd() != session.writingStart?.end { try admit(calling) }
      if !isFirst { try session.releaseSavepoint() }
    } catch {
      if !isFirst, session.isInTransaction { try rollBackPart(on: session) }
      throw error
    }
  }

  /// Commits for all writers in the group, appends to the hub's queue, and wakes the followers.
  ///
  /// Until it has appended, the watcher's appends are refused. Returns a ticket of the hub's queue; nil if there is no delivery.
  func end(_ group: WriteGroup, _ cascade: Cascade?) throws(StoreError) -> Int? {
    let session = group.session
    defer { sessions.give(back: session) }
    let start = try start(of: group)
    publication.beginOwnCommit()
    defer { publication.endOwnCommit() }
    let position = publication.hasListeners ? publication.position : nil
    let (end, pages) = try session.commit(readingAfter: position)
    let hasWritten = end.revision > start.revision
    compactor.wrote(rows: end.revision.rawValue - start.revision.rawValue, pages: pages)
    let ticket = publish(session, from: start, through: end, cascade)
    if hasWritten || ticket != nil { publication.wakeFollowers() }
    return ticket
  }

  /// Returns the end of the log before the transaction, after the check that may have to wait for a server's first reply.
  private func start(of group: WriteGroup) throws(StoreError) -> Cursor {
    if group.isChecked, let start = group.session.writingStart { return start.end }
    // If nothing was sent yet, this begins the transaction.
    let end = if let start = group.session.writingStart { start.end } else { try group.session.writingEnd() }
    var group = group
    try checkPosition(&group)
    return end
  }

  func rollBack(_ group: WriteGroup) {
    // Returning a session rolls back its transaction.
    sessions.give(back: group.session)
  }

  private func rollBackPart(on session: any Session) throws(StoreError) {
    do { try session.rollBackToSavepoint() } catch {
      // Otherwise half of a write would be committed.
      session.rollBack()
      throw error
    }
  }

  private func admit(_ calling: DeliveryThread) throws(StoreError) {
    guard let names = calling.cascade.admit(by: calling.name, limit: roundLimit) else { return }
    let cause = TooManyRounds(listeners: names)
    throw StoreError(.tooManyRounds, "write refused: \(cause)", cause: cause)
  }

  // MARK: The store's own transactions

  func withSession<Value>(_ body: (any Session) throws(StoreError) -> Value) throws(StoreError) -> Value {
    let session = try sessions.take()
    // Rolls back a transaction that is still open.
    defer { sessions.give(back: session) }
    return try body(session)
  }

  /// `Writer.maintain`, in the current turn.
  func maintain(isWaiting: Bool, _ body: (any Session) throws(StoreError) -> Bool) throws(StoreError) -> Bool {
    try withSession { session throws(StoreError) in
      try session.beginWriting(isWaiting: isWaiting)
      guard try body(session) else { return false }
      _ = try session.commit(readingAfter: nil)
      return true
    }
  }

  /// `Writer.replace`, in the current turn; returns a ticket of the hub's queue.
  func replace(_ body: (any Session) throws(StoreError) -> Void) throws(StoreError) -> Int? {
    try withSession { session throws(StoreError) in
      try session.beginWriting(isWaiting: true)
      try body(session)
      publication.beginOwnCommit()
      defer { publication.endOwnCommit() }
      let ticket = publication.restart(at: try session.commit(readingAfter: nil).end)
      publication.wakeFollowers()
      return ticket
    }
  }

  // MARK: Publishing

  /// Checks the publication's position if another process may have replaced the log; a server reports this only with its first
  /// reply.
  private func checkPosition(_ group: inout WriteGroup) throws(StoreError) {
    guard !group.isChecked, let start = group.session.writingStart else { return }
    group.isChecked = true
    guard start.isRead else { return }
    let position = publication.position
    do { _ = try group.session.verify(position) } catch { try reset(from: position, to: start.end, because: error) }
  }

  /// Appends the sets that the hub has not received to its queue: those of other programs, then the transaction's own.
  ///
  /// Called after the commit, while no other writer of this store can commit. If a program has deleted rows that are needed for
  /// this, the hub receives a discontinuity instead. If the sets cannot be read now, the position stays before them: the watcher
  /// or the next write finds them.
  func publish(_ session: any Session, from start: Cursor, through end: Cursor, _ cascade: Cascade?) -> Int? {
    guard publication.hasListeners else {
      publication.skip(to: end)
      return nil
    }
    return (try? pendingSets(session, from: start, through: end)).flatMap { publication.append($0, cascade: cascade) }
  }

  private func pendingSets(
    _ session: any Session, from start: Cursor, through end: Cursor
  ) throws(StoreError) -> [ChangeSet] {
    let position = publication.position
    do { return try sets(after: position, through: end, session) } catch {
      try reset(from: position, to: start, because: error)
      return try sets(after: start, through: end, session)
    }
  }

  private func reset(from position: Cursor, to end: Cursor, because error: StoreError) throws(StoreError) {
    guard error.code == .diverged || error.code == .compacted else { throw error }
    _ = publication.reset(from: position, to: end, because: error.code)
  }

  /// Keeps the first page in memory; sets beyond it are read again, page by page, when they are delivered.
  private func sets(
    after position: Cursor, through end: Cursor, _ session: any Session
  ) throws(StoreError) -> [ChangeSet] {
    var position = position
    guard position.epoch == end.epoch else { return [] }
    var sets: [ChangeSet] = []
    while position.revision < end.revision {
      let page = try LogPage(after: position, through: end.revision.rawValue, session, pages: reader)
      if sets.isEmpty { sets = page.sets } else { sets += page.ranges(after: position, pages: reader) }
      position = page.position
    }
    return sets
  }
}

import UserStore

/// A transaction of the replica's own: it lets writes through, and ends with the state of the file.
struct ReplicaTransaction {
  let session: any Session
  let tables: PartTables
  var file: ReplicaFile

  /// Whether the page that is applied was asked for with the cursor of the last answer, which the server has found in its log.
  var hasVerifiedAnswer = false

  var outbox: Outbox { Outbox(tables: tables) }
  var refusals: RefusalTable { RefusalTable(tables: tables) }

  private static let beginWriting = SQL("write to the replica", "UPDATE userstore_replica SET writing = 1")
  private static let save = SQL(
    "write to the replica",
    """
    UPDATE userstore_replica SET writing = 0, address = ?1, identity = ?2, users = ?3, "grant" = ?4, cursor = ?5, part = ?6,
      taken = ?7, seen_nonce = ?8, seen_epoch = ?9, producer = ?10, subject = ?11, next = ?12, writes = ?13, answered = ?14,
      target = ?15
    """)
  private static let saveCopy = SQL(
    "write to the replica",
    """
    UPDATE userstore_copy SET "grant" = ?1, position = ?2, last = ?3, is_staged = ?4, target = ?5, done = ?6, count = ?7, part = ?8
    """)
  private static let insertCopy = SQL(
    "write to the replica", "INSERT INTO userstore_copy (id, is_staged, done, count) VALUES (?1, 0, 0, 0)")
  static let deleteCopy = SQL("write to the replica", "DELETE FROM userstore_copy")
  static let deleteStaged = SQL("write to the replica", "DELETE FROM userstore_staged")
  static let deleteParts = SQL("write to the replica", "DELETE FROM userstore_parts")
  static let deletePurges = SQL("write to the replica", "DELETE FROM userstore_purges")
  private static let selectLast = SQL("read the log", "SELECT max(seq) FROM changes")
  private static let selectForeign = SQL(
    "read the log", "SELECT 1 FROM changes WHERE seq > ?1 AND op BETWEEN 1 AND 3 LIMIT 1")

  /// Runs `body` in the open write transaction.
  ///
  /// With `discards`, the outbox is given up first, also if the log lacks rows of it.
  static func run<Result>(
    in transaction: inout WriteTransaction, discarding discards: Bool = false,
    _ body: (inout ReplicaTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let tables = try PartTables(transaction.session)
    try tables.run(beginWriting)
    var own = ReplicaTransaction(
      session: try transaction.session, tables: tables, file: try ReplicaFile(tables))
    do {
      if try own.hasMissedWrites() { try own.beginCopy() }
      if discards { try own.discard() }
    } catch {
      guard discards, error.code == .corrupt else { throw error }
      try own.outbox.removeAll()
      try own.beginCopy()
    }
    let result = try body(&own)
    try own.end()
    return result
  }

  /// Takes in what the application has written; returns whether the users may be others than the log says: the triggers were missing for
  /// a while, or somebody wrote past them.
  private mutating func hasMissedWrites() throws(StoreError) -> Bool {
    let (taken, hasOutbox) = (file.taken, try outbox.hasSets)
    let state = try session.logState(at: taken.revision.rawValue, of: nil)
    let isThere = state.nonce == taken.nonce || state.horizon >= taken.revision.rawValue
    guard file.takesWrites || hasOutbox else {
      if state.epoch != taken.epoch || !isThere { return true }
      return try tables.first(Self.selectForeign, .integer(taken.revision.rawValue), columns: 1) != nil
    }
    // Rows that a copy of the file does not have, or that were deleted: nobody can say what was to be sent.
    guard state.nonce == taken.nonce || state.horizon == taken.revision.rawValue else { throw Outbox.damaged }
    try takeIn(after: taken.revision.rawValue)
    return state.epoch != taken.epoch
  }

  private func end() throws(StoreError) {
    // Ended here and not by the caller, so that the row is known.
    try session.endSet(origin: nil)
    let end = try session.writingEnd()
    try tables.run(
      Self.save, .text(file.address), StoredValue(file.identity), StoredValue(file.users), StoredValue(file.grant),
      StoredValue(file.cursor?.description), StoredValue(file.part?.description), .integer(end.revision.rawValue),
      .integer(end.nonce), .integer(end.epoch), .integer(file.producer), StoredValue(file.subject), .integer(file.next),
      .integer(file.takesWrites ? 1 : 0), StoredValue(file.answered?.description),
      StoredValue(file.target?.description))
    guard let copy = file.copy else { return }
    try tables.run(
      Self.saveCopy, StoredValue(copy.grant), StoredValue(copy.position?.description), StoredValue(copy.last),
      .integer(copy.isStaged ? 1 : 0), StoredValue(copy.target?.description), .integer(Int64(copy.done)),
      .integer(Int64(copy.count)), StoredValue(copy.part?.description))
  }

  // MARK: Beginning

  /// Begins a copy, in place of one that is in progress.
  ///
  /// What is visible stays until it is installed.
  mutating func beginCopy() throws(StoreError) {
    for statement in [Self.deleteCopy, Self.deleteStaged, Self.deleteParts, Self.deletePurges] {
      try tables.run(statement)
    }
    let id = PartTables.randomNumber
    try tables.run(Self.insertCopy, .integer(id))
    (file.copy, file.part) = (ReplicaFile.Copy(id: id), nil)
    // The sets are sent again, and the server knows which of them it has.
    try outbox.forgetResults()
    (file.answered, file.target) = (nil, nil)
  }

  // MARK: Sets

  /// Writes what `body` writes as one set of the server, or as what a decision has changed if there is no cursor; writes none if nothing
  /// changes.
  mutating func pull(
    _ cursor: Cursor?, origin: String?, _ body: (inout ReplicaTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    let last = try lastRow
    try body(&self)
    guard try lastRow > last else { return }
    try session.append(.pulled(cursor))
    try session.endSet(origin: origin)
  }

  private var lastRow: Int64 {
    get throws(StoreError) { try tables.first(Self.selectLast, columns: 1)?[0].int64 ?? 0 }
  }
}

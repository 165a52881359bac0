import UserStore

/// A transaction of the replica's own: it lets writes through, and ends with the state of the file.
struct ReplicaTransaction {
  let session: any Session
  let tables: PartTables
  var file: ReplicaFile

  private static let beginWriting = SQL("write to the replica", "UPDATE userstore_replica SET writing = 1")
  private static let save = SQL(
    "write to the replica",
    """
    UPDATE userstore_replica SET writing = 0, address = ?1, identity = ?2, users = ?3, "grant" = ?4, cursor = ?5, part = ?6,
      seen = ?7, seen_nonce = ?8, seen_epoch = ?9
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
  static func run<Result>(
    in transaction: inout WriteTransaction, _ body: (inout ReplicaTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let tables = try PartTables(transaction.session)
    try tables.run(beginWriting)
    var own = ReplicaTransaction(
      session: try transaction.session, tables: tables, file: try ReplicaFile(tables))
    if try own.hasForeignWrites { try own.beginCopy() }
    let result = try body(&own)
    try own.end()
    return result
  }

  /// Whether the users may no longer be those of the server: the triggers were missing for a while, or somebody wrote past them.
  private var hasForeignWrites: Bool {
    get throws(StoreError) {
      let seen = file.seen
      let state = try session.logState(at: seen.revision.rawValue, of: nil)
      let isThere = state.nonce == seen.nonce || state.horizon >= seen.revision.rawValue
      if state.epoch != seen.epoch || !isThere { return true }
      return try tables.first(Self.selectForeign, .integer(seen.revision.rawValue), columns: 1) != nil
    }
  }

  private func end() throws(StoreError) {
    // Ended here and not by the caller, so that the row is known.
    try session.endSet(origin: nil)
    let end = try session.writingEnd()
    try tables.run(
      Self.save, .text(file.address), StoredValue(file.identity), StoredValue(file.users), StoredValue(file.grant),
      StoredValue(file.cursor?.description), StoredValue(file.part?.description), .integer(end.revision.rawValue),
      .integer(end.nonce), .integer(end.epoch))
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
  }

  // MARK: Sets

  /// Writes what `body` writes as one set of the server; writes none if nothing changes.
  mutating func pull(
    _ cursor: Cursor, origin: String?, _ body: (inout ReplicaTransaction) throws(StoreError) -> Void
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

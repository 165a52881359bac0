public import UserStore

extension Replica {
  /// What a file says of its replica.
  public struct Status: Sendable {
    /// The address of the server, as the last `Replica` of the file was given it.
    public let address: String
    /// Whom the server knows the replica as; empty for the single token of a server, and before its first answer.
    public let subject: String
    /// The users that the replica has, with those that the application has added.
    public let users: Users
    /// Whether the application may write.
    public let takesWrites: Bool
    /// Whether the users are still to be copied, for the first time or again.
    public let isCopying: Bool
    /// The cursor of the server through which the users here are the server's; nil before the first copy.
    public let cursor: UserStore.Cursor?
    /// How many sets of the application the server has not decided.
    public let pending: Int
    /// When the oldest of them was written, in milliseconds since 1970; nil if there is none.
    public let oldestPending: Int64?
    /// How many refusals nobody has acknowledged.
    public let refusals: Int
  }

  /// Reads the state of a replica from its file, without a way to the server; a file that can only be read suffices.
  ///
  /// - Parameter store: The store of the replica.
  /// - Returns: The status; nil for a store that is no replica.
  /// - Throws: `StoreError.Code.schemaTooOld` for a replica of an earlier version that has not followed since, `.unsupported` for a
  ///   store on a server, and the codes that every read can throw.
  public static func status(of store: UserStore) async throws -> Status? {
    try await store.read { users in
      guard let own = try ReplicaTransaction(reading: users.session) else { return nil }
      let untaken = try own.untakenSets()
      let oldest = try own.outbox.first?.first ?? untaken.first?.lowerBound
      return Status(
        address: own.file.address, subject: own.file.subject ?? "",
        users: own.file.ids.map { .ids($0.map { UserStore.User.ID($0) }) } ?? .all,
        takesWrites: own.file.takesWrites, isCopying: own.file.copy != nil || own.file.cursor == nil,
        cursor: own.file.cursor, pending: try own.outbox.count + untaken.count,
        oldestPending: try oldest.flatMap { row throws(StoreError) in try own.time(ofRow: row) },
        refusals: try own.refusals.count)
    }
  }

  /// Reads the refusals that nobody has acknowledged, the oldest first, without a way to the server.
  ///
  /// - Parameter store: The store of the replica.
  /// - Returns: The refusals; none for a store that is no replica.
  /// - Throws: The codes that `status(of:)` can throw.
  public static func refusals(of store: UserStore) async throws -> [Refusal] {
    try await store.read { users in
      guard let own = try ReplicaTransaction(reading: users.session) else { return [] }
      return try own.refusals.all().map { entry in
        Refusal(entry, try own.session.changes(inRows: entry.first...entry.last), store)
      }
    }
  }

  /// Gives up the sets of the application that the server has not decided, without a way to the server, and makes the server's records
  /// visible; what was sent and not answered may have been accepted.
  ///
  /// The application may write as before. If the file lacks what is to be sent (`Problem.damaged`), the next replica copies again.
  ///
  /// - Parameter store: The store of the replica.
  /// - Returns: How many sets were given up; 0 for a store that is no replica.
  /// - Throws: `StoreError.Code.schemaTooOld`, `.unsupported`, as `status(of:)`, and the codes that every write can throw.
  @discardableResult
  public static func discardPending(of store: UserStore) async throws -> Int {
    try await store.write { transaction in
      guard let own = try ReplicaTransaction(reading: transaction.session) else { return 0 }
      let count = try own.outbox.count + own.untakenSets().count
      try ReplicaTransaction.run(in: &transaction, discarding: true) { _ throws(StoreError) in }
      return count
    }
  }
}

extension ReplicaTransaction {
  /// Looks at a replica in an open transaction, which it does not write to; nil for a store that is none.
  fileprivate init?(reading session: any Session) throws(StoreError) {
    let tables = try PartTables(session)
    guard try tables.has(.replica) else { return nil }
    guard try tables.has(.outbox) else {
      throw StoreError(
        .schemaTooOld, "the replica is of an earlier version, which sent nothing to its server",
        hint: "follow the server once with this version")
    }
    self.init(session: session, tables: tables, file: try ReplicaFile(tables))
  }

  private static let selectTime = SQL("read the log", "SELECT at FROM changes WHERE seq = ?1")

  /// When a row of the log was written, in milliseconds since 1970.
  fileprivate func time(ofRow row: Int64) throws(StoreError) -> Int64? {
    try tables.first(Self.selectTime, .integer(row), columns: 1)?[0].int64
  }

  /// The sets of the application that were not taken in yet.
  fileprivate func untakenSets() throws(StoreError) -> [ClosedRange<Int64>] {
    let hasSets = try outbox.hasSets
    guard file.takesWrites || hasSets else { return [] }
    return try ownSets(after: file.taken.revision.rawValue)
  }
}

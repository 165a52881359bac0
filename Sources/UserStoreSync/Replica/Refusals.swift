public import UserStore

extension Replica {
  /// A set of the application that the server has refused: its changes were taken back here, and are kept until it is acknowledged.
  public struct Refusal: Sendable {
    /// Why a set is refused.
    public enum Reason: String, Hashable, Sendable {
      /// The server does not let it be written.
      case forbidden
      /// A user that it changes does not exist at the server, or its values were purged.
      case userRemoved
      /// There is a user with the id of one that it adds.
      case userExists
      /// A value is another one than the writer expected (`set(_:of:to:expecting:)`, `undo`).
      case conflict
      /// Another user has the value of a unique attribute.
      case notUnique
      /// A row of another table at the server refers to a user that it removes.
      case stillReferenced
      /// The server does not store such a value.
      case invalid
      /// It has more bytes than the server, or a proxy, accepts.
      case tooLarge
      /// The server no longer knows whether it has received the set: the file is an old copy.
      case expired
    }

    /// Why the server has refused it.
    public let reason: Reason
    /// An explanation of the server, in English.
    public let detail: String?
    /// The revision at which the set ends in the log here.
    public let revision: UserStore.Revision
    /// The changes of the set, as the application has made them; of more than 1,000, the first ones.
    ///
    /// The values of users that were purged are missing.
    public let changes: [UserStore.Change]

    private let store: UserStore

    init(_ entry: RefusalTable.Entry, _ changes: [UserStore.Change], _ store: UserStore) {
      (reason, detail) = (Reason(rawValue: entry.reason) ?? .invalid, entry.detail)
      (revision, self.changes, self.store) = (Revision(rawValue: entry.last), changes, store)
    }

    /// Forgets the refusal, in this and every other process.
    ///
    /// - Throws: The codes that every write can throw.
    public func acknowledge() async throws {
      let last = revision.rawValue
      try await store.write { transaction in
        try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in try own.refusals.remove(last) }
      }
    }
  }
}

extension Replica.Refusal.Reason {
  init?(_ decision: Decision) { self.init(rawValue: decision.result) }

  /// Whether no place of the server's log can change it.
  var isFinal: Bool { self == .expired || self == .tooLarge }
}

extension Decision {
  init(_ reason: Replica.Refusal.Reason, _ detail: String) { self.init(reason.rawValue, detail: detail) }
}

/// The refusals that nobody has acknowledged.
struct RefusalTable {
  let tables: PartTables

  struct Entry {
    let last: Int64
    let first: Int64
    let reason: String
    let detail: String?
  }

  private static let insert = SQL(
    "write to the replica",
    "INSERT INTO userstore_refusals (last, first, nonce, reason, detail) VALUES (?1, ?2, ?3, ?4, ?5)")
  private static let delete = SQL("write to the replica", "DELETE FROM userstore_refusals WHERE last = ?1")
  private static let selectNext = SQL(
    "read the replica",
    "SELECT last, first, reason, detail FROM userstore_refusals WHERE last > ?1 ORDER BY last LIMIT 1")
  private static let selectCount = SQL("read the replica", "SELECT count(*) FROM userstore_refusals")
  private static let selectNewest = SQL("read the replica", "SELECT max(last) FROM userstore_refusals")

  func add(_ set: Outbox.Set, _ result: Decision) throws(StoreError) {
    try tables.run(
      Self.insert, .integer(set.last), .integer(set.first), .integer(set.nonce), .text(result.result),
      StoredValue(result.detail))
  }

  func remove(_ last: Int64) throws(StoreError) { try tables.run(Self.delete, .integer(last)) }

  func next(after last: Int64) throws(StoreError) -> Entry? {
    try tables.first(Self.selectNext, .integer(last), columns: 4).map { row in
      Entry(
        last: row[0].int64 ?? 0, first: row[1].int64 ?? 0, reason: String(storedValue: row[2]) ?? "",
        detail: String(storedValue: row[3]))
    }
  }

  /// All of them, the oldest first.
  func all() throws(StoreError) -> [Entry] {
    var entries: [Entry] = []
    while let entry = try next(after: entries.last?.last ?? .min) { entries.append(entry) }
    return entries
  }

  var count: Int { get throws(StoreError) { Int(try tables.first(Self.selectCount, columns: 1)?[0].int64 ?? 0) } }

  /// The last row of the newest one; 0 if there is none.
  var newest: Int64 { get throws(StoreError) { try tables.first(Self.selectNewest, columns: 1)?[0].int64 ?? 0 } }
}

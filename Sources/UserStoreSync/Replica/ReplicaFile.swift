import UserStore

/// The state of a replica's file: one row, and that of a copy in progress.
struct ReplicaFile {
  var address: String
  var identity: String?
  /// Whom the server knows the replica as; nil before its first answer.
  var subject: String?
  /// Names the file to the server.
  var producer: Int64
  /// The number of the next set that is sent under this name.
  var next: Int64
  /// Whether the application may write.
  var takesWrites: Bool
  /// The server's cursor with results that `cursor` has not reached.
  var answered: Cursor?
  /// The end of the server's log when values arrived that a purge had taken, until `cursor` has reached it.
  ///
  /// Until then the records here are those of no place in the log: they have the user, and lack these values.
  var target: Cursor?
  /// The ids of a subset, as they are stored; nil for all users.
  var users: String?
  var grant: String?
  /// Through which the server's log was applied; nil before the first copy.
  var cursor: Cursor?
  /// Through which rows of the next set, a huge one, arrived.
  var part: Cursor?
  /// Through which the log here was read for sets of the application.
  var taken: Cursor
  var copy: Copy?

  struct Copy {
    let id: Int64
    var grant: String?
    /// Through which the staged users are those of the server; nil before the first answer.
    var position: Cursor?
    /// Through which rows of the next set, a huge one, they include it.
    var part: Cursor?
    /// The largest staged id.
    var last: Int64?
    /// Whether the last page was staged.
    var isStaged = false
    /// The cursor of the newest page.
    var target: Cursor?
    var done = 0
    var count = 0
  }

  private static let select = SQL(
    "read the replica",
    """
    SELECT address, identity, users, "grant", cursor, part, taken, seen_nonce, seen_epoch, producer, subject, next, writes, answered,
      target
    FROM userstore_replica
    """)
  private static let selectCopy = SQL(
    "read the replica", "SELECT id, \"grant\", position, last, is_staged, target, done, count, part FROM userstore_copy"
  )

  /// - Throws: `StoreError.Code.schemaChanged` if the file has no row, or one that this version did not write.
  init(_ tables: PartTables) throws(StoreError) {
    guard let row = try tables.first(Self.select, columns: 15) else {
      throw StoreError(.schemaChanged, "the table “userstore_replica” was changed: it has no row")
    }
    address = String(storedValue: row[0]) ?? ""
    (identity, users, grant) = (String(storedValue: row[1]), String(storedValue: row[2]), String(storedValue: row[3]))
    (cursor, part) = (try Cursor(stored: row[4]), try Cursor(stored: row[5]))
    taken = Cursor(epoch: row[8].int64 ?? 0, revision: row[6].int64 ?? 0, nonce: row[7].int64 ?? 0)
    (producer, subject, next) = (row[9].int64 ?? 0, String(storedValue: row[10]), row[11].int64 ?? 1)
    (takesWrites, answered, target) = (row[12].int64 == 1, try Cursor(stored: row[13]), try Cursor(stored: row[14]))
    guard let copy = try tables.first(Self.selectCopy, columns: 9) else { return }
    self.copy = Copy(
      id: copy[0].int64 ?? 0, grant: String(storedValue: copy[1]), position: try Cursor(stored: copy[2]),
      part: try Cursor(stored: copy[8]), last: copy[3].int64, isStaged: copy[4].int64 == 1,
      target: try Cursor(stored: copy[5]),
      done: Int(copy[6].int64 ?? 0), count: Int(copy[7].int64 ?? 0))
  }

  /// The cursor that the server's log must have, besides that of the replica, for the next page to be applied.
  var toBeVerified: Cursor? { target ?? answered }

  /// The ids of the subset; nil for all users.
  var ids: [Int64]? { users.map { text in text.split(separator: ",").compactMap { Int64($0) } } }

  /// Whether these are the users of the replica, beside those that the application has added.
  func follows(_ users: String?) -> Bool {
    guard let users, let ids else { return users == self.users }
    let wanted = Set(users.split(separator: ",").compactMap { Int64($0) })
    return wanted.isSubset(of: ids) && ids.allSatisfy { $0 < 0 || wanted.contains($0) }
  }

  static func text(of ids: [Int64]) -> String { ids.map { "\($0)" }.joined(separator: ",") }
}

/// What the replica does next, as its file says.
///
/// It is applied only to the state for which it was made.
struct ReplicaStep: Sendable {
  enum Action: Sendable {
    case ask(SyncRequest)
    /// The copy is complete.
    case install
  }

  let action: Action
  /// What is sent; nil for a step that only asks.
  let push: Push?
  /// The copy that the step is of; nil for a step that follows.
  let copy: Int64?
  let users: String?
  /// How many users were copied, and how many there are; nil if the replica follows.
  let progress: (done: Int, count: Int)?

  /// Returns the next step; nil if a copy has to begin first.
  ///
  /// `push` is what there is to send: nothing before the first copy, nor before the result of what was sent last is reached.
  init?(_ file: ReplicaFile, wait: Int, push: Push? = nil) {
    users = file.users
    let mayPush = file.copy == nil && file.cursor != nil && file.toBeVerified == nil
    self.push = mayPush ? push : nil
    if let push = self.push {
      (copy, progress) = (nil, nil)
      action = .ask(SyncRequest(.push(push.bytes), producer: push.producer))
      return
    }
    guard let copy = file.copy else {
      guard let cursor = file.cursor else { return nil }
      let waits = file.part == nil ? wait : 0
      action = .ask(
        SyncRequest(
          .changes(after: cursor, part: file.part, also: file.toBeVerified, wait: waits), users: file.ids,
          producer: file.producer))
      (self.copy, progress) = (nil, nil)
      return
    }
    self.copy = copy.id
    progress = (copy.done, copy.count)
    guard let position = copy.position else {
      action = .ask(SyncRequest(.server, producer: file.producer))
      return
    }
    // A huge set is applied as a whole: what is staged is the server's state only after its last part.
    if let target = copy.target, position.revision < target.revision || copy.part != nil {
      action = .ask(
        SyncRequest(
          .changes(after: position, part: copy.part, also: target, wait: 0), users: file.ids, producer: file.producer))
    } else if copy.isStaged {
      action = .install
    } else {
      action = .ask(
        SyncRequest(.users(after: copy.last, from: position), users: file.ids, producer: file.producer))
    }
  }

  /// Whether the file is as it was when the step was made.
  ///
  /// A result is stored with the identity of its set, whenever it arrives, unless a copy has begun, after which sets are sent again.
  func isCurrent(in file: ReplicaFile) -> Bool {
    if push != nil { return file.copy == nil }
    guard let now = ReplicaStep(file, wait: 0), now.copy == copy, now.users == users else { return false }
    switch (action, now.action) {
    case (.install, .install): return true
    case (.ask(let asked), .ask(let next)): return asked.resource.isSame(as: next.resource)
    default: return false
    }
  }
}

extension SyncRequest.Resource {
  /// Whether two requests differ at most in how long they wait.
  fileprivate func isSame(as other: SyncRequest.Resource) -> Bool {
    if case .changes(let after, let part, let also, _) = self,
      case .changes(let after2, let part2, let also2, _) = other
    {
      return after == after2 && part == part2 && also == also2
    }
    return self == other
  }
}

extension Cursor {
  /// Reads a stored cursor; nil for null.
  fileprivate init?(stored value: StoredValue) throws(StoreError) {
    guard let text = String(storedValue: value) else { return nil }
    do { try self.init(text) } catch {
      throw StoreError(.schemaChanged, "the table “userstore_replica” was changed: \(error.message)")
    }
  }

  var stored: StoredValue { .text(description) }
}

extension StoredValue {
  var int64: Int64? { if case .integer(let number) = self { number } else { nil } }

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }
}

extension Cursor {
  /// Whether the log through here has that place too, if both are of one log.
  func includes(_ other: Cursor) -> Bool { epoch == other.epoch && revision >= other.revision }
}

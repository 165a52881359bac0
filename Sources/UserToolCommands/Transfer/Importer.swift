import UserStore
import UserStoreText

/// Writes the records of a file to a store.
struct Importer {
  /// How the ids in the file are used.
  enum Identity {
    /// The ids are ignored: every record adds a user with a new id.
    case new
    /// Every record adds a user with the id in the file.
    case kept
    /// A record with the id of an existing user updates that user; any other record adds a user.
    case updating
  }

  /// The numbers of users that were written.
  struct Counts {
    var added = 0
    var changed = 0
    var unchanged = 0
    var users: Int { added + changed + unchanged }
    var written: Int { added + changed }
  }

  let name: String
  let identity: Identity
  var records: any RecordSource
  /// nil if the first bad record ends the import.
  let rejects: Rejects?
  /// The users written so far, in this transaction and earlier ones.
  private(set) var counts = Counts()
  /// The first users that were written.
  private(set) var firstUsers: [User.ID] = []
  private static let previewed = 5
  /// The line of the last record that was read.
  private(set) var line = 0
  private var new = NewAttributes()
  private var ignoresIDs = false

  /// What the user should know of the records.
  var notes: [String] {
    let ids = "note: the ids in the file are not used: each record adds a user with a new id (--update, --keep-ids)"
    return (ignoresIDs ? [ids] : []) + new.notes
  }

  init(name: String, identity: Identity, records: any RecordSource, rejects: Rejects?) {
    self.name = name
    self.identity = identity
    self.records = records
    self.rejects = rejects
  }

  /// Writes up to `limit` records, or all if it is nil, and returns whether more records may be left.
  ///
  /// Throws a `Failure` with the position of the first bad record, unless there are rejects.
  mutating func run(
    _ limit: Int?, in transaction: inout WriteTransaction, afterEach: (Importer) throws -> Void
  ) throws -> Bool {
    var left = limit ?? .max
    while left > 0, let record = try records.next() {
      line = record.line
      if let bad = try write(record, to: &transaction) {
        guard let rejects else { throw Failure(.badData, "\(name):\(bad.description)") }
        try rejects.add(bad, text: record.text)
      }
      left -= 1
      try afterEach(self)
    }
    return left == 0
  }

  /// Writes a record; if it is bad, writes nothing of it and returns the reason.
  private mutating func write(
    _ record: SourceRecord, to transaction: inout WriteTransaction
  ) throws(StoreError) -> BadRecord? {
    switch record.content {
    case .failure(let bad): return bad
    case .success(let content):
      do throws(StoreError) { try write(content, to: &transaction) } catch {
        guard error.code == .badValue || error.code == .conflict else { throw error }
        return BadRecord(line: record.line, error.message)
      }
      return nil
    }
  }

  private mutating func write(
    _ content: RecordContent, to transaction: inout WriteTransaction
  ) throws(StoreError) {
    // What an export has marked was not typed.
    let set = content.values.lazy.filter { !$0.value.isNull && !content.verbatim.contains($0.attribute) }
    try new.look(atImported: set.map(\.attribute), in: &transaction)
    if identity == .new, content.id != nil { ignoresIDs = true }
    if identity == .updating, let id = content.id, try !transaction.storedValue(.name, of: id).isNull {
      note(id)
      let hasChanged = try transaction.update(content.values, of: id, verbatim: content.verbatim)
      if hasChanged { counts.changed += 1 } else { counts.unchanged += 1 }
      return
    }
    if identity == .kept, content.id == nil { throw StoreError(.badValue, "the record has no id to keep") }
    let id = identity == .new ? nil : content.id
    note(try transaction.add(content.values, as: id, verbatim: content.verbatim))
    counts.added += 1
  }

  private mutating func note(_ id: User.ID) {
    if firstUsers.count < Self.previewed, !firstUsers.contains(id) { firstUsers.append(id) }
  }
}

import UserStore

/// Writes the records of a file to a store.
struct Importer {
  /// What becomes of the ids in the file.
  enum Identity {
    /// They are passed over: every record is a new user.
    case new
    /// Every record is a new user with its id.
    case kept
    /// A record with the id of a user changes that user; any other is a new one.
    case updating
  }

  /// What was done.
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
  /// nil when the first bad record ends the import.
  let rejects: Rejects?
  /// Of what was written so far, in this transaction and before.
  private(set) var counts = Counts()
  /// The line of the last record that was looked at.
  private(set) var line = 0

  init(name: String, identity: Identity, records: any RecordSource, rejects: Rejects?) {
    self.name = name
    self.identity = identity
    self.records = records
    self.rejects = rejects
  }

  /// Writes so many records, or all that are left.
  ///
  /// - Parameters:
  ///   - limit: How many; nil for all.
  ///   - transaction: Where to.
  ///   - afterEach: Called after each record.
  /// - Returns: whether more may be left.
  /// - Throws: `Failure` with the place of the first bad record, and what writing can throw.
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

  /// - Returns: why the record cannot be taken; then nothing of it was written.
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
    if identity == .updating, let id = content.id, try !transaction.storedValue(.name, of: id).isNull {
      if try transaction.set(content.values, of: id) { counts.changed += 1 } else { counts.unchanged += 1 }
      return
    }
    if identity == .kept, content.id == nil { throw StoreError(.badValue, "the record has no id to keep") }
    try transaction.add(content.values, as: identity == .new ? nil : content.id)
    counts.added += 1
  }
}

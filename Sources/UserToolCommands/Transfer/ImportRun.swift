import UserStore
import UserStoreText

struct ImportRun {
  enum Identity {
    /// The ids are ignored: every record adds a user with a new id.
    case new
    /// Every record adds a user with the id in the file.
    case kept
    /// A record with the id of an existing user updates that user; any other record adds a user.
    case updating
  }

  private struct State {
    var added = 0
    var changed = 0
    var unchanged = 0
    var line = 0
    var users: Int { added + changed + unchanged }
    var written: Int { added + changed }
  }

  /// The name and the size in bytes of the file.
  let source: (name: String, size: Int64)
  let identity: Identity
  private var records: any RecordSource
  /// nil if the first bad record ends the import.
  let rejects: Rejects?
  /// The number of records that are committed at once; nil for all.
  let batch: Int?
  let isDryRun: Bool
  /// The state so far, in this transaction and earlier ones.
  private var state = State()
  /// The state after the last commit.
  private var done = State()
  private var sets = 0
  /// The first users that were written, and how a dry run would store them.
  private var firstUsers: [User.ID] = []
  private(set) var preview: [String] = []
  private var new = NewAttributes()
  private var ignoresIDs = false

  private static let previewed = 5

  init(
    _ source: (name: String, size: Int64), _ records: any RecordSource, identity: Identity, rejects: Rejects?,
    batch: Int?, isDryRun: Bool
  ) {
    (self.source, self.records, self.identity) = (source, records, identity)
    (self.rejects, self.batch, self.isDryRun) = (rejects, batch, isDryRun)
  }

  var notes: [String] {
    let ids = "note: the ids in the file are not used: each record adds a user with a new id (--update, --keep-ids)"
    return records.notes + (ignoresIDs ? [ids] : []) + new.notes
  }

  /// Writes all records, and returns a report.
  ///
  /// Throws a `Failure` with the position of the first bad record, unless there are rejects, and `Exit` after a signal; the
  /// current batch is then rolled back.
  mutating func write(to store: UserStore, _ common: CommonOptions) throws -> String {
    Signals.shared.takeOver {}
    do {
      try common.showProgress("imported", countsUsers: true) { progress in
        while try writeBatch(to: store, progress) {}
      }
    } catch {
      throw explained(error)
    }
    return report
  }

  /// Writes one batch, or everything, and returns whether there may be more records.
  private mutating func writeBatch(to store: UserStore, _ progress: Progress) throws -> Bool {
    let mayHaveMore = try store.write(origin: "usertool", isDryRun: isDryRun) { transaction in
      let mayHaveMore = try writeRecords(to: &transaction, progress)
      if isDryRun { preview = try ImportPreview.lines(of: firstUsers, in: &transaction) }
      return mayHaveMore
    }
    if state.written > done.written { sets += 1 }
    done = state
    return mayHaveMore
  }

  // MARK: Records

  mutating func writeRecords(to transaction: inout WriteTransaction, _ progress: Progress? = nil) throws -> Bool {
    var left = batch ?? .max
    while left > 0, let record = try records.next() {
      try write(record, to: &transaction)
      left -= 1
      try Signals.shared.check()
      progress?.note(Double(records.lines.offset) / Double(max(1, source.size)), users: state.users)
    }
    return left == 0
  }

  /// Writes a record; a bad one is not written at all.
  private mutating func write(_ record: SourceRecord, to transaction: inout WriteTransaction) throws {
    state.line = record.line
    do {
      try write(record.content.get(), to: &transaction)
    } catch {
      guard let bad = Self.bad(record, error) else { throw error }
      guard let rejects else { throw Failure(.badData, "\(source.name):\(bad.description)") }
      try rejects.add(bad, text: record.text)
    }
  }

  /// The reason why the record is bad; nil if the error has another reason.
  private static func bad(_ record: SourceRecord, _ error: any Error) -> BadRecord? {
    if let bad = error as? BadRecord { return bad }
    guard let error = error as? StoreError else { return nil }
    if let other = error.notUnique {
      let user = other.user.map { "user \($0)" } ?? "another user"
      return BadRecord(line: record.line, "the \(other.attribute.shown) \(other.value.quoted) belongs to \(user)")
    }
    guard error.code == .badValue || error.code == .conflict else { return nil }
    return BadRecord(line: record.line, error.message)
  }

  private mutating func write(_ content: RecordContent, to transaction: inout WriteTransaction) throws(StoreError) {
    // Values that an export has marked were not typed.
    let set = content.values.lazy.filter { !$0.value.isNull && !content.verbatim.contains($0.attribute) }
    try new.look(atImported: set.map(\.attribute), in: &transaction)
    if identity == .new, content.id != nil { ignoresIDs = true }
    if identity == .updating, let id = content.id, try !transaction.storedValue(.name, of: id).isNull {
      note(id)
      let hasChanged = try transaction.update(content.values, of: id, verbatim: content.verbatim)
      if hasChanged { state.changed += 1 } else { state.unchanged += 1 }
      return
    }
    if identity == .kept, content.id == nil { throw StoreError(.badValue, "the record has no id to keep") }
    let id = identity == .new ? nil : content.id
    note(try transaction.add(content.values, as: id, verbatim: content.verbatim))
    state.added += 1
  }

  private mutating func note(_ id: User.ID) {
    if firstUsers.count < Self.previewed, !firstUsers.contains(id) { firstUsers.append(id) }
  }

  // MARK: Messages

  private var report: String {
    let number = "\(done.users) user\(done.users == 1 ? "" : "s")"
    var parts: [String] = []
    if identity == .updating { parts = ["\(done.added) added", "\(done.changed) changed"] }
    if let rejects = rejects, rejects.count > 0 { parts.append("\(rejects.count) skipped") }
    let details = parts.isEmpty ? "" : " (" + parts.joined(separator: ", ") + ")"
    if isDryRun { return "dry run: would import \(number)\(details); nothing was changed" }
    switch sets {
    case 0: return "nothing was changed: \(number)\(details)"
    case 1: return "imported \(number)\(details) as one change set"
    default: return "imported \(number)\(details) as \(sets) change sets"
    }
  }

  /// Adds to an error how much was committed: nothing, or the earlier batches.
  private func explained(_ error: any Error) -> any Error {
    let kept = done.line == 0 ? "nothing was changed" : "the \(done.users) users up to line \(done.line) were imported"
    switch error {
    case var failure as Failure:
      failure.hint = kept + "; " + (failure.hint ?? "--skip-bad skips such records")
      return failure
    case let exit as Exit:
      Messages.shared.writeLine(Signals.shared.lineEnd + "stopped: " + kept)
      return exit
    case let error as StoreError where done.line > 0:
      return Failure(ExitStatus(error.code), error.message, hint: kept, tellsOfCommit: true)
    default: return error
    }
  }
}

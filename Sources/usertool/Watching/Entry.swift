import ArgumentParser
import UserStore

/// A line of a stream: a change, or a part of the present state.
struct Entry {
  enum Operation: String, ExpressibleByArgument, CaseIterable, Sendable {
    case insert, update, delete, snapshot
    /// A row of the log that no version of the library writes.
    case unknown

    /// What help shows, and completion offers.
    static var allValueStrings: [String] { allCases.filter { $0 != .unknown }.map(\.rawValue) }
  }

  let operation: Operation
  let user: User.ID
  let attribute: AttributeName
  let old: StoredValue
  let new: StoredValue
  let milliseconds: Int64
  /// Whether its values were taken out because the user was purged.
  let isPurged: Bool

  init(_ change: Change) {
    operation =
      switch change.kind {
      case .added: .insert
      case .updated: .update
      case .removed: .delete
      case .unknown: .unknown
      }
    user = change.user
    attribute = change.attribute
    old = change.old
    new = change.new
    milliseconds = change.timestamp
    isPurged = change.isPurged
  }

  /// A part of the present state.
  init(of user: User.ID, _ attribute: AttributeName, _ value: StoredValue, at milliseconds: Int64) {
    operation = .snapshot
    self.user = user
    self.attribute = attribute
    old = .null
    new = value
    self.milliseconds = milliseconds
    isPurged = false
  }

  static let columns = ["revision", "cursor", "op", "user", "attribute", "old", "new", "at"]

  /// The fields of the line.
  ///
  /// Only the last line of a set has a cursor: whoever saves the cursor of each line, and stops inside the set, would
  /// skip its rest. On the others the field is missing, and not null, which would be saved in its place.
  ///
  /// - Parameters:
  ///   - cursor: The end of the set; nil when it was not committed.
  ///   - isLast: Whether the set ends with this line.
  ///   - listener: Who heard it; null for nobody, nil to leave it out.
  /// - Returns: them in order.
  func record(at cursor: Cursor?, isLast: Bool, listener: StoredValue?) -> Record {
    var record = Record(fields: [("revision", cursor.map { .integer($0.revision.rawValue) } ?? .null)])
    if isLast || cursor == nil {
      record.fields.append(("cursor", cursor.map { .text($0.description) } ?? .null))
    }
    record.fields += [
      ("op", .text(operation.rawValue)), ("user", .integer(user.rawValue)), ("attribute", .text(attribute.text)),
      ("old", old), ("new", new), ("at", .text(Timestamp(milliseconds: milliseconds).utc)),
    ]
    record.isPurged = isPurged
    if let listener { record.fields.append(("listener", listener)) }
    return record
  }
}

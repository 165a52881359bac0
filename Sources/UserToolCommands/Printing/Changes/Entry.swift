import ArgumentParser
import UserStore

/// A line of a stream: a change, or a part of the current state.
struct Entry {
  enum Operation: String, ExpressibleByArgument, CaseIterable, Sendable {
    case insert, update, delete, snapshot
    /// A row of the log that no version of the library writes.
    case unknown

    static var allValueStrings: [String] { allCases.filter { $0 != .unknown }.map(\.rawValue) }
  }

  let operation: Operation
  let user: User.ID
  let attribute: AttributeName
  let old: StoredValue
  let new: StoredValue
  let milliseconds: Int64
  let isPurged: Bool

  init(_ change: Change) {
    operation = Operation(rawValue: change.kind.rawValue) ?? .unknown
    user = change.user
    attribute = change.attribute
    old = change.old
    new = change.new
    milliseconds = change.timestamp
    isPurged = change.isPurged
  }

  init(of user: User.ID, _ attribute: AttributeName, _ value: StoredValue, at milliseconds: Int64) {
    operation = .snapshot
    self.user = user
    self.attribute = attribute
    old = .null
    new = value
    self.milliseconds = milliseconds
    isPurged = false
  }

  static func state(of user: User, at milliseconds: Int64) -> [Entry] {
    user.orderedValues.map { Entry(of: user.id, $0.name, $0.value, at: milliseconds) }
  }

  static let columns = ["revision", "cursor", "op", "user", "attribute", "old", "new", "at"]

  /// The line, as the article “The JSON of changes” describes it.
  ///
  /// - Parameters:
  ///   - cursor: The end of the set; nil if the set was not committed.
  ///   - isLast: Whether this is the set's last line, which has the cursor.
  ///   - listener: The listener that received the change; null for none, nil to omit the field.
  /// - Returns: The record.
  func record(at cursor: Cursor?, isLast: Bool, listener: StoredValue?) -> Record {
    var record = Record(fields: Change.fields(of: cursor, isLast: isLast))
    record.fields += Change.fields(operation.rawValue, of: user, attribute, old: old, new: new, at: milliseconds)
    record.isPurged = isPurged
    if let listener { record.fields.append(("listener", listener)) }
    return record
  }
}

import ArgumentParser
import UserStore

/// A line of a stream: a change, an event, or a part of the current state.
struct Entry {
  enum Operation: String, ExpressibleByArgument, CaseIterable, Sendable {
    case insert, update, delete, event, snapshot
    /// A row of the log that no version of the library writes.
    case unknown

    static var allValueStrings: [String] { allCases.filter { $0 != .unknown }.map(\.rawValue) }
  }

  let operation: Operation
  /// nil for an event about no user.
  let user: User.ID?
  let attribute: AttributeName
  let old: StoredValue
  let new: StoredValue
  let milliseconds: Int64
  let isPurged: Bool
  /// The event, if it is one; then the other properties have its user, its name, and its payload.
  let event: Event?

  init(_ entry: UserStore.Entry) {
    switch entry {
    case .change(let change): self.init(change)
    case .event(let event): self.init(event)
    }
  }

  init(_ event: Event) {
    operation = .event
    user = event.user
    attribute = AttributeName(event.name)
    old = .null
    new = event.payload
    milliseconds = event.timestamp
    isPurged = false
    self.event = event
  }

  init(_ change: Change) {
    operation = Operation(rawValue: change.kind.rawValue) ?? .unknown
    user = change.user
    attribute = change.attribute
    old = change.old
    new = change.new
    milliseconds = change.timestamp
    isPurged = change.isPurged
    event = nil
  }

  init(of user: User.ID, _ attribute: AttributeName, _ value: StoredValue, at milliseconds: Int64) {
    operation = .snapshot
    self.user = user
    self.attribute = attribute
    old = .null
    new = value
    self.milliseconds = milliseconds
    isPurged = false
    event = nil
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
    var record = self.record
    record.fields = Change.fields(of: cursor, isLast: isLast) + record.fields
    if let listener { record.fields.append(("listener", listener)) }
    return record
  }

  /// The line without what its set adds.
  var record: Record {
    var record = Record(fields: [])
    if let event {
      record.fields += event.fields
      record.aliases = ["attribute": "event", "new": "payload"]
    } else if let user {
      record.fields += Change.fields(operation.rawValue, of: user, attribute, old: old, new: new, at: milliseconds)
    }
    record.isPurged = isPurged
    return record
  }
}

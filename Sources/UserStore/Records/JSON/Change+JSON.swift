extension UserStore.Change {
  /// The change as JSON text, as <doc:Format> describes it, without the members that belong to its change set:
  /// `{"op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë","at":"2026-11-21T05:20:11.482Z"}`.
  public var json: String { jsonValue().description }

  /// Returns the change as a line of JSON, as `usertool watch --format jsonl` prints it, and as <doc:Format> describes it.
  ///
  /// - Parameters:
  ///   - set: The set that the change is in, whose `revision` the line has.
  ///   - isLast: Whether it is the last change of the set that you write. Only this line has the cursor of the set, so that a
  ///     reader that stops within the set reads the set again.
  /// - Returns: The text, without a line feed.
  public func json(in set: UserStore.ChangeSet, isLast: Bool) -> String {
    jsonValue(Self.fields(of: set.cursor, isLast: isLast)).description
  }

  private func jsonValue(_ first: [(name: String, value: StoredValue)] = []) -> JSON {
    let fields = Self.fields(kind.rawValue, of: user, attribute, old: old, new: new, at: timestamp)
    return .record(first + fields, isPurged: isPurged)
  }

  /// The first fields of a line: the revision of its set, and the cursor, which only the last line of a set has; both are null
  /// for changes that are not committed.
  package static func fields(of cursor: Cursor?, isLast: Bool) -> [(name: String, value: StoredValue)] {
    let revision = cursor.map { StoredValue.integer($0.revision.rawValue) }
    let isShown = isLast || cursor == nil
    let last = [("cursor", cursor.map { StoredValue.text($0.description) } ?? .null)]
    return [("revision", revision ?? .null)] + (isShown ? last : [])
  }

  /// The further fields of a line, in order; usertool prints the current state in the same form, with another operation.
  package static func fields(
    _ operation: String, of user: UserStore.User.ID, _ attribute: AttributeName, old: StoredValue, new: StoredValue,
    at milliseconds: Int64
  ) -> [(name: String, value: StoredValue)] {
    [
      ("op", .text(operation)), ("user", .integer(user.rawValue)), ("attribute", .text(attribute.text)), ("old", old),
      ("new", new), ("at", .text(Timestamp(milliseconds: milliseconds).utc)),
    ]
  }
}

extension UserStore.Change: Codable {
  private enum Member: CodingKey { case op, user, attribute, old, new, at }

  /// Encodes the members of `json`.
  ///
  /// `JSONEncoder` changes their order, and values as `StoredValue` describes; the text of `json` is exact.
  public func encode(to encoder: any Encoder) throws { try jsonValue().encode(to: encoder) }

  /// Decodes a change from the members of `json`; ignores others, such as those of a change set.
  ///
  /// A decoded change has no row in a log, and is therefore not equal to a change from a log.
  ///
  /// - Throws: `DecodingError` if a member is missing, or is not of its type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Member.self)
    kind = try container.decode(Kind.self, forKey: .op)
    user = try container.decode(UserStore.User.ID.self, forKey: .user)
    attribute = try container.decode(AttributeName.self, forKey: .attribute)
    old = try container.decode(StoredValue.self, forKey: .old)
    new = try container.decode(StoredValue.self, forKey: .new)
    guard let time = Timestamp(utc: try container.decode(String.self, forKey: .at)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .at, in: container, debugDescription: "expected a time such as 2026-11-21T05:20:11.482Z")
    }
    timestamp = time.milliseconds
    sequence = 0
  }
}

extension UserStore.Change {
  /// The change as JSON text, as `usertool watch --per-change` prints it, without the members that belong to its change set:
  /// `{"op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë","at":"2026-11-21T05:20:11.482Z"}`.
  ///
  /// `"invalid":true` follows if a text is not valid UTF-8, and `"purged":true` if a purge removed the values.
  public var json: String { jsonValue.description }

  private var jsonValue: JSON {
    let fields = Self.fields(kind.rawValue, of: user, attribute, old: old, new: new, at: timestamp)
    return .record(fields, isPurged: isPurged)
  }

  /// The fields of a line, in order; usertool prints the current state in the same form, with another operation.
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
  public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }

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

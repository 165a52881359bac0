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

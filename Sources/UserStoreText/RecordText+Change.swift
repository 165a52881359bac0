public import UserStore

extension RecordText {
  /// Returns a change as a JSON object: `{"op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë"}`.
  ///
  /// Unlike `Change.json`, it has every value without loss, and no time. `"purged":true` follows if a purge removed the values.
  public static func json(_ change: UserStore.Change) -> String {
    var members: [(name: String, value: JSON)] = [
      ("op", .text(change.kind.rawValue)), ("user", .integer(change.user.rawValue)),
      ("attribute", .text(change.attribute.text)), ("old", change.old.losslessJSON), ("new", change.new.losslessJSON),
    ]
    if change.isPurged { members.append(("purged", .bool(true))) }
    return JSON.object(members).description
  }
}

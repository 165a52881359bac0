import UserStore

/// Fields in order: what every layout is made from.
struct Record {
  var fields: [(name: String, value: StoredValue)]
  /// Whether its values were taken out.
  var isPurged = false

  init(fields: [(name: String, value: StoredValue)]) {
    self.fields = fields
  }

  /// One line of JSON; `"invalid":true` when a text in it was no UTF-8, `"purged":true` when its values were taken out.
  var json: JSON {
    var members = fields.map { (name: $0.name, value: $0.value.json) }
    if fields.contains(where: \.value.isInvalid), !members.contains(where: { $0.name == "invalid" }) {
      members.append(("invalid", .bool(true)))
    }
    if isPurged { members.append(("purged", .bool(true))) }
    return .object(members)
  }

  /// Fields between tabs.
  var plain: String { fields.map(\.value.shown).joined(separator: "\t") }

  /// The fields of a line of CSV, those that the record does not have empty.
  func csv(_ columns: [String]) -> String {
    CSV.line(columns.map { column in fields.first { $0.name == column }?.value.bare ?? "" })
  }
}

/// Comma-separated values, as in RFC 4180, with line feeds.
enum CSV {
  static func line(_ fields: [String]) -> String {
    fields.map(field).joined(separator: ",")
  }

  private static func field(_ text: String) -> String {
    guard text.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

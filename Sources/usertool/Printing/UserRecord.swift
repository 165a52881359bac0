import UserStore

extension User {
  /// The attributes in the order in which they are shown.
  var orderedValues: [(name: AttributeName, value: StoredValue)] {
    let names = AttributeName.builtIn + storedValues.keys.sorted().filter { !AttributeName.builtIn.contains($0) }
    return names.map { ($0, storedValues[$0] ?? .null) }
  }

  /// The id, then one field per attribute.
  var record: Record {
    Record(fields: [("id", .integer(id.rawValue))] + orderedValues.map { ($0.name.text, $0.value) })
  }

  /// The id, the name, the hair color, then `k=v` for each further attribute, so that the first three have fixed positions.
  var plainRecord: Record {
    let fields = record.fields
    return Record(
      fields: fields.prefix(3)
        + fields.dropFirst(3).map { ($0.name, .text(ofBytes: Array(($0.name + "=").utf8) + $0.value.bareBytes)) })
  }

  /// The name for messages, with invalid bytes escaped.
  var shownName: String { (storedValues[.name] ?? .null).shown }
}

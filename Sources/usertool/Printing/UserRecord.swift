import UserStore

extension User {
  /// Attributes by name in the order in which they are shown.
  var orderedValues: [(name: AttributeName, value: StoredValue)] {
    let names = AttributeName.builtIn + storedValues.keys.sorted().filter { !AttributeName.builtIn.contains($0) }
    return names.map { ($0, storedValues[$0] ?? .null) }
  }

  /// A field for each attribute, after the id.
  var record: Record {
    Record(fields: [("id", .integer(id.rawValue))] + orderedValues.map { ($0.name.text, $0.value) })
  }

  /// Id, name, hair colour, then `k=v` for each further attribute: the first three are always in the same place.
  var plainRecord: Record {
    let fields = record.fields
    return Record(
      fields: fields.prefix(3)
        + fields.dropFirst(3).map { ($0.name, .text(ofBytes: Array(($0.name + "=").utf8) + $0.value.bareBytes)) })
  }

  /// For messages: the name, or what is left of it.
  var shownName: String { (storedValues[.name] ?? .null).shown }
}

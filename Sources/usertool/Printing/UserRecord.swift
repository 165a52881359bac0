import UserStore

extension User {
  /// Attributes by name in the order in which they are shown.
  var orderedValues: [(name: String, value: StoredValue)] {
    let names = AttributeName.builtIn + storedValues.names.filter { !AttributeName.builtIn.contains($0) }
    return names.map { ($0, storedValues[$0] ?? .null) }
  }

  /// A field for each attribute, after the id.
  var record: Record {
    Record(fields: [("id", .integer(id.rawValue))] + orderedValues)
  }

  /// Id, name, hair colour, then `k=v` for each further attribute: the first three are always in the same place.
  var plainRecord: Record {
    let values = orderedValues
    return Record(
      fields: [("id", .integer(id.rawValue))] + values.prefix(2)
        + values.dropFirst(2).map { ($0.name, .text(ofBytes: Array(($0.name + "=").utf8) + $0.value.bareBytes)) })
  }

  /// For messages: the name, or what is left of it.
  var shownName: String { (storedValues["name"] ?? .null).shown }
}

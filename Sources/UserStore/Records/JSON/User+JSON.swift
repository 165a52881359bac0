extension UserStore.User {
  /// The user as JSON text, as `usertool get` and `list` print it: `{"id":1,"name":"Zoë","hair_color":null,"age":41}`.
  ///
  /// The further attributes are sorted by the bytes of their names. `"invalid":true` follows them if a text is not valid UTF-8.
  public var json: String { JSON.record(fields).description }

  /// The id, then one field for each attribute.
  package var fields: [(name: String, value: StoredValue)] {
    [("id", .integer(id.rawValue))] + orderedValues.map { ($0.name.text, $0.value) }
  }

  /// The attributes in the order in which they are shown.
  package var orderedValues: [(name: AttributeName, value: StoredValue)] {
    let names = AttributeName.builtIn + storedValues.keys.sorted().filter { !AttributeName.builtIn.contains($0) }
    return names.map { ($0, storedValues[$0] ?? .null) }
  }
}

extension AttributeName {
  /// The attributes that every user has, in the order in which they are shown.
  package static let builtIn: [AttributeName] = [.name, .hairColor]
}

extension UserStore.User {
  /// The user as JSON text, as `usertool get` and `list` print it: `{"id":1,"name":"Zoë","hair_color":null,"age":41}`.
  ///
  /// The further attributes are sorted by the bytes of their names. Of a user that a query has read, attributes that the query does
  /// not show are missing, or null.
  public var json: String { JSON.record(fields).description }

  /// The id, then one field for each attribute.
  package var fields: [(name: String, value: StoredValue)] {
    [("id", .integer(id.rawValue))] + orderedValues.map { ($0.name.text, $0.value) }
  }

  /// The attributes in the order in which they are shown.
  package var orderedValues: [(name: AttributeName, value: StoredValue)] {
    let values = storedValues
    let names = AttributeName.builtIn + values.keys.sorted().filter { !AttributeName.builtIn.contains($0) }
    return names.map { ($0, values[$0] ?? .null) }
  }
}

extension AttributeName {
  /// The attributes that every user has, in the order in which they are shown.
  package static let builtIn: [AttributeName] = [.name, .hairColor]
}

extension UserStore.User: Codable {
  /// Encodes the members of `json`.
  ///
  /// `JSONEncoder` changes their order, and values as `StoredValue` describes; the text of `json` is exact. Strategies for keys
  /// would rename attributes. Of two attributes whose names are equal as Swift strings, an encoder may keep one.
  public func encode(to encoder: any Encoder) throws { try JSON.record(fields).encode(to: encoder) }

  /// Decodes a user from the members of `json`.
  ///
  /// An attribute that is null is not set.
  ///
  /// - Throws: `DecodingError` if there is no id or no name, or if a member is not a value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    var values: [AttributeName: StoredValue] = [:]
    for key in container.allKeys where key.stringValue != "id" {
      let value = try container.decode(StoredValue.self, forKey: key)
      if !value.isNull { values[AttributeName(key.stringValue)] = value }
    }
    self.init(id: try container.decode(ID.self, forKey: TextKey("id")), storedValues: values)
    if values[.name] == nil {
      let path = container.codingPath + [TextKey("name")]
      throw DecodingError.valueNotFound(String.self, .init(codingPath: path, debugDescription: "a user needs a name"))
    }
  }
}

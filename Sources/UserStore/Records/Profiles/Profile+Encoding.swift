extension UserStore.Profile {
  /// The attributes as they are stored; null for those that are nil.
  func encodedAttributes() throws(StoreError) -> [AttributeName: StoredValue] {
    let root = EncodedValue()
    do { try encode(to: ValueEncoder(value: root)) } catch {
      throw error as? StoreError ?? StoreError(.badValue, "\(Self.self) cannot be encoded: \(error)", cause: error)
    }
    guard let attributes = root.attributes else {
      throw StoreError(.badValue, "\(Self.self) is not a profile: it encodes no members with names")
    }
    return attributes
  }

  /// The attributes to store for a new user: those that a user with the name alone would not have by default.
  func attributesToAdd() throws(StoreError) -> [(attribute: AttributeName, value: StoredValue)] {
    let all = try encodedAttributes()
    let user = User(id: User.ID(0), name: all[.name])
    // A profile without defaults does not decode, unless all others are optional.
    let absent = (try? user.profile(Self.self).encodedAttributes()) ?? [:]
    return all.differences(from: absent.filter { $0.key != .name })
  }
}

extension [AttributeName: StoredValue] {
  /// The values that differ from older ones, in the order of their names; null for those that are no longer there.
  func differences(from old: Self) -> [(attribute: AttributeName, value: StoredValue)] {
    let changed = filter { $0.value != old[$0.key] ?? .null }.map { (attribute: $0.key, value: $0.value) }
    let unset = old.keys.filter { self[$0] == nil && old[$0] != .null }.map { (attribute: $0, value: StoredValue.null) }
    return (changed + unset).sorted { $0.attribute < $1.attribute }
  }
}

extension StoredValue {
  /// Creates the value of an attribute from what a type encodes, even if it is an `AttributeValue`.
  ///
  /// - Throws: What the type throws, and `StoreError.Code.badValue`.
  package init(encoding value: some Encodable) throws {
    let encoded = EncodedValue(TextKey("value"))
    try encoded.encodeMembers(of: value)
    self = encoded.storedValue
  }

  /// Decodes a value from that of an attribute, even if its type is an `AttributeValue`.
  ///
  /// - Throws: What the type throws, and `StoreError.Code.badValue`.
  package func decodeMembers<Value: Decodable>(of type: Value.Type) throws -> Value {
    try ValueDecoder(.stored(self), path: [TextKey("value")]).decodeMembers(of: type)
  }
}

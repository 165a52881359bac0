/// Encodes one value into an `EncodedValue`.
///
/// Its containers have one generic method for all types, which also serves the requirements for each type of number.
struct ValueEncoder: Encoder {
  let value: EncodedValue

  var codingPath: [any CodingKey] { value.path }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    value.beginMembers()
    return KeyedEncodingContainer(Members<Key>(value: value))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    value.beginList()
    return Elements(value: value)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(value: value) }

  private struct Single: SingleValueEncodingContainer {
    let value: EncodedValue
    var codingPath: [any CodingKey] { value.path }

    func encodeNil() { value.encodeNothing() }
    func encode<Value: Encodable>(_ new: Value) throws { try value.encode(new) }
  }

  private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let value: EncodedValue
    var codingPath: [any CodingKey] { value.path }

    func encodeNil(forKey key: Key) { value.add(.nothing, key) }
    func encode<Value: Encodable>(_ new: Value, forKey key: Key) throws {
      if let scalar = EncodedValue.Content(scalar: new) {
        value.add(scalar, key)
      } else {
        try value.member(key).encode(new)
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      ValueEncoder(value: value.member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      ValueEncoder(value: value.member(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(value: value.member(TextKey("super"))) }
    func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(value: value.member(key)) }
  }

  private struct Elements: UnkeyedEncodingContainer {
    let value: EncodedValue
    var codingPath: [any CodingKey] { value.path }
    var count: Int { value.count }

    func encodeNil() { value.append(.nothing) }
    func encode<Value: Encodable>(_ new: Value) throws {
      if let scalar = EncodedValue.Content(scalar: new) {
        value.append(scalar)
      } else {
        try value.append().encode(new)
      }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      ValueEncoder(value: value.append()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      ValueEncoder(value: value.append()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(value: value.append()) }
  }
}

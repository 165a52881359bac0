/// The members of an object in JSON text.
struct DecodedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let codingPath: [any CodingKey]
  let members: [AttributeName: JSON]

  var allKeys: [Key] { members.keys.sorted().compactMap { Key(stringValue: $0.text) } }

  func contains(_ key: Key) -> Bool { members[AttributeName(key.stringValue)] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).isNull }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let decoder = try decoder(key)
    if decoder.isNull, !(type is any Nullable.Type) { throw missing(key) }
    return try decoder.decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(TextKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
    guard let value = members[AttributeName(key.stringValue)] else { throw missing(key) }
    return ValueDecoder(.json(value), path: codingPath + [key])
  }

  private func missing(_ key: some CodingKey) -> DecodingError {
    .keyNotFound(key, .init(codingPath: codingPath, debugDescription: "there is no \"\(key.stringValue)\""))
  }
}

/// The elements of a list in JSON text.
struct DecodedElements: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  let values: [JSON]
  private(set) var currentIndex = 0

  init(codingPath: [any CodingKey], values: [JSON]) {
    self.codingPath = codingPath
    self.values = values
  }

  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex == values.count }

  mutating func decodeNil() throws -> Bool {
    let isNull = try next().isNull
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try take { decoder in try decoder.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try take { decoder in try decoder.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try take { decoder in try decoder.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try take { $0 } }

  /// Takes an element only if it decodes: a type may try another one then.
  private mutating func take<Value>(_ body: (ValueDecoder) throws -> Value) throws -> Value {
    let value = try body(next())
    currentIndex += 1
    return value
  }

  private func next() throws -> ValueDecoder {
    let key = TextKey(String(currentIndex))
    guard !isAtEnd else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "the list has ended"))
    }
    return ValueDecoder(.json(values[currentIndex]), path: codingPath + [key])
  }
}

/// A type that has a value for null.
protocol Nullable {}

extension Optional: Nullable {}

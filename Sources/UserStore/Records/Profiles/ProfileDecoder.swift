/// Decodes a profile from the attributes of a user, and records which of them the profile asks for.
final class ProfileDecoder: Decoder {
  /// The attributes that a profile has asked for while it was decoded: only they can change the result.
  struct Keys: Sendable {
    fileprivate(set) var names = Set<AttributeName>(minimumCapacity: 12)
    /// Whether it has asked for the names of all attributes.
    fileprivate(set) var isAll = false

    func contain(_ name: AttributeName) -> Bool { isAll || names.contains(name) }
  }

  fileprivate let user: User
  fileprivate var keys = Keys()
  /// Encoded when the first of them is needed.
  fileprivate lazy var defaults = makeDefaults()
  private let makeDefaults: () -> [AttributeName: StoredValue]

  private init<Profile: UserStore.Profile>(_ user: User, _ type: Profile.Type) {
    self.user = user
    // Defaults that cannot be encoded are none: the message is about the attribute that is missing.
    makeDefaults = { (try? Profile.defaults?.encodedAttributes()) ?? [:] }
  }

  /// Decodes a profile, and returns it with the attributes that it has asked for.
  static func decode<Profile: UserStore.Profile>(
    _ type: Profile.Type, from user: User
  ) throws(StoreError) -> (profile: Profile, keys: Keys) {
    let (result, keys) = decoding(type, from: user)
    return (try result.get(), keys)
  }

  /// Decodes a profile; returns the attributes that it has asked for also if that fails.
  static func decoding<Profile: UserStore.Profile>(
    _ type: Profile.Type, from user: User
  ) -> (result: Result<Profile, StoreError>, keys: Keys) {
    let decoder = ProfileDecoder(user, type)
    do { return (.success(try Profile(from: decoder)), decoder.keys) } catch {
      return (.failure(StoreError(error, decoding: type, of: user.id)), decoder.keys)
    }
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(DecodedAttributes<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notAProfile }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notAProfile }

  private var notAProfile: DecodingError {
    .typeMismatch([String: Any].self, .init(codingPath: [], debugDescription: "a profile decodes members with names"))
  }
}

/// The attributes of a user.
private struct DecodedAttributes<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ProfileDecoder

  var codingPath: [any CodingKey] { [] }

  var allKeys: [Key] {
    decoder.keys.isAll = true
    return decoder.user.storedValues.keys.sorted().compactMap { Key(stringValue: $0.text) }
  }

  func contains(_ key: Key) -> Bool { !value(key).isNull }
  func decodeNil(forKey key: Key) -> Bool { value(key).isNull }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let value = value(key)
    if let scalar = value.scalar(type) { return scalar }
    if !value.isNull || type is any Nullable.Type { return try decode(type, value, key) }
    return try decode(type, present(value, key), key)
  }

  // The protocol's own implementation would look for the value three times.
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    let value = value(key)
    if value.isNull { return nil }
    return try value.scalar(type) ?? decode(type, value, key)
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ value: StoredValue, _ key: Key) throws -> Value {
    let decoder = ValueDecoder(.stored(value), path: [key])
    do { return try decoder.decode(type) } catch {
      throw error as? StoreError ?? StoreError(error, decoding: type, from: decoder, of: self.decoder.user.id)
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try nested(TextKey("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

  private func nested(_ key: some CodingKey) throws -> ValueDecoder {
    ValueDecoder(.stored(try present(value(key), key)), path: [key])
  }

  private func value(_ key: some CodingKey) -> StoredValue {
    let name = AttributeName(key.stringValue)
    decoder.keys.names.insert(name)
    return decoder.user[stored: name] ?? .null
  }

  /// The value, or its default.
  private func present(_ value: StoredValue, _ key: some CodingKey) throws(StoreError) -> StoredValue {
    if !value.isNull { return value }
    let name = AttributeName(key.stringValue)
    if let value = decoder.defaults[name], !value.isNull { return value }
    throw StoreError(.undecodable, "user \(decoder.user.id) has no \(name)")
  }
}

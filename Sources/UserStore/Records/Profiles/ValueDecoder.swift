/// Decodes one value: that of an attribute, or one in its JSON text.
///
/// What a text is depends on what the type asks for: a string takes it as it is, a list or a struct reads it as JSON.
final class ValueDecoder: Decoder {
  enum Source {
    case stored(StoredValue)
    case json(JSON)
  }

  let codingPath: [any CodingKey]
  private let source: Source
  /// The JSON value of a stored text.
  private lazy var parsed: JSON? =
    switch source {
    case .json(let json): json
    case .stored(.text(let text)): JSONScanner.value(in: text)
    case .stored: nil
    }

  init(_ source: Source, path: [any CodingKey]) {
    self.source = source
    codingPath = path
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  var isNull: Bool {
    switch source {
    case .stored(.null), .json(.null): true
    default: false
    }
  }

  /// The value in messages.
  var shown: String {
    switch source {
    case .stored(let value): value.quotedForMessages
    case .json(let json): json.scalar?.quotedForMessages ?? json.description.excerpt
    }
  }

  // MARK: Decoding

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if case .stored(let value) = source, let scalar = value.scalar(type) { return scalar }
    // Unwrapped first: a cast would make a nil of it for an optional type.
    if let value = try value(of: type), let value = value as? Value { return value }
    return try decodeMembers(of: type)
  }

  /// Decodes a value through its own initializer, even if its type is an `AttributeValue`.
  func decodeMembers<Value: Decodable>(of type: Value.Type) throws -> Value {
    try FoundationType.check(type, at: codingPath)
    do { return try Value(from: self) } catch let error as DecodingError {
      // Of the value itself: the type that the caller knows, and not what its initializer asks for.
      switch error {
      case .dataCorrupted(let context), .typeMismatch(_, let context):
        if context.codingPath.count <= codingPath.count {
          throw mismatch(type, cause: context.underlyingError ?? error)
        }
      default: break
      }
      throw error
    }
  }

  /// The value of a type that needs no container; nil for another type.
  private func value(of type: any Decodable.Type) throws -> Any? {
    switch type {
    case is Bool.Type: return try bool ?? { throw mismatch(type) }()
    case let number as any FixedWidthInteger.Type:
      return try integer.flatMap { number.init(exactly: $0) } ?? { throw mismatch(type) }()
    case let number as any BinaryFloatingPoint.Type:
      return try scalar.flatMap { Double(storedValue: $0) }.map { number.init($0) } ?? { throw mismatch(type) }()
    case is StoredValue.Type:
      if case .stored(let value) = source { return value }
      return nil
    case let value as any AttributeValue.Type
    where isWholeAttribute || type is String.Type || FoundationType.isOne(type):
      return try scalar.flatMap { value.init(storedValue: $0) } ?? { throw mismatch(type) }()
    default: return nil
    }
  }

  private var isWholeAttribute: Bool {
    if case .stored = source { true } else { false }
  }

  private var scalar: StoredValue? {
    switch source {
    case .stored(let value): value
    case .json(let json): json.scalar
    }
  }

  private var bool: Bool? {
    if case .json(.bool(let bool)) = source { return bool }
    return scalar.flatMap { Bool(storedValue: $0) }
  }

  /// In JSON, 1.0 is an integer too.
  private var integer: Int64? {
    switch source {
    case .stored(.integer(let integer)), .json(.integer(let integer)): integer
    case .json(.real(let real)): Int64(exactly: real)
    default: nil
    }
  }

  func mismatch(_ type: Any.Type, cause: (any Error)? = nil) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "\(shown), not \(name(of: type))", underlyingError: cause))
  }

  // MARK: Containers

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = parsed else { throw mismatch([String: Any].self) }
    let byName = Dictionary(members.map { (AttributeName($0.name), $0.value) }) { $1 }
    return KeyedDecodingContainer(DecodedMembers<Key>(codingPath: codingPath, members: byName))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .list(let values) = parsed else { throw mismatch([Any].self) }
    return DecodedElements(codingPath: codingPath, values: values)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  private struct Single: SingleValueDecodingContainer {
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
  }
}

extension StoredValue {
  /// The value as text, a usual number, or a Boolean; nil if the type is another one, and if the value is not of the type.
  ///
  /// Most properties are one of them, and need no decoder: see `EncodedValue.Content(scalar:)`.
  func scalar<Value>(_ type: Value.Type) -> Value? {
    if type == String.self { return String(storedValue: self) as? Value }
    if type == Int.self { return Int(storedValue: self) as? Value }
    if type == Bool.self { return Bool(storedValue: self) as? Value }
    if type == Double.self { return Double(storedValue: self) as? Value }
    return nil
  }
}

extension JSON {
  /// The value as an attribute would have it; nil for a list, and for an object that does not stand for bytes.
  fileprivate var scalar: StoredValue? {
    switch self {
    case .null: return .null
    case .bool(let bool): return bool.storedValue
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .text(let text): return .text(text)
    case .object(let members):
      guard members.count == 1, members[0].name == "base64", case .text(let text) = members[0].value else { return nil }
      return Base64.decode(text).map { .blob($0) }
    case .list: return nil
    }
  }
}

/// A value while it is being encoded: the containers of an encoder fill it.
///
/// The root is the profile, its members are attributes, and what they contain becomes JSON text.
final class EncodedValue {
  /// What was encoded.
  ///
  /// Text, numbers, and Booleans need no object of their own: most members are one of them.
  enum Content {
    case nothing
    case bool(Bool)
    case stored(StoredValue)
    case list([Content])
    /// By name as bytes, as attributes are: Swift's strings are equal if only their forms of an accented letter differ.
    case members([AttributeName: Content])
    /// What another container fills, perhaps later.
    case value(EncodedValue)
  }

  private let parent: EncodedValue?
  private let key: (any CodingKey)?
  private let depth: Int
  private var content = Content.nothing
  /// Whether the order of the list means nothing: then it is sorted, so that equal values have equal texts.
  private var isUnordered = false

  init(_ key: (any CodingKey)? = nil, in parent: EncodedValue? = nil) {
    (self.parent, self.key) = (parent, key)
    depth = (parent?.depth ?? 0) + (key == nil ? 0 : 1)
  }

  /// The keys that lead to the value.
  ///
  /// It is made when it is asked for: a path in each value takes longer than the rest of the encoding.
  var path: [any CodingKey] { (parent?.path ?? []) + (key.map { [$0] } ?? []) }

  /// The members of the root by attribute, null for those that are nil; nil if it is a single value or a list.
  var attributes: [AttributeName: StoredValue]? {
    if case .members(let members) = content { members.mapValues(\.storedValue) } else { nil }
  }

  var storedValue: StoredValue { isUnordered ? .text(json.description) : content.storedValue }

  fileprivate var json: JSON {
    guard isUnordered, case .list(let values) = content else { return content.json }
    return .list(values.map { ($0.json, $0.json.bytes) }.sorted { $0.1.byteOrder(to: $1.1) < 0 }.map(\.0))
  }

  /// The JSON text of a value.
  static func json(of payload: some Encodable) throws -> String {
    let value = EncodedValue(TextKey("payload"))
    try value.encode(payload)
    return value.json.description
  }

  // MARK: Filling

  func encode<Value: Encodable>(_ value: Value) throws {
    if let scalar = Content(scalar: value) {
      content = scalar
      return
    }
    switch value {
    case let integer as any BinaryInteger: try encode(integer)
    case let real as any BinaryFloatingPoint: try encode(real)
    default:
      if isAttribute, let value = value as? StoredValue {
        content = .stored(value)
      } else if isAttribute || FoundationType.isOne(Value.self), let value = value as? any AttributeValue {
        content = .stored(value.storedValue)
      } else {
        try encodeMembers(of: value)
      }
    }
  }

  /// Encodes a value through its own method, even if it is an `AttributeValue`.
  func encodeMembers<Value: Encodable>(of value: Value) throws {
    try FoundationType.check(Value.self, at: path)
    guard depth <= Limits.jsonDepth else { throw refusal("is nested more than \(Limits.jsonDepth) times") }
    isUnordered = value is any Unordered
    try value.encode(to: ValueEncoder(value: self))
  }

  private func encode(_ integer: some BinaryInteger) throws {
    guard let integer = Int64(exactly: integer) else { throw refusal("is \(integer), which does not fit into 64 bits") }
    content = .stored(.integer(integer))
  }

  private func encode(_ real: some BinaryFloatingPoint) throws {
    if real.isNaN { throw refusal("is NaN, which cannot be stored") }
    content = .stored(.real(Double(real)))
  }

  func encodeNothing() { content = .nothing }

  func beginMembers() {
    if case .members = content { return }
    // Growing a dictionary hashes its keys again.
    content = .members(Dictionary(minimumCapacity: 12))
  }

  func beginList() {
    if case .list = content { return }
    content = .list([])
  }

  /// Adds a member, which replaces one with the same name.
  func add(_ member: Content, _ key: some CodingKey) {
    guard case .members(var members) = content else { return }
    // Taken out, so that it is changed in place.
    content = .nothing
    members[AttributeName(key.stringValue)] = member
    content = .members(members)
  }

  /// Adds a member that is filled later.
  func member(_ key: some CodingKey) -> EncodedValue {
    let member = EncodedValue(key, in: self)
    add(.value(member), key)
    return member
  }

  func append(_ element: Content) {
    guard case .list(var values) = content else { return }
    content = .nothing
    values.append(element)
    content = .list(values)
  }

  /// Adds an element that is filled later.
  func append() -> EncodedValue {
    let value = EncodedValue(TextKey(String(count)), in: self)
    append(.value(value))
    return value
  }

  var count: Int {
    if case .list(let values) = content { values.count } else { 0 }
  }

  /// Whether it is the value of an attribute, and not a part of one.
  private var isAttribute: Bool { depth == 1 }

  private func refusal(_ reason: String) -> StoreError { StoreError(.badValue, "\(path.subject) \(reason)") }
}

extension EncodedValue.Content {
  /// Text, a usual number, or a Boolean; nil for another type, and for NaN, which is refused with its path.
  ///
  /// Comparing types takes a few instructions, a cast of a generic value hundreds.
  init?<Value>(scalar value: Value) {
    if Value.self == String.self {
      self = .stored(.text(value as! String))
    } else if Value.self == Int.self {
      self = .stored(.integer(Int64(value as! Int)))
    } else if Value.self == Bool.self {
      self = .bool(value as! Bool)
    } else if Value.self == Double.self, let real = value as? Double, !real.isNaN {
      self = .stored(.real(real))
    } else {
      return nil
    }
  }

  var storedValue: StoredValue {
    switch self {
    case .nothing: .null
    case .bool(let bool): bool.storedValue
    case .stored(let value): value
    case .list, .members: .text(json.description)
    case .value(let value): value.storedValue
    }
  }

  var json: JSON {
    switch self {
    case .nothing: .null
    case .bool(let bool): .bool(bool)
    case .stored(let value): value.jsonValue
    case .list(let values): .list(values.map(\.json))
    case .members(let members):
      .object(members.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.json) })
    case .value(let value): value.json
    }
  }
}

/// A type whose values encode their elements in any order.
private protocol Unordered {}

extension Set: Unordered {}

extension [any CodingKey] {
  /// The value at a path as the subject of a message.
  var subject: String {
    guard let first else { return "the value" }
    let attribute = "the \(AttributeName(first.stringValue))"
    return count == 1 ? attribute : "\"\(dropFirst().text)\" in " + attribute
  }
}

extension Collection<any CodingKey> {
  /// The names of the keys: `lines.2.zip`.
  var text: String { map(\.stringValue).joined(separator: ".").excerpt }
}

/// A value while it is being encoded: the containers of an encoder fill it.
///
/// The root is the profile, its members are attributes, and what they contain becomes JSON text.
final class EncodedValue {
  private enum Content {
    case nothing
    case bool(Bool)
    case stored(StoredValue)
    case list([EncodedValue])
    /// By name as bytes, as attributes are: Swift's strings are equal if only their forms of an accented letter differ.
    case members([AttributeName: EncodedValue])
  }

  let path: [any CodingKey]
  private var content = Content.nothing
  /// Whether the order of the list means nothing: then it is sorted, so that equal values have equal texts.
  private var isUnordered = false

  init(path: [any CodingKey] = []) {
    self.path = path
  }

  /// The members of the root by attribute, null for those that are nil; nil if it is a single value or a list.
  var attributes: [AttributeName: StoredValue]? {
    if case .members(let members) = content { members.mapValues(\.storedValue) } else { nil }
  }

  var storedValue: StoredValue {
    switch content {
    case .nothing: .null
    case .bool(let bool): bool.storedValue
    case .stored(let value): value
    case .list, .members: .text(json.description)
    }
  }

  private var json: JSON {
    switch content {
    case .nothing: return .null
    case .bool(let bool): return .bool(bool)
    case .stored(let value): return value.jsonValue
    case .list(let values):
      let values = values.map(\.json)
      if !isUnordered { return .list(values) }
      return .list(values.map { ($0, $0.bytes) }.sorted { $0.1.byteOrder(to: $1.1) < 0 }.map(\.0))
    case .members(let members):
      return .object(members.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.json) })
    }
  }

  /// The JSON text of a value.
  static func json(of payload: some Encodable) throws -> String {
    let value = EncodedValue(path: [TextKey("payload")])
    try value.encode(payload)
    return value.json.description
  }

  // MARK: Filling

  func encode(_ value: some Encodable) throws {
    switch value {
    case let bool as Bool: content = .bool(bool)
    case let text as String: content = .stored(.text(text))
    case let integer as any BinaryInteger: try encode(integer)
    case let real as any BinaryFloatingPoint: try encode(real)
    default:
      if isAttribute, let value = value as? StoredValue {
        content = .stored(value)
      } else if isAttribute || FoundationType.isOne(type(of: value)), let value = value as? any AttributeValue {
        content = .stored(value.storedValue)
      } else {
        try encodeMembers(of: value)
      }
    }
  }

  /// Encodes a value through its own method, even if it is an `AttributeValue`.
  func encodeMembers(of value: some Encodable) throws {
    try FoundationType.check(type(of: value), at: path)
    guard path.count <= Limits.jsonDepth else { throw refusal("is nested more than \(Limits.jsonDepth) times") }
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
    content = .members([:])
  }

  func beginList() {
    if case .list = content { return }
    content = .list([])
  }

  func member(_ key: any CodingKey) -> EncodedValue {
    let member = EncodedValue(path: path + [key])
    if case .members(var members) = content {
      // Taken out, so that it is changed in place.
      content = .nothing
      members[AttributeName(key.stringValue)] = member
      content = .members(members)
    }
    return member
  }

  func append() -> EncodedValue {
    let value = EncodedValue(path: path + [TextKey(String(count))])
    if case .list(var values) = content {
      content = .nothing
      values.append(value)
      content = .list(values)
    }
    return value
  }

  var count: Int {
    if case .list(let values) = content { values.count } else { 0 }
  }

  /// Whether it is the value of an attribute, and not a part of one.
  private var isAttribute: Bool { path.count == 1 }

  private func refusal(_ reason: String) -> StoreError { StoreError(.badValue, "\(path.subject) \(reason)") }
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

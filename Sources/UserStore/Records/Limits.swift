/// The limits of stored values, checked before an engine receives them.
enum Limits {
  /// The length of a user's name, in Unicode scalars.
  static let nameLength = 1...1_000
  /// The length of an attribute's name, in Unicode scalars.
  static let attributeNameLength = 1...200
  /// The ids that a caller may choose: after the largest integer, SQLite could assign no new id.
  ///
  /// Ids of zero and less are accepted because other programs can store them, and an export must be importable.
  static let ids: ClosedRange<Int64> = .min...1 << 62
  /// The length of a consumer's name, in Unicode scalars.
  static let consumerNameLength = 1...200
  /// The length of an event's name, in Unicode scalars.
  static let eventNameLength = 1...200
  /// The size of one value: 16 MiB.
  static let valueBytes = 1 << 24
  /// How deep the lists and objects of a JSON text in a profile can be nested: each level takes stack.
  static let jsonDepth = 100

  /// The value as it is stored; throws `StoreError.Code.badValue` if the attribute cannot have it.
  ///
  /// With `verbatim`, it can be anything that another program can store, because an export must be importable.
  static func checked(
    _ value: StoredValue, for attribute: AttributeName, verbatim: Bool = false
  ) throws(StoreError) -> StoredValue {
    guard value.byteCount <= valueBytes else {
      throw StoreError(.badValue, "the \(attribute) can have at most \(valueBytes) bytes, not \(value.byteCount)")
    }
    if verbatim, canHold(value, attribute) { return value == .real(0) ? .real(0) : value }
    switch attribute {
    case .name:
      if value.isNull { throw StoreError(.badValue, "a user needs a name") }
      guard case .text(let name) = value else { throw StoreError(.badValue, "a name must be text") }
      try check(name, "a name", nameLength)
      return value
    case .hairColor:
      if value.isNull { return value }
      guard let color = Color(storedValue: value) else {
        throw StoreError(.badValue, "\(value.forMessages) is not a color; use #rrggbb")
      }
      return color.storedValue
    case "id": throw StoreError(.badValue, "the id of a user never changes")
    default: try check(attribute.text, "the name of an attribute", attributeNameLength)
    }
    switch value {
    case .real(let real) where real.isNaN: throw StoreError(.badValue, "NaN cannot be stored")
    case .real(let real) where real == 0: return .real(0)  // SQL cannot tell −0.0 from it
    case .invalidText: throw StoreError(.badValue, "the \(attribute) is not valid UTF-8")
    default: return value
    }
  }

  /// Whether the tables can hold a value, even one that no write of the library stores.
  private static func canHold(_ value: StoredValue, _ attribute: AttributeName) -> Bool {
    switch (attribute, value) {
    case ("id", _): false
    case (.name, .text), (.name, .invalidText), (.hairColor, .text), (.hairColor, .invalidText): true
    case (.name, _), (.hairColor, _): false
    case (_, .real(let real)): !real.isNaN
    default: true
    }
  }

  /// Checks all values of a record, each attribute once; an attribute in `verbatim` can have what another program can store.
  static func checked(
    _ values: [(attribute: AttributeName, value: StoredValue)], verbatim: Set<AttributeName> = []
  ) throws(StoreError) -> [(attribute: AttributeName, value: StoredValue)] {
    var checked: [(attribute: AttributeName, value: StoredValue)] = []
    var names: Set<AttributeName> = []
    for (attribute, value) in values {
      checked.append((attribute, try self.checked(value, for: attribute, verbatim: verbatim.contains(attribute))))
      guard names.insert(attribute).inserted else {
        throw StoreError(.badValue, "\(StoredValue.text(attribute.text).forMessages) is given twice")
      }
    }
    return checked
  }

  /// The number of values that the condition of a query can compare with: a server adds up to 1,000 ids to that of a client.
  static let queryValues = 2_000
  /// The number of comparisons and inner junctions in a condition; SQLite's expressions have at most 1,000 levels, one for each
  /// part of a junction.
  static let conditionParts = 500
  /// How deep the parts of a condition can be nested; SQLite's parser has a stack of 100 symbols.
  static let conditionDepth = 20
  /// The length of a text to find in any case, in Unicode scalars, and the number of those outside of ASCII in all such texts of a
  /// condition: SQLite copies each value for each of these.
  static let caselessLength = 200

  /// The number of attributes that a query can sort by.
  static let sortKeys = 20

  /// The number of attributes that a query can show, if it does not show all; SQLite's results have at most 2,000 columns.
  static let shownAttributes = 1_000

  /// Throws `StoreError.Code.badValue` for a query that cannot be run.
  static func check(_ query: Query) throws(StoreError) {
    try check(query.where)
    if let limit = query.limit, limit < 1 {
      throw StoreError(.badValue, "the limit of a query is 1 or more, not \(limit)")
    }
    guard query.sortedBy.count <= sortKeys else {
      throw StoreError(.badValue, "a query can have at most \(sortKeys) sort keys, not \(query.sortedBy.count)")
    }
    var sorted: Set<AttributeName> = []
    for key in query.sortedBy {
      try checkAttribute(key.attribute)
      guard sorted.insert(key.attribute).inserted else {
        throw StoreError(.badValue, "the query sorts by \(StoredValue.text(key.attribute.text).forMessages) twice")
      }
    }
    for attribute in query.showing ?? [] { try checkAttribute(attribute) }
    guard query.showing?.count ?? 0 <= shownAttributes else {
      throw StoreError(.badValue, "a query can show at most \(shownAttributes) attributes, or all")
    }
    guard let start = query.start else { return }
    try check(start.values)
    guard start.values.count == query.sortedBy.count else {
      let keys = "a value for each of its \(query.sortedBy.count) sort keys"
      throw StoreError(.badValue, "the start of a query has \(keys), not \(start.values.count) values")
    }
  }

  /// Throws `StoreError.Code.badValue` for a condition that cannot be evaluated.
  static func check(_ condition: Condition) throws(StoreError) {
    if condition.isTooDeep {
      throw StoreError(.badValue, "the parts of a condition can be nested at most \(conditionDepth) times")
    }
    var size = (parts: 0, values: 0, caseless: 0)
    try check(condition.node, isPart: false, &size)
    guard size.values <= queryValues else {
      throw StoreError(.badValue, "a condition can have at most \(queryValues) values, not \(size.values)")
    }
    guard size.parts <= conditionParts else {
      throw StoreError(.badValue, "a condition can have at most \(conditionParts) parts, not \(size.parts)")
    }
    guard size.caseless <= caselessLength else {
      let what = "the texts of a condition to find in any case"
      throw StoreError(.badValue, "\(what) can have at most \(caselessLength) characters outside of ASCII")
    }
  }

  private static func check(
    _ node: Condition.Node, isPart: Bool, _ size: inout (parts: Int, values: Int, caseless: Int)
  ) throws(StoreError) {
    // The outermost junction and negations are not counted, so that 500 conditions that must all hold are 500 parts.
    switch node {
    case .all, .any: size.parts += isPart ? 1 : 0
    case .not, .first: break
    default: size.parts += 1
    }
    switch node {
    case .all(let parts), .any(let parts): for part in parts { try check(part, isPart: true, &size) }
    case .not(let part), .first(let part): try check(part, isPart: true, &size)
    case .comparison(let attribute, let comparison, let value):
      try check([value], of: attribute, &size.values)
      guard comparison == .containsIgnoringCase, case .text(let text) = value else { return }
      size.caseless += text.unicodeScalars.count { !$0.isASCII }
      if text.unicodeScalars.count > caselessLength {
        throw StoreError(.badValue, "a text to find in any case can have at most \(caselessLength) characters")
      }
    case .isOneOf(let attribute, let values): try check(values, of: attribute, &size.values)
    case .exists(let attribute): try checkAttribute(attribute)
    }
  }

  private static func check(
    _ values: [StoredValue], of attribute: AttributeName, _ count: inout Int
  ) throws(StoreError) {
    try checkAttribute(attribute)
    count += values.count
    try check(values)
  }

  private static func check(_ values: [StoredValue]) throws(StoreError) {
    for case .real(let real) in values where real.isNaN {
      throw StoreError(.badValue, "NaN cannot be compared with")
    }
  }

  fileprivate static func checkAttribute(_ attribute: AttributeName) throws(StoreError) {
    if attribute != .id { try check(attribute.text, "the name of an attribute", attributeNameLength) }
  }

  static func checkIndex(on attribute: AttributeName) throws(StoreError) {
    if attribute == .id { throw StoreError(.badValue, "the id needs no index") }
    try checkAttribute(attribute)
  }

  static func checkEvent(_ name: String, _ payload: StoredValue) throws(StoreError) {
    try check(name, "the name of an event", eventNameLength)
    guard payload.byteCount <= valueBytes else {
      throw StoreError(
        .badValue, "the payload of an event can have at most \(valueBytes) bytes, not \(payload.byteCount)")
    }
    if case .real(let real) = payload, real.isNaN { throw StoreError(.badValue, "NaN cannot be stored") }
  }

  static func checkConsumer(_ name: String) throws(StoreError) {
    try check(name, "the name of a consumer", consumerNameLength)
  }

  private static func check(_ text: String, _ what: String, _ length: ClosedRange<Int>) throws(StoreError) {
    // Nearly every name is short and ASCII.
    if length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return }
    let count = text.unicodeScalars.count
    if count == 0 { throw StoreError(.badValue, "\(what) cannot be empty") }
    guard length.contains(count) else {
      throw StoreError(.badValue, "\(what) can have at most \(length.upperBound) characters, not \(count)")
    }
    if let control = text.unicodeScalars.first(where: { $0.properties.generalCategory == .control }) {
      let code = String(control.value, radix: 16, uppercase: true)
      let padding = String(repeating: "0", count: max(0, 4 - code.count))
      throw StoreError(.badValue, "\(what) cannot contain control characters (U+\(padding)\(code))")
    }
  }
}

extension AttributeName {
  /// Whether a write stores attributes with this name.
  package var isAccepted: Bool { StoredValue.null.isAccepted(for: self) || self == .name }
}

extension StoredValue {
  /// Whether a write stores this value of an attribute, and stores it as it is.
  package func isAccepted(for attribute: AttributeName) -> Bool { (try? Limits.checked(self, for: attribute)) == self }

  /// A short text in quotes, without control characters, which a terminal could interpret.
  package var forMessages: String {
    switch self {
    case .null: return "not set"
    case .integer(let integer): return String(integer)
    case .real(let real): return String(real)
    case .text(let text):
      return "“" + text.excerpt.unicodeScalars.map { $0.isSafeInMessages ? String($0) : "\u{FFFD}" }.joined() + "”"
    case .blob(let bytes): return "\(bytes.count) bytes"
    case .invalidText: return "text that is not valid UTF-8"
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isSafeInMessages: Bool {
    ![.control, .format, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}

extension AttributeName {
  /// - Throws: `StoreError.Code.badValue` if no attribute can have this name.
  package func check() throws(StoreError) { try Limits.checkAttribute(self) }
}

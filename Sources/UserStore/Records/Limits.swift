/// What the store takes, and refuses before SQLite sees it.
enum Limits {
  /// Unicode scalars of a user's name.
  static let nameLength = 1...1_000
  /// Unicode scalars of an attribute's name.
  static let attributeNameLength = 1...200
  /// Ids that may be chosen: with the largest number of all SQLite would give no new one any more.
  ///
  /// Other programs can store zero and less; an export with such ids can be imported again.
  static let ids: ClosedRange<Int64> = .min...1 << 62
  /// Unicode scalars of a consumer's name.
  static let consumerNameLength = 1...200
  /// Bytes of one value: 16 MiB.
  static let valueBytes = 1 << 24

  /// The value as it is stored, if the attribute may have it.
  ///
  /// - Throws: `StoreError.Code.badValue`.
  static func checked(_ value: StoredValue, for attribute: AttributeName) throws(StoreError) -> StoredValue {
    try checkAttribute(attribute)
    guard value.byteCount <= valueBytes else {
      throw StoreError(.badValue, "the \(attribute) has \(value.byteCount) bytes; at most \(valueBytes) are possible")
    }
    switch (attribute, value) {
    case (.name, .text(let name)): try check(name, "a name", nameLength)
    case (.name, .null): throw StoreError(.badValue, "a name cannot be taken away")
    case (.name, _): throw StoreError(.badValue, "a name is text")
    case (.hairColor, .null): break
    case (.hairColor, _):
      guard let color = Color(storedValue: value) else {
        throw StoreError(.badValue, "\(value.forMessages) is not a colour; #rrggbb is")
      }
      return color.storedValue
    case (_, .real(let real)) where real.isNaN: throw StoreError(.badValue, "not-a-number cannot be stored")
    case (_, .real(let real)) where real == 0: return .real(0)  // SQL cannot tell −0.0 from it
    case (_, .invalidText): throw StoreError(.badValue, "the \(attribute) is not valid UTF-8")
    default: break
    }
    return value
  }

  /// All values of a record, each attribute once.
  ///
  /// - Throws: `StoreError.Code.badValue`.
  static func checked(
    _ values: [(attribute: AttributeName, value: StoredValue)]
  ) throws(StoreError) -> [(attribute: AttributeName, value: StoredValue)] {
    var checked: [(attribute: AttributeName, value: StoredValue)] = []
    var known: Set<AttributeName> = []
    for (attribute, value) in values {
      checked.append((attribute, try self.checked(value, for: attribute)))
      guard known.insert(attribute).inserted else {
        throw StoreError(.badValue, "\(StoredValue.text(attribute.text).forMessages) is given twice")
      }
    }
    return checked
  }

  /// - Throws: `StoreError.Code.badValue`.
  static func checkConsumer(_ name: String) throws(StoreError) {
    try check(name, "the name of a consumer", consumerNameLength)
  }

  private static func checkAttribute(_ name: AttributeName) throws(StoreError) {
    if name == "id" { throw StoreError(.badValue, "the id of a user never changes") }
    try check(name.text, "the name of an attribute", attributeNameLength)
  }

  private static func check(_ text: String, _ what: String, _ length: ClosedRange<Int>) throws(StoreError) {
    // Almost every name is short and plain.
    if length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return }
    let count = text.unicodeScalars.count
    guard length.contains(count) else {
      throw StoreError(
        .badValue,
        count == 0
          ? "\(what) cannot be empty" : "\(what) has at most \(length.upperBound) characters, this one has \(count)")
    }
    if let control = text.unicodeScalars.first(where: { $0.properties.generalCategory == .control }) {
      let code = String(control.value, radix: 16, uppercase: true)
      throw StoreError(
        .badValue,
        "\(what) cannot hold control characters (here U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code))"
      )
    }
  }
}

extension StoredValue {
  /// Short, quoted, and without anything that a terminal would obey.
  var forMessages: String {
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

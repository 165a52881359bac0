/// A JSON value of a token or of a file with keys.
///
/// It is read strictly (RFC 8259), and a member that is given twice is a mistake. Other readers take the first one, or the last one: a
/// program could then check one value, and the server could use another.
enum StrictJSON: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number that is not written as a 64-bit integer.
  case real(Double)
  case text(String)
  case list([StrictJSON])
  case object([String: StrictJSON])

  struct Mistake: Error {
    let reason: String
  }

  /// Reads a JSON text.
  ///
  /// Throws for invalid JSON, a repeated member, and nesting that is deeper than 16.
  init(_ bytes: [UInt8]) throws(Mistake) {
    if String(validating: bytes, as: UTF8.self) == nil { throw Mistake(reason: "it is not UTF-8") }
    var reader = JSONReader(bytes)
    self = try reader.text()
  }

  /// The members of an object.
  ///
  /// Throws for any other value.
  static func members(_ bytes: [UInt8]) throws(Mistake) -> [String: StrictJSON] {
    guard case .object(let members) = try StrictJSON(bytes) else { throw Mistake(reason: "it is not an object") }
    return members
  }

  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }

  /// The elements of a list of texts; nil for any other value.
  var texts: [String]? {
    guard case .list(let elements) = self else { return nil }
    let texts = elements.compactMap(\.text)
    return texts.count == elements.count ? texts : nil
  }
}

/// Reads the bytes of a JSON text, which are valid UTF-8.
private struct JSONReader {
  typealias Mistake = StrictJSON.Mistake

  private static let deepest = 16

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func text() throws(Mistake) -> StrictJSON {
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    if position < bytes.count { throw mistake("something follows its end") }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func mistake(_ reason: String) -> Mistake { Mistake(reason: "\(reason) (byte \(position + 1))") }

  private mutating func skipSpace() {
    while let next, [0x20, 0x09, 0x0A, 0x0D].contains(next) { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Mistake) -> StrictJSON {
    switch next {
    case UInt8(ascii: "{"): return .object(try members(depth: try deeper(depth)))
    case UInt8(ascii: "["): return .list(try elements(depth: try deeper(depth)))
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private func deeper(_ depth: Int) throws(Mistake) -> Int {
    if depth == Self.deepest { throw mistake("it is nested too deeply") }
    return depth + 1
  }

  private mutating func word(_ word: String, _ value: StrictJSON) throws(Mistake) -> StrictJSON {
    guard bytes[position...].starts(with: word.utf8) else { throw mistake("a value is expected") }
    position += word.utf8.count
    return value
  }

  // MARK: Lists and objects

  private mutating func elements(depth: Int) throws(Mistake) -> [StrictJSON] {
    var elements: [StrictJSON] = []
    try items(until: "]") { reader throws(Mistake) in elements.append(try reader.value(depth: depth)) }
    return elements
  }

  private mutating func members(depth: Int) throws(Mistake) -> [String: StrictJSON] {
    var members: [String: StrictJSON] = [:]
    try items(until: "}") { reader throws(Mistake) in
      guard reader.next == UInt8(ascii: "\"") else { throw reader.mistake("the name of a member is expected") }
      let name = try reader.string()
      reader.skipSpace()
      guard reader.take(":") else { throw reader.mistake("a colon is expected") }
      reader.skipSpace()
      let value = try reader.value(depth: depth)
      if members.updateValue(value, forKey: name) != nil { throw reader.mistake("\"\(name.excerpt)\" is given twice") }
    }
    return members
  }

  /// Reads what is between two brackets, of which the first one is next; `item` reads one item.
  private mutating func items(
    until end: Unicode.Scalar, _ item: (inout JSONReader) throws(Mistake) -> Void
  ) throws(Mistake) {
    position += 1
    skipSpace()
    if take(end) { return }
    while true {
      try item(&self)
      skipSpace()
      if take(end) { return }
      guard take(",") else { throw mistake("a comma or \(end) is expected") }
      skipSpace()
    }
  }

  // MARK: Numbers

  private mutating func number() throws(Mistake) -> StrictJSON {
    let start = position
    _ = take("-")
    let isZero = next == UInt8(ascii: "0")
    let digits = skipDigits()
    if digits == 0 || (isZero && digits > 1) { throw mistake("a value is expected") }
    var isInteger = true
    if take(".") {
      isInteger = false
      if skipDigits() == 0 { throw mistake("a digit is expected") }
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("+") { _ = take("-") }
      if skipDigits() == 0 { throw mistake("a digit is expected") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    return .real(Double(text) ?? .infinity)
  }

  /// Skips digits; returns how many there were.
  private mutating func skipDigits() -> Int {
    let start = position
    while let next, (0x30...0x39).contains(next) { position += 1 }
    return position - start
  }

  // MARK: Strings

  private mutating func string() throws(Mistake) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += String(Character(try escaped())).utf8
      case 0..<0x20: throw mistake("a string has a control character")
      default: text.append(byte)
      }
    }
    throw mistake("a string has no end")
  }

  private mutating func escaped() throws(Mistake) -> Unicode.Scalar {
    guard let byte = next else { throw mistake("a string has no end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try codePoint()
    default: throw mistake("a string has an unknown escape")
    }
  }

  /// Reads the digits after `\u`, and the second half of a pair of surrogates.
  private mutating func codePoint() throws(Mistake) -> Unicode.Scalar {
    let first = try hexadecimal()
    guard (0xD800..<0xDC00).contains(first) else {
      guard let scalar = Unicode.Scalar(first) else { throw mistake("a string has half a character") }
      return scalar
    }
    guard take("\\"), take("u") else { throw mistake("a string has half a character") }
    let second = try hexadecimal()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw mistake("a string has half a character") }
    return scalar
  }

  private mutating func hexadecimal() throws(Mistake) -> UInt32 {
    let digits = bytes[position...].prefix(4)
    // A sign is no digit.
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw mistake("four hexadecimal digits are expected") }
    position += 4
    return value
  }
}

extension String {
  /// The text's beginning, made safe to show, for messages about texts of strangers.
  var excerpt: String {
    let beginning = String(String.UnicodeScalarView(unicodeScalars.prefix(80)))
    return beginning.shown + (beginning.unicodeScalars.count < unicodeScalars.count ? "…" : "")
  }
}

/// Reads JSON, strictly as in RFC 8259.
///
/// A record is an object of plain values, or one whose members are such objects. A list or a further nested object in it is
/// rejected where it starts, so that deep nesting costs nothing. `value(in:)` reads any value, nested up to a limit.
package struct JSONScanner {
  package struct Mistake: Error {
    package let offset: Int
    package let reason: String
  }

  /// The origin of the bytes, which messages name.
  package enum Source: String, Sendable {
    /// A line without its end.
    case line
    /// A whole text, in which line feeds are white space.
    case text
  }

  /// The members of an object; a value is marked if it is `{"text_base64":"…"}`.
  package typealias Members = [(name: String, value: StoredValue, isMarked: Bool)]

  private let bytes: ArraySlice<UInt8>
  private let source: Source
  private var position: Int

  package init(_ bytes: ArraySlice<UInt8>, in source: Source = .line) {
    self.bytes = bytes
    self.source = source
    position = bytes.startIndex
  }

  package mutating func record() throws(Mistake) -> Members {
    skipSpace()
    let members = try members()
    try end()
    return members
  }

  /// The members of an object; each must be a record with one of the names.
  package mutating func records(named names: [String]) throws(Mistake) -> [(name: String, members: Members)] {
    let example = names.first.map { "{\"\($0)\": {…}}" } ?? "{}"
    skipSpace()
    guard next == UInt8(ascii: "{") else { throw mistake("expected an object: \(example)") }
    var records: [(name: String, members: Members)] = []
    try object { scanner, name, start throws(Mistake) in
      guard names.contains(where: { $0.hasSameBytes(as: name) }) else {
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        throw scanner.mistake("\"\(name.excerpt)\" is none of the members \(list)", at: start)
      }
      if records.contains(where: { $0.name == name }) {
        throw scanner.mistake("\"\(name)\" is given twice", at: start)
      }
      records.append((name, try scanner.members()))
    }
    try end()
    return records
  }

  private mutating func members() throws(Mistake) -> Members {
    guard next == UInt8(ascii: "{") else { throw mistake("a record must be an object: {\"name\": …}") }
    var members: Members = []
    try object { scanner, name, _ throws(Mistake) in
      let (value, isMarked) = try scanner.value()
      members.append((name, value, isMarked))
    }
    return members
  }

  /// The value of `{"base64":"…"}`, or the marked value of `{"text_base64":"…"}`; nil for any other text.
  package static func data(in text: String) -> (value: StoredValue, isMarked: Bool)? {
    var scanner = JSONScanner(Array(text.utf8)[...])
    do throws(Mistake) {
      let value = try scanner.data()
      try scanner.end()
      return value
    } catch {
      return nil
    }
  }

  // MARK: Values

  private mutating func value() throws(Mistake) -> (value: StoredValue, isMarked: Bool) {
    next == UInt8(ascii: "{") ? try data() : (try plainValue(), false)
  }

  private mutating func plainValue() throws(Mistake) -> StoredValue {
    switch next {
    case UInt8(ascii: "\""): .text(try string())
    case UInt8(ascii: "["): throw mistake("a value cannot be a list")
    case UInt8(ascii: "t"): try word("true", .integer(1))
    case UInt8(ascii: "f"): try word("false", .integer(0))
    case UInt8(ascii: "n"): try word("null", .null)
    case .some(let byte) where Self.numberLetters.contains(byte): try number()
    default: throw mistake("expected a value")
    }
  }

  /// Reads an object for data, the only object that is a value.
  private mutating func data() throws(Mistake) -> (value: StoredValue, isMarked: Bool) {
    let refusal = mistake("a value can be an object only for data: {\"base64\": \"…\"}")
    var value: (value: StoredValue, isMarked: Bool)?
    try object { scanner, name, _ throws(Mistake) in
      guard value == nil, ["base64", "text_base64"].contains(name), scanner.next == UInt8(ascii: "\"") else {
        throw refusal
      }
      let place = scanner
      guard let data = Base64.decode(try scanner.string()) else { throw place.mistake("this is not base64") }
      value = name == "base64" ? (.blob(data), false) : (.text(ofBytes: data), true)
    }
    guard let value else { throw refusal }
    return value
  }

  private mutating func word<Value>(_ word: String, _ value: Value) throws(Mistake) -> Value {
    guard bytes[position...].starts(with: word.utf8) else { throw mistake("expected a value") }
    position += word.utf8.count
    return value
  }

  private mutating func number() throws(Mistake) -> StoredValue {
    let start = self
    let end = bytes[position...].firstIndex { !Self.numberLetters.contains($0) } ?? bytes.endIndex
    let text = String(decoding: bytes[position..<end], as: UTF8.self)
    position = end
    guard JSON.isNumber(text) else { throw start.mistake("\(text.prefix(40)) is not a number") }
    if JSON.isInteger(text) {
      if let integer = Int64(text) { return .integer(integer) }
      throw start.mistake("\(text.prefix(40)) does not fit into 64 bits")
    }
    // Infinity has one spelling: any other number would be changed.
    if let real = Double(text), real.isFinite || ["1e999", "-1e999"].contains(text) { return .real(real) }
    throw start.mistake("\(text.prefix(40)) is too large for a real number; 1e999 and -1e999 are infinite")
  }

  private static let numberLetters = Set("+-.0123456789Ee".utf8)

  // MARK: Any value

  /// The value of a text; nil if the text is not JSON, or is nested more than `Limits.jsonDepth` times.
  ///
  /// Numbers that the library does not write are rounded to real ones, as by nearly every parser.
  package static func value(in text: String) -> JSON? {
    var scanner = JSONScanner(Array(text.utf8)[...], in: .text)
    scanner.skipSpace()
    do throws(Mistake) {
      let value = try scanner.json(depth: 0)
      try scanner.end()
      return value
    } catch {
      return nil
    }
  }

  private mutating func json(depth: Int) throws(Mistake) -> JSON {
    switch next {
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth < Limits.jsonDepth else { throw mistake("the values are nested too deeply") }
      return try next == UInt8(ascii: "{") ? object(depth: depth + 1) : list(depth: depth + 1)
    default: return try jsonNumber()
    }
  }

  private mutating func object(depth: Int) throws(Mistake) -> JSON {
    var members: [(name: String, value: JSON)] = []
    try object { scanner, name, _ throws(Mistake) in members.append((name, try scanner.json(depth: depth))) }
    return .object(members)
  }

  private mutating func list(depth: Int) throws(Mistake) -> JSON {
    var values: [JSON] = []
    position += 1
    skipSpace()
    if take("]") { return .list(values) }
    while true {
      values.append(try json(depth: depth))
      skipSpace()
      if take("]") { return .list(values) }
      guard take(",") else { throw mistake("expected a comma or ]") }
      skipSpace()
    }
  }

  private mutating func jsonNumber() throws(Mistake) -> JSON {
    let end = bytes[position...].firstIndex { !Self.numberLetters.contains($0) } ?? bytes.endIndex
    let text = String(decoding: bytes[position..<end], as: UTF8.self)
    guard JSON.isNumber(text), let real = Double(text) else { throw mistake("expected a value") }
    position = end
    return JSON.isInteger(text) ? Int64(text).map { .integer($0) } ?? .real(real) : .real(real)
  }

  // MARK: Structure

  /// Reads an object; `member` receives each member's name and position, and reads its value.
  private mutating func object(
    _ member: (inout JSONScanner, _ name: String, _ start: Int) throws(Mistake) -> Void
  ) throws(Mistake) {
    position += 1
    skipSpace()
    if take("}") { return }
    while true {
      guard next == UInt8(ascii: "\"") else { throw mistake("expected the name of a member, in quotes") }
      let start = position
      let name = try string()
      skipSpace()
      guard take(":") else { throw mistake("expected a colon") }
      skipSpace()
      try member(&self, name, start)
      skipSpace()
      if take("}") { return }
      guard take(",") else { throw mistake("expected a comma or }") }
      skipSpace()
    }
  }

  private mutating func end() throws(Mistake) {
    skipSpace()
    if next != nil { throw mistake("unexpected text after the record") }
  }

  private var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: letter) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A && source == .text {
      position += 1
    }
  }

  private func mistake(_ reason: String, at place: Int? = nil) -> Mistake {
    let place = place ?? position
    let isAtEnd = place == bytes.endIndex
    return Mistake(
      offset: place - bytes.startIndex,
      reason: isAtEnd ? "the \(source.rawValue) ends in the middle of a record" : reason)
  }

  // MARK: Strings

  private mutating func string() throws(Mistake) -> String {
    let start = self
    position += 1
    guard let end = bytes[position...].firstIndex(where: Self.isSpecial) else {
      position = bytes.endIndex
      throw mistake("")
    }
    if bytes[end] == UInt8(ascii: "\"") {
      defer { position = end + 1 }
      return try start.text(bytes[position..<end])
    }
    return try start.text(escapedBytes()[...])
  }

  private mutating func escapedBytes() throws(Mistake) -> [UInt8] {
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return text
      case UInt8(ascii: "\\"): text += try escape()
      case 0..<0x20: throw mistake("a control character in a string must be escaped")
      default:
        let end = bytes[position...].firstIndex(where: Self.isSpecial) ?? bytes.endIndex
        text += bytes[position..<end]
        position = end
      }
    }
    throw mistake("")
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escape() throws(Mistake) -> [UInt8] {
    let start = self
    position += 1
    guard let letter = next else { throw mistake("") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try scalar(from: start)
    default: throw start.mistake("JSON has no such escape")
    }
  }

  /// Reads the digits after `\u`: one UTF-16 code unit, or a surrogate pair.
  private mutating func scalar(from start: JSONScanner) throws(Mistake) -> [UInt8] {
    let unit = try codeUnit()
    if let scalar = Unicode.Scalar(unit) { return Array(String(scalar).utf8) }
    guard unit < 0xDC00, take("\\"), take("u") else { throw start.mistake("unpaired surrogate") }
    let second = try codeUnit()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + UInt32(second) - 0xDC00)
    else { throw start.mistake("unpaired surrogate") }
    return Array(String(scalar).utf8)
  }

  private mutating func codeUnit() throws(Mistake) -> UInt16 {
    let digits = bytes[position...].prefix(4)
    let length = digits.prefix { Self.hexDigits.contains($0) }.count
    position += length
    guard length == 4, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw mistake("expected four hexadecimal digits")
    }
    return unit
  }

  private static let hexDigits = Set("0123456789abcdefABCDEF".utf8)

  private func text(_ bytes: ArraySlice<UInt8>) throws(Mistake) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw mistake("this is not valid UTF-8") }
    return text
  }
}

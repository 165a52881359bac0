package import UserStore

/// The notation of values.
package enum TypedText {
  /// Reads a value: a JSON number, true and false as numbers, `{"base64":"…"}` as data, and anything else as text.
  ///
  /// - Throws: `TextError` for an integer beyond 64 bits, for a real number beyond `Double` other than `1e999` and `-1e999`,
  ///   which are infinite, and for invalid base64.
  package static func value(of text: String) throws(TextError) -> StoredValue {
    switch text {
    case "true": return .integer(1)
    case "false": return .integer(0)
    default: break
    }
    if let data = try data(in: text) { return .blob(data) }
    guard isNumber(text) else { return .text(text) }
    if isInteger(text) {
      guard let integer = Int64(text) else {
        throw TextError(
          .value, "\(text) does not fit into 64 bits",
          hint: "k:=\(text) stores it as text, k=\(text).0 as a real number")
      }
      return .integer(integer)
    }
    guard let real = Double(text) else { return .text(text) }
    // Any other number beyond the range would be changed to infinity.
    if real.isInfinite, !["1e999", "-1e999"].contains(text) {
      throw TextError(
        .value, "\(text) is too large for a real number",
        hint: "k:=\(text) stores it as text; 1e999 and -1e999 are infinite")
    }
    return .real(real)
  }

  /// Whether a number has neither a fraction nor an exponent.
  static func isInteger(_ text: String) -> Bool {
    isNumber(text) && !text.utf8.contains { ".eE".utf8.contains($0) }
  }

  /// Reads a value in the type of an attribute; `isText` says whether it is marked as text.
  ///
  /// - Throws: `TextError` for an unknown color, and the errors of `value(of:)`.
  package static func value(
    of text: String, for attribute: AttributeName, isText: Bool
  ) throws(TextError) -> StoredValue {
    switch attribute {
    case .name: .text(text)
    case .hairColor: try ColorText.color(text).storedValue
    default: isText ? .text(text) : try value(of: text)
    }
  }

  /// Whether the text is a number in RFC 8259: no leading zeros, no plus sign, digits on both sides of the point.
  package static func isNumber(_ text: String) -> Bool {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let whole = takeDigits(&rest)
    guard whole == 1 || whole > 1 && !text.utf8.drop(while: { $0 == UInt8(ascii: "-") }).starts(with: "0".utf8) else {
      return false
    }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard takeDigits(&rest) > 0 else { return false }
    }
    if let letter = rest.first, "eE".utf8.contains(letter) {
      rest.removeFirst()
      if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
      guard takeDigits(&rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func takeDigits(_ rest: inout Substring.UTF8View) -> Int {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    rest.removeFirst(digits)
    return digits
  }

  private static func data(in text: String) throws(TextError) -> [UInt8]? {
    guard text.first(where: { !$0.isWhitespace }) == "{" else { return nil }
    let compact = text.filter { !$0.isWhitespace }
    guard compact.hasPrefix("{\"base64\":\""), compact.hasSuffix("\"}") else { return nil }
    guard let bytes = Base64.decode(String(compact.dropFirst(11).dropLast(2))) else {
      throw TextError(.value, "this is not base64: \(text.excerpt)", hint: "k:=TEXT stores any text unchanged")
    }
    return bytes
  }
}

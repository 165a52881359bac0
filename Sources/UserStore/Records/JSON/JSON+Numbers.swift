extension JSON {
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

  /// Whether a number has neither a fraction nor an exponent.
  package static func isInteger(_ text: String) -> Bool {
    isNumber(text) && !text.utf8.contains { ".eE".utf8.contains($0) }
  }
}

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
    guard JSON.isNumber(text) else { return .text(text) }
    if JSON.isInteger(text) {
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

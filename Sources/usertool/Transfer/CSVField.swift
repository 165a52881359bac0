import UserStore

/// How values of all types survive in the fields of CSV.
///
/// As on the command line: what reads as a JSON number, true or false is a number; `{"base64":"…"}` is data; all else is
/// text, and `:=` before a text says that it is one, whatever it looks like (`:=007`, `:=41`, or `:=` for an empty one).
/// An empty field is an attribute that is not set. A name is always text.
///
/// Telling them apart by the quotes around a field was the other way; every spreadsheet drops those.
enum CSVField {
  private static let textMark = ":="

  static func encode(_ value: StoredValue, of attribute: AttributeName) -> [UInt8] {
    switch value {
    case .text(let text): Array(((isAmbiguous(text, attribute) ? textMark : "") + text).utf8)
    case .invalidText: value.losslessJSON.bytes
    default: Array(value.bare.utf8)
    }
  }

  /// - Throws: `Failure` for a number that would not be kept as it is, and for base64 that is none.
  static func decode(_ text: String, of attribute: AttributeName) throws(Failure) -> StoredValue {
    if text.isEmpty { return .null }
    if text.utf8.starts(with: textMark.utf8) { return .text(text.droppingBytes(textMark.utf8.count)) }
    if text.utf8.first == UInt8(ascii: "{"), let value = JSONScanner.data(in: text) {
      if attribute != .name { return value }
      if case .blob = value { return .text(text) }
      return value
    }
    return attribute == .name || attribute == .hairColor ? .text(text) : try TypedText.value(of: text)
  }

  /// Whether a text would be read as something else.
  private static func isAmbiguous(_ text: String, _ attribute: AttributeName) -> Bool {
    // Most text begins with a letter that begins nothing else.
    guard let first = text.utf8.first else { return true }
    let isSuspect = first < 0x41 || first >= 0x80 || "tf{".utf8.contains(first)
    return isSuspect && (try? decode(text, of: attribute)) != .text(text)
  }
}

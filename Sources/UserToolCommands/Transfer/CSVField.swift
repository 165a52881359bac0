import UserStore
import UserStoreText

/// The notation of values in CSV fields, which preserves all types.
///
/// It is that of the command line: a JSON number, true and false are numbers; `{"base64":"…"}` is data; anything else is
/// text. `:=` before a text marks it as text, whatever it looks like (`:=007`, `:=41`, or `:=` for an empty text). An empty
/// field is an attribute that is not set. A name is always text.
///
/// Quotes around a field could not mark text, because spreadsheets drop them.
enum CSVField {
  private static let textMark = ":="

  static func encode(_ value: StoredValue, of attribute: AttributeName) -> [UInt8] {
    switch value {
    case .text(let text): Array(((isAmbiguous(text, attribute) ? textMark : "") + text).utf8)
    case .invalidText: value.losslessJSON.bytes
    default: Array(value.bare.utf8)
    }
  }

  /// Reads a field; throws for an integer that does not fit into 64 bits, and for invalid base64.
  static func decode(_ text: String, of attribute: AttributeName) throws(TextError) -> StoredValue {
    if text.isEmpty { return .null }
    if text.utf8.starts(with: textMark.utf8) { return .text(text.droppingBytes(textMark.utf8.count)) }
    if text.utf8.first == UInt8(ascii: "{"), let value = JSONScanner.data(in: text) {
      if attribute != .name { return value }
      if case .blob = value { return .text(text) }
      return value
    }
    return attribute == .name || attribute == .hairColor ? .text(text) : try TypedText.value(of: text)
  }

  /// Whether a text would be read as another value.
  private static func isAmbiguous(_ text: String, _ attribute: AttributeName) -> Bool {
    // Most text starts with a letter with which no other value starts.
    guard let first = text.utf8.first else { return true }
    let isSuspect = first < 0x41 || first >= 0x80 || "tf{".utf8.contains(first)
    return isSuspect && (try? decode(text, of: attribute)) != .text(text)
  }
}

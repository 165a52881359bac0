import UserStore
import UserStoreText

/// The notation of values in CSV fields, which preserves all types.
///
/// A field is a number only if the number would be written exactly so: `01067`, `12e5` and `1.50` are text. Surrounding white
/// space does not count. `{"base64":"…"}` is data; anything else is text. `:=` marks the rest as text (`:=41`, or `:=` for an
/// empty text), which is stored even as a name or a color that a write would refuse. An empty field is an attribute that is not
/// set. A name is always text.
///
/// Quotes could not mark text, because spreadsheets drop them.
enum CSVField {
  private static let textMark = ":="

  static func encode(_ value: StoredValue, of attribute: AttributeName) -> [UInt8] {
    switch value {
    case .text(let text): Array(((needsMark(text, attribute) ? textMark : "") + text).utf8)
    case .invalidText: value.jsonValue.bytes
    // Other programs can store −0.0, which SQL cannot distinguish from 0.0.
    case .real(0): Array("0.0".utf8)
    default: Array(value.bare.utf8)
    }
  }

  static func decode(_ text: String, of attribute: AttributeName) throws(TextError) -> RecordContent.Field {
    if text.isEmpty { return .init(attribute, .null) }
    if let marked = marked(text, of: attribute) { return marked }
    switch attribute {
    case .name: return .init(attribute, .text(text))
    case .hairColor: return .init(attribute, .text(text.trimmed))
    default: return .init(attribute, try plainValue(text))
    }
  }

  static func marked(_ text: String, of attribute: AttributeName) -> RecordContent.Field? {
    if text.utf8.starts(with: textMark.utf8) {
      return .init(attribute, .text(text.droppingBytes(textMark.utf8.count)), isVerbatim: true)
    }
    guard text.utf8.first == UInt8(ascii: "{"), let data = JSONScanner.data(in: text) else { return nil }
    if attribute == .name, !data.isMarked { return nil }
    return .init(attribute, data.value, isVerbatim: data.isMarked)
  }

  private static func plainValue(_ text: String) throws(TextError) -> StoredValue {
    guard mayBeAnotherValue(text) else { return .text(text) }
    let trimmed = text.trimmed
    // For data with a mistake, this throws the error of the command line's notation.
    if trimmed.utf8.first == UInt8(ascii: "{") { return try TypedText.value(of: text) }
    guard JSON.isNumber(trimmed), let number = try? TypedText.value(of: trimmed) else { return .text(text) }
    // A store has no −0.0.
    let stored = number == .real(0) ? .real(0) : number
    return stored.bare == trimmed ? stored : .text(text)
  }

  private static func needsMark(_ text: String, _ attribute: AttributeName) -> Bool {
    if text.isEmpty { return true }
    if AttributeName.builtIn.contains(attribute), !StoredValue.text(text).isAccepted(for: attribute) { return true }
    guard mayBeAnotherValue(text) else { return false }
    guard let field = try? decode(text, of: attribute) else { return true }
    return field.isVerbatim || field.value != .text(text)
  }

  /// Whether a field may be more than plain text; most start with a letter, which no other value does.
  private static func mayBeAnotherValue(_ text: String) -> Bool {
    text.utf8.first.map { $0 < 0x41 || $0 >= 0x80 || $0 == UInt8(ascii: "{") } ?? true
  }
}

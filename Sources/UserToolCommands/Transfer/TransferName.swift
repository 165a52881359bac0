import UserStore
import UserStoreText

/// The notation of attributes' names in exports.
///
/// `:=` before a name marks it as exact, and as one that another program may have stored, even if a write would refuse it.
enum TransferName {
  private static let mark = ":="

  static func encode(_ name: AttributeName, _ format: TransferFormat) -> String {
    let (read, isVerbatim) = decode(name.text, format)
    return !isVerbatim && read == name && name.isAccepted ? name.text : mark + name.text
  }

  /// Reads the name of a member or a column, and whether it is marked.
  ///
  /// In CSV, white space around it does not count, and in the names that each user has, neither does the case.
  static func decode(_ text: String, _ format: TransferFormat) -> (name: AttributeName, isVerbatim: Bool) {
    if text.utf8.starts(with: mark.utf8) { return (AttributeName(text.droppingBytes(mark.utf8.count)), true) }
    if format == .jsonl { return (AttributeName(typed: text), false) }
    let trimmed = text.trimmed
    let folded = trimmed.lowercased().replacing(" ", with: "_")
    let known = ["id": "id", "name": AttributeName.name, "hair_color": .hairColor, "hair-color": .hairColor]
    return (known[folded] ?? AttributeName(trimmed), false)
  }
}

import UserStore
import UserStoreText

/// What the fields of a column of CSV look like whose type was not given.
struct ColumnTally {
  /// The first number, and the first text that looks like a number but would lose its spelling.
  private var number: String?
  private var text: String?
  /// The types that all fields have.
  private var types: [CSVType] = [.real, .decimalComma]

  /// Notes a field, and the value that it is without a type.
  mutating func note(_ field: String, _ value: StoredValue) {
    if field.isEmpty { return }
    switch value {
    case .integer, .real: if number == nil { number = value.bare }
    case .text: if text == nil, Self.looksLikeNumber(field) { text = field.trimmed }
    default: break
    }
    types.removeAll { $0.match(field) == nil }
  }

  /// A line for the user about a column that has both, which is hardly what was meant.
  func note(on title: String) -> String? {
    guard let number, let text else { return nil }
    // A fraction is of a number; other digits may be a code.
    let type = text.contains { ",.".contains($0) } ? types.first : nil
    let option = type.map { "--type " + "\(title)=\($0.rawValue)".shellWord() } ?? "--text " + title.shellWord()
    let reason = "text that as a number would be written in another way (\(text.limited(to: 40)))"
    return "note: the column \"\(title)\" has numbers (\(number)), and \(reason); \(option) stores all as "
      + (type == nil ? "text" : "numbers")
  }

  private static func looksLikeNumber(_ text: String) -> Bool {
    guard let first = text.utf8.first, first < 0x3A else { return false }
    return CSVType.real.match(text) != nil || CSVType.decimalComma.match(text) != nil
  }
}

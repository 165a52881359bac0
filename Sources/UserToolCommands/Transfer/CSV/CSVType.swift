import ArgumentParser
import UserStore
import UserStoreText

/// The type of a column of CSV that the user has named.
enum CSVType: String, CaseIterable, ExpressibleByArgument {
  case text, integer, real, boolean
  /// A real number with a comma before its fraction, and optionally points between groups of three digits.
  case decimalComma = "decimal-comma"

  /// The value of a field that is not empty; throws if the field is of another type.
  func value(of field: String) throws(TextError) -> StoredValue {
    if let value = match(field) { return value }
    // The first match is the most exact.
    let other = [CSVType.integer, .real, .decimalComma].first { $0.match(field) != nil }
    let question = self == .boolean ? nil : other.map { " (but of the type \($0.rawValue))" }
    throw TextError(.value, "\"\(field.excerpt)\" is not \(name)\(question ?? "")")
  }

  func match(_ field: String) -> StoredValue? {
    let trimmed = field.trimmed
    return switch self {
    case .text: .text(field)
    case .integer: Int64(trimmed).map { .integer($0) }
    case .real: Self.real(trimmed)
    case .decimalComma: Self.decimalComma(trimmed)
    case .boolean: Self.words[trimmed.lowercased()].map { .integer($0 ? 1 : 0) }
    }
  }

  private static func real(_ text: String) -> StoredValue? {
    guard text.utf8.contains(where: isDigit), text.utf8.allSatisfy({ isDigit($0) || "+-.eE".utf8.contains($0) }),
      let real = Double(text), !real.isInfinite || ["1e999", "-1e999"].contains(text)
    else { return nil }
    return .real(real)
  }

  /// The separators of groups of three digits: a point in German and Spanish, one of three spaces in French, an
  /// apostrophe in Switzerland.
  private static let separators: [Unicode.Scalar] = [".", " ", "\u{A0}", "\u{2009}", "\u{202F}", "'", "\u{2019}"]

  private static func decimalComma(_ text: String) -> StoredValue? {
    guard let separator = separators.first(where: text.unicodeScalars.contains) else {
      return real(text.replacing(",", with: "."))
    }
    let scalars = text.unicodeScalars.map { $0 == separator ? "." : $0 == "." ? "?" : $0 }
    let points = String(String.UnicodeScalarView(scalars))
    guard points.wholeMatch(of: /[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]+)?/) != nil else { return nil }
    return real(points.replacing(".", with: "").replacing(",", with: "."))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// The words of spreadsheets in English, German and French.
  private static let words = [
    "true": true, "yes": true, "1": true, "wahr": true, "ja": true, "vrai": true, "oui": true,
    "false": false, "no": false, "0": false, "falsch": false, "nein": false, "faux": false, "non": false,
  ]

  private var name: String {
    switch self {
    case .text: "text"
    case .integer: "an integer of 64 bits"
    case .real: "a real number"
    case .boolean: "true or false, yes or no, 1 or 0"
    case .decimalComma: "a number with a decimal comma"
    }
  }
}

/// `COLUMN=X` on the command line, in which the column's name may have equals signs.
struct ColumnAssignment: ExpressibleByArgument {
  let column: String
  let value: String

  init?(argument: String) {
    guard let index = argument.unicodeScalars.lastIndex(of: "="), index > argument.startIndex else { return nil }
    column = String(argument[..<index])
    value = String(argument[argument.unicodeScalars.index(after: index)...])
    if value.isEmpty { return nil }
  }
}

/// Counts the kinds of fields in a CSV column without a given type.
struct ColumnTally {
  /// The first number, and the first text that looks like a number but would be written differently as one.
  private var number: String?
  private var text: String?
  /// The types that all fields have.
  private var types: [CSVType] = [.real, .decimalComma]

  /// Notes a field and the value that it has without a type.
  mutating func note(_ field: String, _ value: StoredValue) {
    if field.isEmpty { return }
    switch value {
    case .integer, .real: if number == nil { number = value.bare }
    case .text: if text == nil, Self.looksLikeNumber(field) { text = field.trimmed }
    default: break
    }
    types.removeAll { $0.match(field) == nil }
  }

  /// A note on a column with both, which is probably a mistake.
  func note(on title: String) -> String? {
    guard let number, let text else { return nil }
    // A fraction indicates a number; other digits may be a code.
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

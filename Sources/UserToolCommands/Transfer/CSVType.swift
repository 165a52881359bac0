import ArgumentParser
import UserStore
import UserStoreText

/// The type of a column of CSV that the user has named.
enum CSVType: String, CaseIterable, ExpressibleByArgument {
  case text, integer, real, boolean
  /// A real number with a comma before its fraction, and with points between groups of three digits, or without.
  case decimalComma = "decimal-comma"

  /// The value of a field that is not empty; throws if the field is of another type.
  func value(of field: String) throws(TextError) -> StoredValue {
    if let value = match(field) { return value }
    // The first that fits is the most exact.
    let other = [CSVType.integer, .real, .decimalComma].first { $0.match(field) != nil }
    let question = self == .boolean ? nil : other.map { " (but of the type \($0.rawValue))" }
    throw TextError(.value, "\"\(field.excerpt)\" is not \(name)\(question ?? "")")
  }

  /// The value of a field; nil if it is of another type.
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

  /// What separates groups of three digits: in German and Spanish a point, in French a space, of three kinds, in Swiss an apostrophe.
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

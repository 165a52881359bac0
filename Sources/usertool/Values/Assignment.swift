import ArgumentParser
import UserStore

/// `k=v` or `k:=TEXT` on the command line.
struct Assignment: ExpressibleByArgument {
  let attribute: AttributeName
  let text: String
  let isText: Bool

  init?(argument: String) {
    guard let (name, text) = argument.divided(at: "=") else { return nil }
    isText = name.utf8.last == UInt8(ascii: ":")
    let attribute = isText ? String(name.unicodeScalars.dropLast()) : name
    guard let attribute = AttributeName(argument: attribute) else { return nil }
    self.attribute = attribute
    self.text = text
  }

  static var defaultCompletionKind: CompletionKind { Completions.assignments }

  /// The value, of the attribute's type.
  ///
  /// - Throws: `Failure` for a colour that nobody knows, and for what `TypedText` refuses.
  func value() throws(Failure) -> StoredValue {
    switch attribute {
    case .name: .text(text)
    case .hairColor where text.isEmpty:
      throw Failure(.badData, "\"\" is not a colour", hint: "set with --unset hair_color takes it away")
    case .hairColor: try ColorText.color(text).storedValue
    default: isText ? .text(text) : try TypedText.value(of: text)
    }
  }
}

/// Colours on the command line.
enum ColorText {
  /// - Throws: `Failure` with the colour that may have been meant.
  static func color(_ text: String) throws(Failure) -> Color {
    if let color = Color(text) { return color }
    throw Failure(
      .badData, "\"\(text)\" is not a colour" + Suggestion.question(for: text, among: Color.names),
      hint: "colours are #rrggbb, or one of: " + Color.names.joined(separator: " "))
  }
}

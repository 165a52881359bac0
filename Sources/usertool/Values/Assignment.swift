import ArgumentParser
import UserStore

/// `k=v` or `k:=TEXT` on the command line.
struct Assignment: ExpressibleByArgument {
  let attribute: AttributeName
  let text: String
  let isText: Bool

  init(_ attribute: AttributeName, _ text: String, isText: Bool) {
    self.attribute = attribute
    self.text = text
    self.isText = isText
  }

  init?(argument: String) {
    guard let (name, text) = argument.splitOnce(at: "=") else { return nil }
    let isText = name.utf8.last == UInt8(ascii: ":")
    let attribute = isText ? String(name.unicodeScalars.dropLast()) : name
    guard let attribute = AttributeName(argument: attribute) else { return nil }
    self.init(attribute, text, isText: isText)
  }

  static var defaultCompletionKind: CompletionKind { Completions.assignments }

  /// The value in the attribute's type; throws for an unknown color, and for text that `TypedText` rejects.
  func value() throws(Failure) -> StoredValue {
    switch attribute {
    case .name: .text(text)
    case .hairColor where text.isEmpty:
      throw Failure(.badData, "\"\" is not a color", hint: "set --unset hair_color removes the color")
    case .hairColor: try ColorText.color(text).storedValue
    default: isText ? .text(text) : try TypedText.value(of: text)
    }
  }
}

/// Colors on the command line.
enum ColorText {
  /// The color; throws a failure that suggests a similar one.
  static func color(_ text: String) throws(Failure) -> Color {
    if let color = Color(text) { return color }
    throw Failure(
      .badData, "\"\(text)\" is not a color" + Suggestion.question(for: text, among: Color.names),
      hint: "a color is #rrggbb, or one of: " + Color.names.joined(separator: " "))
  }
}

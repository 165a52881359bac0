import ArgumentParser
import UserStore

/// `k=v` or `k:=TEXT` on the command line.
struct Assignment: ExpressibleByArgument {
  let attribute: String
  let text: String
  let isText: Bool

  init?(argument: String) {
    guard let (name, text) = argument.splitOnce(at: "=") else { return nil }
    isText = name.utf8.last == UInt8(ascii: ":")
    let attribute = isText ? String(name.unicodeScalars.dropLast()) : name
    guard !attribute.isEmpty else { return nil }
    self.attribute = AttributeName.canonical(attribute)
    self.text = text
  }

  static var defaultCompletionKind: CompletionKind { Completions.assignments }

  /// The value in the attribute's type; throws for an unknown color, and for text that `TypedText` rejects.
  func value() throws(Failure) -> StoredValue {
    switch attribute {
    case "name": .text(text)
    case "hair_color" where text.isEmpty:
      throw Failure(.badData, "\"\" is not a color", hint: "set --unset hair_color removes the color")
    case "hair_color": try ColorText.color(text).storedValue
    default: isText ? .text(text) : try TypedText.value(of: text)
    }
  }
}

/// The names of attributes on the command line.
enum AttributeName {
  static let builtIn = ["name", "hair_color"]

  /// Accepts `hair-color` as another spelling of `hair_color`.
  static func canonical(_ name: String) -> String {
    name == "hair-color" ? "hair_color" : name
  }
}

extension Sequence<String> {
  /// Whether one of the names has the same bytes, as the store compares them; `==` treats two spellings of é as equal.
  func containsBytes(of name: String) -> Bool { contains { $0.hasSameBytes(as: name) } }
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

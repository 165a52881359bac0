public import ArgumentParser
public import UserStore
import UserStoreText

/// `k=v` or `k:=TEXT` on the command line.
struct Assignment: ExpressibleByArgument {
  let attribute: AttributeName
  let text: String
  let isText: Bool

  init?(argument: String) {
    guard let (name, text) = argument.splitOnce(at: "=") else { return nil }
    let isText = name.utf8.last == UInt8(ascii: ":")
    let attribute = isText ? String(name.unicodeScalars.dropLast()) : name
    guard let attribute = AttributeName(argument: attribute) else { return nil }
    (self.attribute, self.text, self.isText) = (attribute, text, isText)
  }

  static var defaultCompletionKind: CompletionKind { Completions.assignments }

  /// The value in the attribute's type; throws for an unknown color and for text that `TypedText` rejects.
  func value() throws(TextError) -> StoredValue {
    if attribute == .hairColor, text.isEmpty {
      throw TextError(.value, "\"\" is not a color", hint: "usertool set USER --unset hair_color removes a color")
    }
    return try TypedText.value(of: text, for: attribute, isText: isText)
  }
}

/// The names of attributes on the command line.
extension AttributeName: ExpressibleByArgument {
  /// Reads a name; nil if it is empty.
  public init?(argument: String) {
    if argument.isEmpty { return nil }
    self.init(typed: argument)
  }

  /// Completes the names in the database.
  public static var defaultCompletionKind: CompletionKind { Completions.attributes }
}

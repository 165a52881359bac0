public import ArgumentParser
public import UserStore

/// The names of attributes on the command line and in files.
extension AttributeName {
  /// Reads a name; `hair-color` is an alias of `hair_color`.
  init(typed text: String) {
    self = text == "hair-color" ? .hairColor : AttributeName(text)
  }

  /// The name as a terminal may show it.
  var shown: String { text.shown }
}

extension AttributeName: ExpressibleByArgument {
  /// Reads a name that is not empty.
  public init?(argument: String) {
    if argument.isEmpty { return nil }
    self.init(typed: argument)
  }

  /// Completes the names in the database.
  public static var defaultCompletionKind: CompletionKind { Completions.attributes }
}

package import UserStore

/// The names of attributes as text.
extension AttributeName {
  /// Reads a name; `hair-color` is an alias of `hair_color`.
  package init(typed text: String) {
    self = text == "hair-color" ? .hairColor : AttributeName(text)
  }

  /// The name as a terminal may show it.
  package var shown: String { text.shown }
}

package import UserStore

extension AttributeName {
  /// Reads a name; `hair-color` is an alias of `hair_color`.
  package init(typed text: String) {
    self = text == "hair-color" ? .hairColor : AttributeName(text)
  }

  package var shown: String { text.shown }
}

import UserStoreText

extension PageToken {
  /// The text as one word of a shell.
  var word: String { text.utf8.first == UInt8(ascii: "{") ? "'\(text)'" : text }
}

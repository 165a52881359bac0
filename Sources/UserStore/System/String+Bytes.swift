extension String {
  /// Whether both are the same bytes of UTF-8, which is what SQLite compares.
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The beginning, for messages.
  ///
  /// Counted in scalars: a single character may have any number of accents.
  package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(80))) }
}

/// Dividing text where a byte stands: a sign with an accent on it is another character in Swift, and yet the sign.
extension String {
  /// What stands before and after the first such sign; nil when there is none.
  func divided(at sign: Unicode.Scalar) -> (before: String, after: String)? {
    guard let index = unicodeScalars.firstIndex(of: sign) else { return nil }
    return (String(self[..<index]), String(self[unicodeScalars.index(after: index)...]))
  }

  /// The text without its first bytes, which are ASCII.
  func droppingBytes(_ count: Int) -> String {
    String(decoding: utf8.dropFirst(count), as: UTF8.self)
  }
}

/// Splitting at scalars: in Swift a sign followed by a combining accent is another character, but here it is the sign.
extension String {
  /// The text before and after the first such sign; nil if there is none.
  func splitOnce(at sign: Unicode.Scalar) -> (before: String, after: String)? {
    guard let index = unicodeScalars.firstIndex(of: sign) else { return nil }
    return (String(self[..<index]), String(self[unicodeScalars.index(after: index)...]))
  }

  /// The text without its first bytes, which must be ASCII.
  func droppingBytes(_ count: Int) -> String {
    String(decoding: utf8.dropFirst(count), as: UTF8.self)
  }
}

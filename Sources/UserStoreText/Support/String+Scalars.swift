/// Text as scalars: to Swift, a sign followed by a combining accent is another character; here it is the sign.
extension String {
  /// The text before and after the first `sign`; nil without one.
  package func splitOnce(at sign: Unicode.Scalar) -> (before: String, after: String)? {
    guard let index = unicodeScalars.firstIndex(of: sign) else { return nil }
    return (String(self[..<index]), String(self[unicodeScalars.index(after: index)...]))
  }

  /// The text without its first bytes, which must be ASCII.
  package func droppingBytes(_ count: Int) -> String {
    String(decoding: utf8.dropFirst(count), as: UTF8.self)
  }

  /// The first scalars: a single character could have any number of accents.
  package func limited(to count: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(count))) }

  init(_ scalars: some Sequence<Unicode.Scalar>) {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    self.init(view)
  }

  package var trimmed: String {
    let scalars = unicodeScalars.drop { $0.properties.isWhitespace }
    return String(scalars.reversed().drop { $0.properties.isWhitespace }.reversed())
  }
}

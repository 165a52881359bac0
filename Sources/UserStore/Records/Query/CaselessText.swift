/// A text to find in upper and lower case.
///
/// Engines do not decide which letters are the same: each has a table of its own, or one for each language. They receive the
/// letters of the text in both cases, so that one rule holds in memory and in every database.
package struct CaselessText {
  /// The characters of the text, each in all its forms: the upper and the lower case of a letter, or the only one.
  package let characters: [[Unicode.Scalar]]

  package init(_ text: String) {
    characters = text.unicodeScalars.map { scalar in scalar.cases.map { [$0.upper, $0.lower] } ?? [scalar] }
  }

  package var lowercase: String { String(characters.compactMap(\.last)) }

  /// The letters of the text, each once, in both cases.
  package var letters: [(upper: Unicode.Scalar, lower: Unicode.Scalar)] {
    Set(characters.filter { $0.count > 1 }).map { (upper: $0[0], lower: $0[1]) }.sorted { $0.lower < $1.lower }
  }
}

extension Unicode.Scalar {
  /// The upper and the lower case of the letter if each maps only to the other; otherwise nil.
  fileprivate var cases: (upper: Unicode.Scalar, lower: Unicode.Scalar)? {
    guard let upper = properties.uppercaseMapping.only, let lower = properties.lowercaseMapping.only, upper != lower,
      self == upper || self == lower, upper.properties.lowercaseMapping.only == lower,
      lower.properties.uppercaseMapping.only == upper
    else { return nil }
    return (upper, lower)
  }
}

extension String {
  /// The scalar of a text that has only one.
  fileprivate var only: Unicode.Scalar? { unicodeScalars.count == 1 ? unicodeScalars.first : nil }

  fileprivate init(_ scalars: [Unicode.Scalar]) {
    self.init(String.UnicodeScalarView(scalars))
  }
}

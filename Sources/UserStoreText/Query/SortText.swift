package import UserStore

/// A sort key as text: `age`, `age:asc`, or `age:desc`.
///
/// Only the last `:asc` or `:desc` counts, so a name may end in one: `x:desc:asc`.
package struct SortText: Sendable {
  let text: String
  private let notation: QueryNotation

  package init(_ text: String, _ notation: QueryNotation) {
    self.text = text
    self.notation = notation
  }

  /// The key, which in ascending order puts users without the attribute last; throws for an unknown direction.
  package func key() throws(TextError) -> SortKey {
    guard let colon = text.unicodeScalars.lastIndex(of: ":") else { return try key(text, isDescending: false) }
    let name = String(text[..<colon])
    let direction = String(text.unicodeScalars[colon...].dropFirst())
    switch direction {
    case "asc": return try key(name, isDescending: false)
    case "desc": return try key(name, isDescending: true)
    default: break
    }
    if let meant = Self.meant[direction.lowercased()] {
      let start = name.unicodeScalars.count + 1
      throw TextError(
        .notation, "the directions are asc and desc", in: .order, text,
        at: start..<start + direction.unicodeScalars.count, hint: notation.question(.order, name + ":" + meant))
    }
    return try key(text, isDescending: false)
  }

  private static let meant = [
    "asc": "asc", "ascending": "asc", "a": "asc", "up": "asc", "desc": "desc", "descending": "desc", "d": "desc",
    "dsc": "desc", "dec": "desc", "des": "desc", "down": "desc", "reverse": "desc",
  ]

  /// An attribute that looks like a list, a direction, or a sign; nil for other names, and for a key that is not valid.
  package var suspect: SuspectAttribute? {
    guard let attribute = try? key().attribute else { return nil }
    if let mistake = mistypedDirection { return SuspectAttribute(attribute: attribute, mistake: mistake) }
    let keys = corrections
    let meant = keys.map { notation.argument(.order, $0) }.joined(separator: " ")
    if keys.isEmpty || meant == notation.argument(.order, text) { return nil }
    let mistake = TextError(
      .notation, "no user has \"\(attribute)\"", in: .order, text, at: 0..<text.unicodeScalars.count,
      hint: "did you mean \(meant)?")
    return SuspectAttribute(attribute: attribute, mistake: mistake)
  }

  /// The probable keys of a list, of a sign, or of a word for a direction: `age:desc` and `name` for `-age,name`.
  package var corrections: [String] {
    text.split(whereSeparator: { ",;".contains($0) }).compactMap { Self.corrected(String($0)) }
  }

  /// The mistake of a misspelled direction, such as `descc`; nil if there is none.
  private var mistypedDirection: TextError? {
    guard let colon = text.unicodeScalars.lastIndex(of: ":"), colon > text.startIndex else { return nil }
    let (name, direction) = (String(text[..<colon]), String(text.unicodeScalars[colon...].dropFirst()))
    guard Self.meant[direction.lowercased()] == nil,
      let nearest = Suggestion.nearest(to: direction, among: ["asc", "desc", "ascending", "descending"]),
      let meant = Self.meant[nearest]
    else { return nil }
    let start = name.unicodeScalars.count + 1
    return TextError(
      .notation, "the directions are asc and desc, and no user has \"\(text)\"", in: .order, text,
      at: start..<start + direction.unicodeScalars.count, hint: notation.question(.order, name + ":" + meant))
  }

  /// `age:desc` for `age desc` and for `-age`.
  private static func corrected(_ text: String) -> String? {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    if words.count == 2, let direction = meant[words[1].lowercased()] { return words[0] + ":" + direction }
    let name = words.joined(separator: " ")
    guard let sign = name.first, "-+".contains(sign), name.count > 1 else { return name.isEmpty ? nil : name }
    return name.dropFirst() + (sign == "-" ? ":desc" : "")
  }

  private func key(_ name: String, isDescending: Bool) throws(TextError) -> SortKey {
    if name.isEmpty {
      let examples = ["age", "age:desc"].map { notation.argument(.order, $0) }
      throw TextError(
        .notation, "the attribute is missing", in: .order, text, at: 0..<min(1, text.unicodeScalars.count),
        hint: examples.joined(separator: ", "))
    }
    return SortKey(AttributeName(typed: name), descending: isDescending, missingLast: true)
  }
}

extension SortKey {
  var argument: String { "\(attribute):\(isDescending ? "desc" : "asc")" }
}

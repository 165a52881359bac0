import UserStore

/// Mistakes that would be valid conditions but find nothing.
extension ConditionText {
  // MARK: Several comparisons

  /// Throws if the value of `<`, `<=`, `>`, or `>=` has another operator, or a word that joins conditions.
  func checkValue(_ scalars: [Unicode.Scalar], _ sign: Range<Int>) throws(TextError) {
    guard let first = scalars[sign].first, "<>".unicodeScalars.contains(first) else { return }
    let value = sign.upperBound
    guard let place = scalars.indices[value...].lazy.compactMap({ Self.joint(in: scalars, at: $0) }).first else {
      return
    }
    let name = String(scalars[..<sign.lowerBound])
    let asText = JSON.isNumber(name) ? nil : asText(name, String(scalars[sign.lowerBound...])) { "; " + $0 }
    throw mistake("a condition has one comparison", at: place, hint: separated(scalars) + (asText ?? ""))
  }

  /// A hint with the condition that compares with text; nil if that would not be one.
  private func asText(_ name: String, _ rest: String, _ hint: (String) -> String) -> String? {
    argument(name + ":" + rest) { hint("a colon makes the value text: " + $0) }
  }

  /// Throws if the value of `<`, `<=`, `>`, or `>=` is missing, or in quotes or parentheses: these operators do not order text.
  func checkOrder(_ scalars: [Unicode.Scalar], name: String, _ sign: Range<Int>) throws(TextError) {
    guard let first = scalars[sign].first, "<>".unicodeScalars.contains(first) else { return }
    let (written, value) = (String(scalars[sign]), String(scalars[sign.upperBound...]))
    if value.trimmed.isEmpty {
      let example = argument(Self.bare(name) + written + "18") { "as in " + $0 } ?? Self.operatorList
      throw mistake(
        "the value is missing", at: scalars.count..<scalars.count,
        hint: example + (asText(name, written + value) { "; " + $0 } ?? ""))
    }
    let bare = Self.bare(value)
    guard bare != value, JSON.isNumber(bare) || Self.unquoted(value) != nil else { return }
    throw mistake(
      "the quotes and parentheses would belong to the value", at: sign.upperBound..<scalars.count,
      hint: question(Self.bare(name) + written + bare) + (asText(name, written + value) { " (\($0))" } ?? ""))
  }

  /// The text inside quotes, which other languages require; nil without quotes.
  static func unquoted(_ text: String) -> String? {
    let scalars = text.unicodeScalars
    guard scalars.count > 1, let quote = scalars.first, scalars.last == quote, ["\"", "'"].contains(quote) else {
      return nil
    }
    return String(scalars.dropFirst().dropLast())
  }

  private static func bare(_ text: String) -> String {
    var scalars = Substring(text).unicodeScalars
    if let first = scalars.first, opening.contains(first) { scalars.removeFirst() }
    if let last = scalars.last, "\"'`)]".unicodeScalars.contains(last) { scalars.removeLast() }
    return String(scalars)
  }

  private static let opening = Set("\"'`([".unicodeScalars)

  /// The range of an operator, or of a word that joins conditions, at a place in a value.
  private static func joint(in scalars: [Unicode.Scalar], at start: Int) -> Range<Int>? {
    let rest = scalars[start...]
    let signs = operators.map(\.sign) + ["&&", "||", "≤", "≥", "≠"]
    if let sign = signs.first(where: { rest.starts(with: $0.unicodeScalars) }) {
      return start..<start + sign.unicodeScalars.count
    }
    guard start > 0, scalars[start - 1].properties.isWhitespace else { return nil }
    let word = rest.prefix { !$0.properties.isWhitespace }
    return ["and", "or"].contains(String(word).lowercased()) ? word.startIndex..<word.endIndex : nil
  }

  private func separated(_ scalars: [Unicode.Scalar]) -> String {
    let (conditions, hasOr) = Self.parts(of: scalars)
    if hasOr { return "a user must meet all conditions: to find users that meet one of several, use several lists" }
    let name = notation.name(.condition)
    let general = "use \(name) twice, once for each comparison"
    let texts = Self.range(in: scalars) ?? conditions
    guard texts.count > 1 else { return general }
    let arguments = texts.compactMap { argument($0) { $0 } }
    guard arguments.count == texts.count else { return general }
    return "use \(name) \(texts.count == 2 ? "twice" : "for each"): " + arguments.joined(separator: " ")
  }

  /// The text between commas, `&&`, and `and`, and whether there is an `or`.
  private static func parts(of scalars: [Unicode.Scalar]) -> (parts: [String], hasOr: Bool) {
    var (parts, hasOr, start, index) = ([String](), false, 0, 0)
    while index < scalars.count {
      let isComma = ",;".unicodeScalars.contains(scalars[index])
      let joint = isComma ? index..<index + 1 : joint(in: scalars, at: index)
      let word = joint.map { String(scalars[$0]).lowercased() }
      hasOr = hasOr || word == "or" || word == "||"
      if let joint, isComma || word == "and" || word == "&&" {
        parts.append(String(scalars[start..<index]).trimmed)
        start = joint.upperBound
      }
      index = joint?.upperBound ?? index + 1
    }
    return (parts + [String(scalars[start...]).trimmed], hasOr)
  }

  /// The two conditions of a range such as `18<age<30`; nil for any other text.
  private static func range(in scalars: [Unicode.Scalar]) -> [String]? {
    let pieces = scalars.split { "<>=".unicodeScalars.contains($0) }
    guard pieces.count == 3, JSON.isNumber(String(pieces[0]).trimmed) else { return nil }
    let name = String(pieces[1]).trimmed
    let signs = [pieces[0].endIndex..<pieces[1].startIndex, pieces[1].endIndex..<pieces[2].startIndex]
    guard let flipped = flipped[String(scalars[signs[0]])] else { return nil }
    return [
      name + flipped + String(pieces[0]).trimmed, name + String(scalars[signs[1]]) + String(pieces[2]).trimmed,
    ]
  }

  // MARK: Attributes that contain an operator

  /// The mistake of an attribute that looks like a value or a part of an operator, or starts with a quote or a parenthesis; nil
  /// for other names.
  func doubt(_ scalars: [Unicode.Scalar], name: String, _ sign: Range<Int>) -> TextError? {
    let written = String(scalars[sign])
    let value = String(scalars[sign.upperBound...])
    if JSON.isNumber(name), !JSON.isNumber(value) {
      return mistake(
        "the attribute goes on the left", at: 0..<name.unicodeScalars.count,
        hint: Self.flipped[written].map { question(value + $0 + name) } ?? Self.operatorList)
    }
    if let first = name.unicodeScalars.first, Self.opening.contains(first) {
      let bare = Self.bare(name)
      return mistake(
        "an attribute has no quotes or parentheses around it", at: 0..<1,
        hint: bare.isEmpty ? Self.operatorList : question(bare + written + Self.bare(value)))
    }
    let signs = name.unicodeScalars.reversed().prefix { "!$~^*&|%?".unicodeScalars.contains($0) }.count
    let isNegated = name.unicodeScalars.first == "!"
    guard signs > 0 || isNegated else { return nil }
    let place = signs > 0 ? sign.lowerBound - signs..<sign.upperBound : 0..<1
    let wrong = String(scalars[place])
    let bare = String(name.unicodeScalars.dropFirst(signs > 0 ? 0 : 1).dropLast(signs))
    let meant = wrong.hasPrefix("!") ? Self.negated[written] : nil
    return mistake(
      "there is no operator \(wrong)", at: place,
      hint: bare.isEmpty ? Self.operatorList : meant.map { question(bare + $0 + value) } ?? Self.operatorList)
  }

  private static let flipped = ["<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="]
  private static let negated = ["<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="]
}

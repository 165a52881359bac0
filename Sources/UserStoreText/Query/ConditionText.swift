import UserStore

/// A condition as text: an attribute, an operator, and a value, such as `age>=18`.
///
/// The first operator in the text counts. A colon before it (`room:>=007`) makes the value text, as in `set`.
package struct ConditionText: Sendable {
  let text: String
  let notation: QueryNotation
  /// Whether to check the conditions in hints, which must be valid.
  private let checksHints: Bool

  package init(_ text: String, _ notation: QueryNotation) { self.init(text, notation, checksHints: true) }

  init(_ text: String, _ notation: QueryNotation, checksHints: Bool) {
    self.text = text
    self.notation = notation
    self.checksHints = checksHints
  }

  /// Whether it is a condition whose attribute does not look like a mistake.
  package var isClear: Bool {
    guard let condition = try? parsed() else { return false }
    return condition.suspect == nil && (try? condition.condition) != nil
  }

  /// The operators; an operator precedes those with which it starts.
  static let operators: [(sign: String, comparison: Condition.Comparison)] = [
    ("!=", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("^=", .startsWith), ("*=", .contains),
    ("~=", .containsIgnoringCase), ("=", .equal), ("<", .less), (">", .greater),
  ]

  package static let operatorList =
    "the operators are = != < <= > >= ^= (starts with) *= (contains) and ~= (contains, in any case)"

  /// Reads the text; throws an error that points at the mistake.
  package func parsed() throws(TextError) -> ValueCondition {
    let scalars = Array(text.unicodeScalars)
    let found = scalars.indices.lazy.compactMap { start in
      Self.operators.first { scalars[start...].starts(with: $0.sign.unicodeScalars) }.map { (start, $0) }
    }.first
    guard let (start, (sign, comparison)) = found else { throw lacksOperator(scalars) }
    let (name, isText) = Self.name(scalars[..<start])
    let end = start + sign.unicodeScalars.count
    let value = String(scalars[end...])
    if name.isEmpty { throw mistake("there is no attribute before the operator", at: 0..<start + 1) }
    if !isText {
      try checkSigns(scalars, start..<end)
      if value.utf8.first != UInt8(ascii: "{") { try checkValue(scalars, start..<end) }
      try checkOrder(scalars, name: name, start..<end)
    }
    try checkSpaces(scalars, name: name, start..<end, isText: isText)
    let attribute = AttributeName(typed: name)
    let suspect = (isText ? nil : doubt(scalars, name: name, start..<end)).map {
      SuspectAttribute(attribute: attribute, mistake: $0)
    }
    return ValueCondition(attribute, comparison, text: value, isText: isText, in: self, suspect: suspect)
  }

  private static func name(_ scalars: ArraySlice<Unicode.Scalar>) -> (name: String, isText: Bool) {
    let isText = scalars.last == ":"
    return (String(scalars.dropLast(isText ? 1 : 0)), isText)
  }

  // MARK: Mistakes

  /// Throws for an operator of other languages, such as `==`.
  private func checkSigns(_ scalars: [Unicode.Scalar], _ sign: Range<Int>) throws(TextError) {
    if scalars[sign] != ["="], scalars[sign.upperBound...].starts(with: ":=".unicodeScalars) {
      let place = sign.lowerBound..<sign.upperBound + 2
      let corrected = String(scalars[..<sign.lowerBound]) + ":" + String(scalars[sign])
      let hint = argument(corrected + String(scalars[place.upperBound...])) {
        "for text, the colon is before the operator: " + $0
      }
      throw mistake("there is no operator \(String(scalars[place]))", at: place, hint: hint ?? Self.operatorList)
    }
    let further = scalars[sign.upperBound...].prefix { "=<>".unicodeScalars.contains($0) }
    if further.isEmpty { return }
    let written = String(scalars[sign] + further)
    let rest = String(scalars[further.endIndex...])
    let name = String(scalars[..<sign.lowerBound])
    var hint = Self.meant[written].map { question(name.trimmed + $0 + rest.trimmed) } ?? Self.operatorList
    if sign.count == 1, written.hasPrefix("=") {
      let asText = name + ":=" + String(further) + rest
      hint += argument(asText) { " (text that starts with \(further.first!) needs a colon: \($0))" } ?? ""
    }
    throw mistake("there is no operator \(written)", at: sign.lowerBound..<further.endIndex, hint: hint)
  }

  private static let meant = [
    "==": "=", "===": "=", "=>": ">=", "=>=": ">=", ">==": ">=", "=<": "<=", "=<=": "<=", "<==": "<=", "<>": "!=",
    "><": "!=", "!==": "!=", ">>": ">", "<<": "<", "^==": "^=", "*==": "*=", "~==": "~=",
  ]

  /// Throws for spaces around the operator, which would belong to the attribute and the value.
  private func checkSpaces(
    _ scalars: [Unicode.Scalar], name: String, _ sign: Range<Int>, isText: Bool
  ) throws(TextError) {
    let value = String(scalars[sign.upperBound...])
    let hasPadding = !isText && value.trimmed != value && JSON.isNumber(value.trimmed)
    guard name.trimmed != name || hasPadding else { return }
    let before = scalars[..<sign.lowerBound].reversed().prefix { $0.properties.isWhitespace }.count
    let after = scalars[sign.upperBound...].prefix { $0.properties.isWhitespace }.count
    let corrected = name.trimmed + (isText ? ":" : "") + String(scalars[sign]) + value.trimmed
    throw mistake(
      "the spaces would belong to the \(before > 0 || !hasPadding ? "attribute" : "value")",
      at: sign.lowerBound - before..<sign.upperBound + after, hint: question(corrected))
  }

  private func lacksOperator(_ scalars: [Unicode.Scalar]) -> TextError {
    let similar: [Unicode.Scalar: String] = [
      "≥": ">=", "≤": "<=", "≠": "!=", "~": "~=", "!": "!=", "^": "^=", "*": "*=", ":": "=",
    ]
    let place = scalars.indices.dropFirst().first { similar[scalars[$0]] != nil }
    if let place, let sign = similar[scalars[place]] {
      return mistake(
        "there is no operator \(scalars[place])", at: place..<place + 1,
        hint: question(String(scalars[..<place]).trimmed + sign + String(scalars[(place + 1)...]).trimmed))
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.count == 2 {
      let start = words[0].unicodeScalars.count
      return mistake("the operator is missing", at: start..<start + 1, hint: question("\(words[0])=\(words[1])"))
    }
    // The shell has removed an unquoted > or < and the next word.
    let example = text.isEmpty || words.count != 1 ? "age>=18" : text + ">=18"
    let isQuoted = notation == .options ? ", in quotes" : ""
    return mistake(
      "the operator is missing", at: scalars.count..<scalars.count,
      hint: Self.operatorList + isQuoted + (argument(example) { ", as in " + $0 } ?? "")
        + (words.count == 1 ? "; \(notation.argument(.present, text)) finds users that have the attribute" : ""))
  }

  /// Asks whether the condition was meant; returns the list of operators if it is none either.
  func question(_ text: String) -> String {
    argument(text) { _ in notation.question(.condition, text) } ?? Self.operatorList
  }

  /// A hint with the condition; nil if it is none either.
  func argument(_ text: String, _ hint: (String) -> String) -> String? {
    if checksHints, !ConditionText(text, notation, checksHints: false).isClear { return nil }
    return hint(notation.argument(.condition, text))
  }

  func mistake(_ message: String, at range: Range<Int>, hint: String = operatorList) -> TextError {
    TextError(.notation, message, in: .condition, text, at: range, hint: hint)
  }
}

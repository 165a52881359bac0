import ArgumentParser
import UserStore

/// A condition on the command line: an attribute, an operator, and a value, such as `age>=18`.
///
/// The first operator in the text counts. A colon before it (`room:>=007`) makes the value text, as in `set`.
struct ConditionArgument: ExpressibleByArgument, Sendable {
  let text: String

  init(argument: String) {
    text = argument
  }

  static var defaultCompletionKind: CompletionKind { Completions.assignments }

  /// The operators; those that start with another one precede it.
  static let operators: [(sign: String, comparison: Condition.Comparison)] = [
    ("!=", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("^=", .startsWith), ("*=", .contains),
    ("=", .equal), ("<", .less), (">", .greater),
  ]

  static let operatorList = "the operators are = != < <= > >= ^= (starts with) and *= (contains)"

  /// Reads the text; throws a failure that points at the mistake.
  func parsed() throws(Failure) -> ValueCondition {
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
    }
    try checkSpaces(scalars, name: name, start..<end, isText: isText)
    let attribute = AttributeName(typed: name)
    let suspect = (isText ? nil : doubt(scalars, name: name, start..<end)).map {
      SuspectAttribute(attribute: attribute, failure: $0)
    }
    return ValueCondition(attribute, comparison, text: value, isText: isText, in: text, suspect: suspect)
  }

  private static func name(_ scalars: ArraySlice<Unicode.Scalar>) -> (name: String, isText: Bool) {
    let isText = scalars.last == ":"
    return (String(scalars.dropLast(isText ? 1 : 0)), isText)
  }

  // MARK: Mistakes

  /// Throws for an operator that other languages have, such as `==`.
  private func checkSigns(_ scalars: [Unicode.Scalar], _ sign: Range<Int>) throws(Failure) {
    if scalars[sign] != ["="], scalars[sign.upperBound...].starts(with: ":=".unicodeScalars) {
      let place = sign.lowerBound..<sign.upperBound + 2
      let corrected = String(scalars[..<sign.lowerBound]) + ":" + String(scalars[sign])
      throw mistake(
        "there is no operator \(String(scalars[place]))", at: place,
        hint: "for text, the colon is before the operator: "
          + Self.quoted(corrected + String(scalars[place.upperBound...])))
    }
    let further = scalars[sign.upperBound...].prefix { "=<>".unicodeScalars.contains($0) }
    if further.isEmpty { return }
    let written = String(scalars[sign] + further)
    let rest = String(scalars[further.endIndex...])
    let name = String(scalars[..<sign.lowerBound])
    var hint = Self.meant[written].map { Self.question(name + $0 + rest) } ?? Self.operatorList
    if sign.count == 1, written.hasPrefix("=") {
      hint +=
        " (text that starts with \(further.first!) needs a colon: \(Self.quoted(name + ":=" + String(further) + rest)))"
    }
    throw mistake("there is no operator \(written)", at: sign.lowerBound..<further.endIndex, hint: hint)
  }

  private static let meant = [
    "==": "=", "===": "=", "=>": ">=", "=>=": ">=", ">==": ">=", "=<": "<=", "=<=": "<=", "<==": "<=", "<>": "!=",
    "><": "!=", "!==": "!=", ">>": ">", "<<": "<", "^==": "^=", "*==": "*=",
  ]

  /// Throws for spaces around the operator, which would belong to the attribute and the value.
  private func checkSpaces(
    _ scalars: [Unicode.Scalar], name: String, _ sign: Range<Int>, isText: Bool
  ) throws(Failure) {
    let value = String(scalars[sign.upperBound...])
    let hasPadding = !isText && value.trimmed != value && TypedText.isNumber(value.trimmed)
    guard name.trimmed != name || hasPadding else { return }
    let before = scalars[..<sign.lowerBound].reversed().prefix { $0.properties.isWhitespace }.count
    let after = scalars[sign.upperBound...].prefix { $0.properties.isWhitespace }.count
    let corrected = name.trimmed + (isText ? ":" : "") + String(scalars[sign]) + value.trimmed
    throw mistake(
      "the spaces would belong to the \(before > 0 || !hasPadding ? "attribute" : "value")",
      at: sign.lowerBound - before..<sign.upperBound + after, hint: Self.question(corrected))
  }

  /// The failure for a text without an operator.
  private func lacksOperator(_ scalars: [Unicode.Scalar]) -> Failure {
    let similar: [Unicode.Scalar: String] = [
      "≥": ">=", "≤": "<=", "≠": "!=", "~": "*=", "!": "!=", "^": "^=", "*": "*=", ":": "=",
    ]
    let place = scalars.indices.dropFirst().first { similar[scalars[$0]] != nil }
    if let place, let sign = similar[scalars[place]] {
      return mistake(
        "there is no operator \(scalars[place])", at: place..<place + 1,
        hint: Self.question(String(scalars[..<place]) + sign + String(scalars[(place + 1)...])))
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.count == 2 {
      let start = words[0].unicodeScalars.count
      return mistake("the operator is missing", at: start..<start + 1, hint: Self.question("\(words[0])=\(words[1])"))
    }
    // The shell has taken an unquoted > or < and the word after it.
    let example = text.isEmpty || words.count != 1 ? "age>=18" : text + ">=18"
    return mistake(
      "the operator is missing", at: scalars.count..<scalars.count + 1,
      hint: Self.operatorList + ", in quotes, as in " + Self.quoted(example)
        + (words.count == 1 ? "; --with \(Correction.quoted(text)) finds users that have the attribute" : ""))
  }

  static func question(_ text: String) -> String { "did you mean \(quoted(text))?" }

  static func quoted(_ text: String) -> String { "--where " + Correction.quoted(text, always: true) }

  func mistake(_ message: String, at range: Range<Int>, hint: String = operatorList) -> Failure {
    Failure(.usage, "--where: " + message, in: text, at: range, hint: hint)
  }
}

extension Failure {
  /// A failure that shows an argument, with carets under the scalars with the mistake.
  init(_ status: ExitStatus, _ message: String, in text: String, at range: Range<Int>, hint: String?) {
    func columns(_ range: Range<Int>) -> Int {
      String(text.unicodeScalars.dropFirst(range.lowerBound).prefix(range.count)).shown.columns
    }
    let carets = String(repeating: "^", count: max(1, columns(range)))
    let details = [text.shown, String(repeating: " ", count: columns(0..<range.lowerBound)) + carets]
    self.init(status, message, hint: hint, details: details)
  }
}

extension String {
  init(_ scalars: some Sequence<Unicode.Scalar>) {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    self.init(view)
  }

  var trimmed: String {
    let scalars = unicodeScalars.drop { $0.properties.isWhitespace }
    return String(scalars.reversed().drop { $0.properties.isWhitespace }.reversed())
  }
}

package import UserStore

package struct UserSelection: Sendable {
  package let condition: Condition
  package let attributes: [AttributeName]
  /// The attributes that a user may lack and still meet the conditions.
  package let optionalAttributes: [AttributeName]
  /// The reasons why certainly no user can meet the conditions.
  package let contradictions: [String]
  private let comparisons: [ValueCondition]

  package init(_ text: QueryText, _ notation: QueryNotation) throws(TextError) {
    var comparisons: [ValueCondition] = []
    for condition in text.conditions { comparisons.append(try ConditionText(condition, notation).parsed()) }
    var conditions: [Condition] = []
    for comparison in comparisons { conditions.append(try comparison.condition) }
    let present = try Self.names(text.present, .present, notation)
    let absent = try Self.names(text.absent, .absent, notation)
    conditions += present.map { .exists($0) } + absent.map { !.exists($0) }
    condition = conditions.reduce(.always) { $0 && $1 }
    self.comparisons = comparisons
    optionalAttributes = comparisons.filter { $0.comparison == .notEqual }.map(\.attribute) + absent
    attributes = comparisons.map(\.attribute) + present + absent
    contradictions =
      comparisons.compactMap(\.contradiction)
      + absent.filter { ["id", .name].contains($0) }.map { "every user has \($0)" }
  }

  private static func names(
    _ texts: [String], _ parameter: QueryNotation.Parameter, _ notation: QueryNotation
  ) throws(TextError) -> [AttributeName] {
    try texts.map { text throws(TextError) in
      if !text.isEmpty { return AttributeName(typed: text) }
      throw TextError(
        .notation, "the attribute is missing", in: parameter, text, at: 0..<0, hint: notation.argument(parameter, "age")
      )
    }
  }

  /// The mistakes of suspect attributes; each counts only if no user has the attribute.
  package var doubts: [TextError] { comparisons.compactMap { $0.suspect?.mistake } }

  /// Throws for a suspect attribute, and in requests for a value in quotes, that no user has.
  package func check(in transaction: inout ReadTransaction) throws {
    for suspect in comparisons.compactMap(\.suspect) { try suspect.check(in: &transaction) }
    for comparison in comparisons { try comparison.checkQuotes(in: &transaction) }
  }

  /// Possible reasons why no user meets the conditions, one per line; call it only if no user was found.
  package func hints(_ transaction: inout ReadTransaction) throws -> [String] {
    try comparisons.compactMap { try $0.hint(&transaction) }
  }
}

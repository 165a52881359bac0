package import UserStore

/// A comparison of an attribute with a typed value.
package struct ValueCondition: Sendable {
  let attribute: AttributeName
  let comparison: Condition.Comparison
  /// The value as typed.
  private let text: String
  private let isText: Bool
  /// The whole condition as typed.
  private let source: ConditionText
  /// Not nil if the attribute's name looks like a mistake.
  package let suspect: SuspectAttribute?

  init(
    _ attribute: AttributeName, _ comparison: Condition.Comparison, text: String, isText: Bool,
    in source: ConditionText, suspect: SuspectAttribute?
  ) {
    self.suspect = suspect
    self.attribute = attribute
    self.comparison = comparison
    self.text = text
    self.isText = isText
    self.source = source
  }

  package var condition: Condition {
    get throws(TextError) { Condition(attribute, comparison, try value) }
  }

  private var notation: QueryNotation { source.notation }

  /// The value in the attribute's type, as `set` reads it; `^=`, `*=`, and `~=` compare with text.
  private var value: StoredValue {
    get throws(TextError) {
      if [.startsWith, .contains, .containsIgnoringCase].contains(comparison) { return .text(text) }
      if attribute == .hairColor, text.isEmpty {
        let absent = notation.argument(.absent, "hair_color")
        throw mistake("\"\" is not a color", hint: "\(absent) finds users without a color")
      }
      do throws(TextError) { return try TypedText.value(of: text, for: attribute, isText: isText) } catch {
        throw mistake(error.message, hint: hint(for: error))
      }
    }
  }

  private func mistake(_ message: String, hint: String?) -> TextError {
    let count = source.text.unicodeScalars.count
    return TextError(
      .value, message, in: .condition, source.text, at: count - text.unicodeScalars.count..<count, hint: hint)
  }

  private func hint(for mistake: TextError) -> String? {
    if attribute == .hairColor { return mistake.hint }
    if JSON.isInteger(text) { return "\(text).0 is a real number" }
    return notation == .options ? mistake.hint : "k:=TEXT compares with any text"
  }

  /// A possible reason why no user meets the valid condition; nil if there is none.
  ///
  /// Call it only if no user was found, because it may read all users.
  func hint(_ transaction: inout ReadTransaction) throws -> String? {
    if attribute == "id" || comparison == .notEqual { return nil }
    if let hint = hintOfNotation { return hint.shown }
    guard case .text? = try? value else { return nil }
    let numbers = Condition(attribute, .greaterOrEqual, .real(-.infinity))
    if try transaction.ids(matching: Query(where: numbers, limit: 1)).isEmpty { return nil }
    return "note: \(source.text) compares text, but \"\(attribute)\" has numbers".shown
  }

  /// A hint on quotes and null, which other languages use.
  private var hintOfNotation: String? {
    if isText { return nil }
    if comparison == .equal, attribute != .name, text.isEmpty || ["null", "nil"].contains(text.lowercased()) {
      let absent = notation.argument(.absent, attribute.text)
      return "note: \(source.text) finds the text \"\(text)\"; \(absent) finds users without the attribute"
    }
    guard let unquoted = ConditionText.unquoted(text) else { return nil }
    return
      "note: the quotes in \(source.text) are a part of the value (\(source.question(start(isText: false) + unquoted)))"
  }

  /// The condition up to its value, with a colon if `isText`.
  private func start(isText: Bool) -> String {
    let sign = ConditionText.operators.first { $0.comparison == comparison }?.sign ?? ""
    return attribute.text + (isText ? ":" : "") + sign
  }

  /// Throws for a value in quotes that no user has, only in requests: their answers have no place for a note.
  func checkQuotes(in transaction: inout ReadTransaction) throws {
    guard notation == .parameters, !isText, let unquoted = ConditionText.unquoted(text) else { return }
    let same = Condition(attribute, comparison == .notEqual ? .equal : comparison, .text(text))
    guard try transaction.ids(matching: Query(where: same, limit: 1)).isEmpty else { return }
    let count = source.text.unicodeScalars.count
    throw source.mistake(
      "the quotes would belong to the value, which no user has", at: count - text.unicodeScalars.count..<count,
      hint: source.question(start(isText: false) + unquoted)
        + (source.argument(start(isText: true) + text) { " (a colon makes the value text: \($0))" } ?? ""))
  }

  /// The reason why no user can meet the condition; nil if that is not certain.
  package var contradiction: String? {
    guard attribute == "id", comparison != .notEqual else { return nil }
    switch try? value {
    case .integer, .real: return nil
    default: return "no user can meet \(source.text.shown): an id is a number"
    }
  }
}

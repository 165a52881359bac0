import UserStore

/// A comparison of an attribute with a value that was typed.
struct ValueCondition {
  let attribute: AttributeName
  let comparison: Condition.Comparison
  /// The value as it was typed.
  private let text: String
  private let isText: Bool
  /// The whole condition as it was typed.
  private let source: String
  /// Set if the attribute's name looks like a mistake.
  let suspect: SuspectAttribute?

  init(
    _ attribute: AttributeName, _ comparison: Condition.Comparison, text: String, isText: Bool, in source: String,
    suspect: SuspectAttribute? = nil
  ) {
    self.suspect = suspect
    self.attribute = attribute
    self.comparison = comparison
    self.text = text
    self.isText = isText
    self.source = source
  }

  /// The condition; throws if the value is not one.
  var condition: Condition {
    get throws(Failure) { Condition(attribute, comparison, try value) }
  }

  /// The value in the attribute's type, as `set` reads it; `^=` and `*=` compare with text.
  var value: StoredValue {
    get throws(Failure) {
      if [.startsWith, .contains].contains(comparison) { return .text(text) }
      if attribute == .hairColor, text.isEmpty {
        throw Failure(.badData, "\"\" is not a color", hint: "--without hair_color finds users without a color")
      }
      do throws(Failure) { return try Assignment(attribute, text, isText: isText).value() } catch {
        var failure = error
        if attribute != .hairColor, TypedText.isNumber(text) { failure.hint = "\(text).0 is a real number" }
        throw failure
      }
    }
  }

  /// A line that says why no user may meet the condition although it is valid; nil if there is none.
  ///
  /// Call it only if no user was found, because it may read all users.
  func hint(_ transaction: inout ReadTransaction) throws -> String? {
    if attribute == "id" || comparison == .notEqual { return nil }
    if let hint = hintOfNotation { return hint.shown }
    guard case .text? = try? value else { return nil }
    let numbers = Condition(attribute, .greaterOrEqual, .real(-.infinity))
    if try transaction.userIDs(matching: Query(where: numbers, limit: 1)).isEmpty { return nil }
    return "note: \(source) compares text, but \"\(attribute)\" has numbers".shown
  }

  /// A hint for quotes and null, which other languages have.
  private var hintOfNotation: String? {
    if isText { return nil }
    if comparison == .equal, attribute != .name, text.isEmpty || ["null", "nil"].contains(text.lowercased()) {
      let option = "--without " + Correction.quoted(attribute.text)
      return "note: \(source) finds the text \"\(text)\"; \(option) finds users without the attribute"
    }
    let scalars = text.unicodeScalars
    guard scalars.count > 1, let quote = scalars.first, scalars.last == quote, ["\"", "'"].contains(quote) else {
      return nil
    }
    let start = source.unicodeScalars.dropLast(scalars.count)
    let corrected = Correction.quoted(String(start) + String(scalars.dropFirst().dropLast()), always: true)
    return "note: the quotes in \(source) are a part of the value (did you mean --where \(corrected)?)"
  }

  /// Why no user can meet the condition; nil if that is not certain.
  var contradiction: String? {
    guard attribute == "id", comparison != .notEqual else { return nil }
    switch try? value {
    case .integer, .real: return nil
    default: return "no user can meet \(source.shown): an id is a number"
    }
  }
}

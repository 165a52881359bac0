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

  init(
    _ attribute: AttributeName, _ comparison: Condition.Comparison, text: String, isText: Bool, in source: String
  ) {
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

  /// Why no user can meet the condition; nil if that is not certain.
  var contradiction: String? {
    guard attribute == "id", comparison != .notEqual else { return nil }
    switch try? value {
    case .integer, .real: return nil
    default: return "no user can meet \(source.shown): an id is a number"
    }
  }
}

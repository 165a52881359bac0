extension Attribute {
  /// Returns the condition that the attribute has a value; with nil, that it is not set.
  public static func == (left: Attribute, right: Value?) -> UserStore.Condition { left.compared(.equal, right) }

  /// Returns the condition that the attribute does not have a value, which is also true if it is not set; with nil, that it is
  /// set.
  public static func != (left: Attribute, right: Value?) -> UserStore.Condition { left.compared(.notEqual, right) }

  /// Returns the condition that the attribute is less than a value.
  public static func < (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.less, right) }

  /// Returns the condition that the attribute is less than a value, or equal to it.
  public static func <= (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.lessOrEqual, right) }

  /// Returns the condition that the attribute is greater than a value.
  public static func > (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.greater, right) }

  /// Returns the condition that the attribute is greater than a value, or equal to it.
  public static func >= (left: Attribute, right: Value) -> UserStore.Condition {
    left.compared(.greaterOrEqual, right)
  }

  /// Returns the condition that the attribute has one of some values; without any value, no user meets it.
  public func isOneOf(_ values: some Sequence<Value>) -> UserStore.Condition {
    .isOneOf(name, values.map(\.storedValue))
  }

  /// The condition that the attribute is set.
  public var exists: UserStore.Condition { .exists(name) }

  private func compared(_ comparison: Condition.Comparison, _ value: Value?) -> Condition {
    Condition(name, comparison, value?.storedValue ?? .null)
  }
}

extension Attribute where Value: Comparable {
  /// Returns the condition that the attribute is in a range, which does not include its upper bound.
  public func isIn(_ range: Range<Value>) -> UserStore.Condition {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Returns the condition that the attribute is in a range, which includes its upper bound.
  public func isIn(_ range: ClosedRange<Value>) -> UserStore.Condition {
    self >= range.lowerBound && self <= range.upperBound
  }
}

extension Attribute where Value == String {
  /// Returns the condition that the attribute starts with a text, compared byte by byte.
  public func hasPrefix(_ prefix: String) -> UserStore.Condition { Condition(name, .startsWith, .text(prefix)) }

  /// Returns the condition that the attribute contains a text, compared byte by byte; every text contains the empty one.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - ignoresCase: Whether each letter is also found in its other case; see `Condition.Comparison.containsIgnoringCase`.
  /// - Returns: The condition.
  public func contains(_ text: String, ignoringCase ignoresCase: Bool = false) -> UserStore.Condition {
    Condition(name, ignoresCase ? .containsIgnoringCase : .contains, .text(text))
  }
}

// Conditions on attributes with a type.
extension Attribute {
  /// Returns whether the attribute has this value; with nil, whether it is not set.
  public static func == (left: Attribute, right: Value?) -> UserStore.Condition { left.compared(.equal, right) }

  /// Returns whether the attribute does not have this value, which is true if it is not set; with nil, whether it is set.
  public static func != (left: Attribute, right: Value?) -> UserStore.Condition { left.compared(.notEqual, right) }

  /// Returns whether the attribute is less than a value.
  public static func < (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.less, right) }

  /// Returns whether the attribute is less than a value or equal.
  public static func <= (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.lessOrEqual, right) }

  /// Returns whether the attribute is greater than a value.
  public static func > (left: Attribute, right: Value) -> UserStore.Condition { left.compared(.greater, right) }

  /// Returns whether the attribute is greater than a value or equal.
  public static func >= (left: Attribute, right: Value) -> UserStore.Condition {
    left.compared(.greaterOrEqual, right)
  }

  /// Returns whether the attribute has one of some values.
  public func isOneOf(_ values: some Sequence<Value>) -> UserStore.Condition {
    .isOneOf(name, values.map(\.storedValue))
  }

  /// Whether the attribute is set.
  public var exists: UserStore.Condition { .exists(name) }

  private func compared(_ comparison: Condition.Comparison, _ value: Value?) -> Condition {
    Condition(name, comparison, value?.storedValue ?? .null)
  }
}

extension Attribute where Value: Comparable {
  /// Returns whether the attribute is in a range, whose upper bound is not in it.
  public func isIn(_ range: Range<Value>) -> UserStore.Condition {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Returns whether the attribute is in a range, whose upper bound is in it.
  public func isIn(_ range: ClosedRange<Value>) -> UserStore.Condition {
    self >= range.lowerBound && self <= range.upperBound
  }
}

extension Attribute where Value == String {
  /// Returns whether the attribute starts with a text, byte by byte.
  public func hasPrefix(_ prefix: String) -> UserStore.Condition { Condition(name, .startsWith, .text(prefix)) }

  /// Returns whether the attribute contains a text, byte by byte; every text contains the empty one.
  public func contains(_ text: String) -> UserStore.Condition { Condition(name, .contains, .text(text)) }
}

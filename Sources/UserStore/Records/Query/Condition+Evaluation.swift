extension UserStore.Condition {
  /// Returns whether a user meets the condition; the user must have all attributes that the condition names.
  func isTrue(of user: User) -> Bool {
    node.truth { user.storedValue($0) } == true
  }
}

extension UserStore.Condition.Node {
  /// Returns whether the node is true; nil if that depends on values that are unknown.
  ///
  /// `value` returns the value of an attribute: null if it is not set, nil if it is unknown.
  func truth(_ value: (AttributeName) -> StoredValue?) -> Bool? {
    switch self {
    case .all(let parts): Self.isAny(parts, false, value).map { !$0 }
    case .any(let parts): Self.isAny(parts, true, value)
    case .not(let part): part.truth(value).map { !$0 }
    case .comparison(let attribute, let comparison, let other): value(attribute)?.holds(comparison, other)
    case .isOneOf(let attribute, let others):
      value(attribute).map { value in others.contains { value.holds(.equal, $0) } }
    case .exists(let attribute): value(attribute).map { $0 != .null }
    case .first(let part): part.truth(value)
    }
  }

  /// Returns whether one of the nodes has this truth; nil if none has, but one is unknown.
  private static func isAny(_ nodes: [Self], _ truth: Bool, _ value: (AttributeName) -> StoredValue?) -> Bool? {
    var isKnown = true
    for node in nodes {
      let found = node.truth(value)
      if found == truth { return true }
      if found == nil { isKnown = false }
    }
    return isKnown ? false : nil
  }
}

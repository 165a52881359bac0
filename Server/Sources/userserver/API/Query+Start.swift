import UserStore

extension UserStore.Query {
  /// The condition that a user follows the start in the query's order; nil without a start; missing values come last.
  var isAfterStart: UserStore.Condition? {
    guard let start else { return nil }
    var (cases, isSame) = ([UserStore.Condition](), UserStore.Condition.always)
    for (key, value) in zip(sortedBy, start.values) {
      if value != .null { cases.append(isSame && key.isAfter(value)) }
      isSame = isSame && UserStore.Condition(key.attribute, .equal, value)
    }
    let last = isSame && UserStore.Condition("id", .greater, .integer(start.id.rawValue))
    return cases.reduce(last) { $0 || $1 }
  }
}

extension UserStore.SortKey {
  /// The condition that a user's value follows another in the key's order.
  fileprivate func isAfter(_ value: StoredValue) -> UserStore.Condition {
    let isGreater = isGreater(value)
    let isEqual = UserStore.Condition(attribute, .equal, value)
    return (isDescending ? !(isGreater || isEqual) : isGreater) || !UserStore.Condition.exists(attribute)
  }

  /// The condition that a value is greater: numbers precede texts, and texts precede blobs.
  private func isGreater(_ value: StoredValue) -> UserStore.Condition {
    let isGreater = UserStore.Condition(attribute, .greater, value)
    let isText = UserStore.Condition(attribute, .greaterOrEqual, .text(""))
    let isBlob = UserStore.Condition(attribute, .greaterOrEqual, .blob([]))
    switch value {
    case .integer, .real: return isGreater || isText || isBlob
    case .text, .invalidText: return isGreater || isBlob
    default: return isGreater
    }
  }
}

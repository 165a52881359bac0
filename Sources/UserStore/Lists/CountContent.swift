/// The number of users that meet a condition; it keeps nothing else in memory.
struct CountContent: LiveContent {
  private let condition: Condition
  private var count = 0

  init(_ condition: Condition) {
    self.condition = condition
  }

  var value: ErasedValue { ValueBox(count) }

  var mentions: Mentions { Mentions(condition, shown: []) }

  mutating func load(
    _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
  ) throws(StoreError) -> Bool {
    let old = exchange(&count, with: try state.session.userCount(where: condition))
    return count != old
  }

  mutating func apply(
    _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
  ) throws(StoreError) -> Bool? {
    if deltas.contains(where: \.isPurged) { return nil }
    var difference = 0
    var unknown: [UserDelta] = []
    for delta in deltas {
      let before = delta.existed ? condition.node.truth(delta.oldValue) : false
      let after = delta.exists ? condition.node.truth(delta.newValue) : false
      if let before, let after {
        difference += (after ? 1 : 0) - (before ? 1 : 0)
      } else {
        unknown.append(delta)
      }
    }
    if !unknown.isEmpty {
      let isRead = try read(users: unknown.count) { state throws(StoreError) in
        for delta in unknown { difference += try state.difference(of: delta, condition) }
      }
      if !isRead { return nil }
    }
    count += difference
    return difference != 0
  }
}

extension PastState {
  /// By how much the changes of a user change the number of users that meet a condition.
  fileprivate func difference(of delta: UserDelta, _ condition: Condition) throws(StoreError) -> Int {
    var same: [AttributeName: StoredValue] = [:]
    for attribute in condition.node.attributes where delta.newValue(attribute) == nil {
      same[attribute] = try value(attribute, of: delta.id)
    }
    let before = delta.existed && condition.node.truth { delta.oldValue($0) ?? same[$0] } == true
    let after = delta.exists && condition.node.truth { delta.newValue($0) ?? same[$0] } == true
    return (after ? 1 : 0) - (before ? 1 : 0)
  }
}

/// The state of a live query, a list or a count, which follows the log; a value without locks.
protocol LiveContent: Sendable {
  var mentions: Mentions { get }

  /// Reads everything in a snapshot, and returns whether the value has changed.
  mutating func load(
    _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
  ) throws(StoreError) -> Bool

  /// Follows a set. `read` reads the state at the end of the set.
  ///
  /// - Returns: Whether the value has changed; nil if everything must be read again.
  mutating func apply(
    _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
  ) throws(StoreError) -> Bool?

  var value: ErasedValue { get }

  /// Why the last change gave no new value; nil if it did.
  ///
  /// Listeners receive it in place of the value, which stays. Unlike an error of reading, it leaves the content complete.
  var failure: StoreError? { get }
}

extension LiveContent {
  var failure: StoreError? { nil }

  /// What listeners receive of a change.
  var outcome: SignalRound.Content {
    if let failure { .failure(failure) } else { .success(value) }
  }
}

/// The changes that concern a live query.
struct Mentions: Sendable {
  /// The attributes whose changes it must see; nil for all.
  let attributes: Set<AttributeName>?
  /// An attribute that has one of a few values in every user who meets the condition.
  let key: (attribute: AttributeName, values: [StoredValue])?

  /// All changes of one user.
  init(_ id: User.ID) {
    attributes = nil
    key = (.id, [.integer(id.rawValue)])
  }

  init(_ condition: Condition, shown: [AttributeName]?) {
    attributes = shown.map { Set($0 + condition.node.attributes) }
    key = condition.node.parts(of: .all).lazy.compactMap(\.key).first
  }

  func concern(_ delta: UserDelta) -> Bool {
    guard let attributes, !delta.isAddedOrRemoved else { return true }
    return delta.changes.contains { attributes.contains($0.attribute) }
  }
}

extension UserStore.Condition.Node {
  fileprivate var key: (attribute: AttributeName, values: [StoredValue])? {
    switch self {
    case .comparison(let attribute, .equal, let value): (attribute, [value])
    case .isOneOf(let attribute, let values) where (1...100).contains(values.count): (attribute, values)
    case .first(let part): part.key
    default: nil
    }
  }
}

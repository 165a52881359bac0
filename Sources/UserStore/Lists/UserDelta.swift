/// What a change set, or several, changed of a user: for each attribute the value before the first and after the last change.
struct UserDelta: Sendable {
  let id: User.ID
  private(set) var old: [AttributeName: StoredValue] = [:]
  private(set) var new: [AttributeName: StoredValue] = [:]
  /// Whether a purge removed values, so that only the records know what the user has.
  private(set) var isPurged = false

  init(_ id: User.ID) {
    self.id = id
  }

  mutating func add(_ change: Change) {
    if change.isPurged { isPurged = true }
    if old[change.attribute] == nil { old[change.attribute] = change.old }
    new[change.attribute] = change.new
  }

  /// Whether the user existed before; true for one whose name did not change.
  var existed: Bool { old[.name].map { !$0.isNull } ?? true }

  /// Whether the user exists afterwards.
  var exists: Bool { new[.name].map { !$0.isNull } ?? true }

  /// Whether the user was added or removed, which concerns lists that mention none of the attributes too.
  var isAddedOrRemoved: Bool { existed != exists || isPurged }

  var attributes: Dictionary<AttributeName, StoredValue>.Keys { new.keys }

  /// The value before the changes; nil if it is unknown, because the attribute did not change.
  func oldValue(_ attribute: AttributeName) -> StoredValue? {
    if attribute == .id { return .integer(id.rawValue) }
    // The log has every attribute of a user that was removed.
    return old[attribute] ?? (existed && exists ? nil : .null)
  }

  /// The value after the changes; nil if it is unknown, because the attribute did not change.
  func newValue(_ attribute: AttributeName) -> StoredValue? {
    if attribute == .id { return .integer(id.rawValue) }
    return new[attribute] ?? (existed && exists ? nil : .null)
  }
}

/// A change set for lists: what it changed, by user.
struct FoldedSet: Sendable {
  /// The position of the round, and the end of the set in the log.
  let position: Int128
  let cursor: Cursor
  let discontinuity: StoreError.Code?
  /// In the order of first changes; nil if everything must be read again.
  let deltas: [UserDelta]?

  /// The number of changes from which reading the lists again is faster than folding them.
  static let limit = 20_000

  init(_ set: ChangeSet) {
    position = set.position
    cursor = set.cursor
    discontinuity = set.discontinuity
    if set.discontinuity != nil {
      deltas = nil
      return
    }
    var folded = Fold()
    var count = 0
    do {
      try set.iterate { change in
        count += 1
        folded.add(change)
        return count <= Self.limit
      }
    } catch {
      // A huge set that was deleted before it was delivered, for example: the records include it.
      count = .max
    }
    deltas = count <= Self.limit ? folded.deltas : nil
  }
}

/// Collects changes by user.
struct Fold {
  private(set) var deltas: [UserDelta] = []
  private var places: [User.ID: Int] = [:]

  mutating func add(_ change: Change) {
    if change.kind == .unknown { return }
    let place = places[change.user, default: deltas.count]
    if place == deltas.count {
      places[change.user] = place
      deltas.append(UserDelta(change.user))
    }
    deltas[place].add(change)
  }

  subscript(_ id: User.ID) -> UserDelta? { places[id].map { deltas[$0] } }
}

/// The changes of one user in one or more change sets: for each attribute, the value before the first and after the last change.
struct UserDelta: Sendable {
  let id: User.ID
  private(set) var changes: [(attribute: AttributeName, old: StoredValue, new: StoredValue)] = []
  /// The places of the changes, if there are many.
  private var places: [AttributeName: Int] = [:]
  /// Whether a purge removed values, so that only the records show what the user has.
  private(set) var isPurged = false
  /// Whether the user existed before, and exists afterwards; true for one whose name did not change.
  private(set) var existed = true
  private(set) var exists = true

  init(_ id: User.ID) {
    self.id = id
  }

  mutating func add(_ change: Change) {
    if change.isPurged { isPurged = true }
    add(change.attribute, change.old, change.new)
  }

  mutating func add(_ later: UserDelta) {
    if later.isPurged { isPurged = true }
    for (attribute, old, new) in later.changes { add(attribute, old, new) }
  }

  private mutating func add(_ attribute: AttributeName, _ old: StoredValue, _ new: StoredValue) {
    if let place = place(of: attribute) {
      changes[place].new = new
    } else {
      if attribute == .name { existed = !old.isNull }
      changes.append((attribute, old, new))
      if changes.count > Self.searchLimit {
        let start = places.isEmpty ? 0 : changes.count - 1
        for place in start..<changes.count { places[changes[place].attribute] = place }
      }
    }
    if attribute == .name { exists = !new.isNull }
  }

  /// The number of changes up to which searching is faster than hashing.
  private static let searchLimit = 16

  private func place(of attribute: AttributeName) -> Int? {
    places.isEmpty ? changes.firstIndex { $0.attribute == attribute } : places[attribute]
  }

  /// Whether the user was added or removed, which concerns lists that mention none of the attributes too.
  var isAddedOrRemoved: Bool { existed != exists || isPurged }

  func changes(_ attribute: AttributeName) -> Bool { place(of: attribute) != nil }

  /// The value before the changes; nil if it is unknown, because the attribute did not change.
  func oldValue(_ attribute: AttributeName) -> StoredValue? {
    place(of: attribute).map { changes[$0].old } ?? same(attribute)
  }

  /// The value after the changes; nil if it is unknown, because the attribute did not change.
  func newValue(_ attribute: AttributeName) -> StoredValue? {
    place(of: attribute).map { changes[$0].new } ?? same(attribute)
  }

  /// The value of an attribute that did not change, if it is known.
  private func same(_ attribute: AttributeName) -> StoredValue? {
    if attribute == .id { return .integer(id.rawValue) }
    // The log has every attribute of a user that was added or removed.
    return existed && exists ? nil : .null
  }
}

/// A change set for lists: what it changed, by user.
struct FoldedSet: Positioned {
  private let source: ChangeSet
  /// nil until it is folded: a set is cut under a lock, and folding may read the log.
  private let folded: [UserDelta]??

  /// The number of changes from which reading the lists again is faster than folding them.
  static let limit = 20_000

  init(_ set: ChangeSet) { self.init(source: set, folded: .some(Self.fold(set))) }

  private init(source: ChangeSet, folded: [UserDelta]??) { (self.source, self.folded) = (source, folded) }

  /// The changes in the order of the first ones; nil if everything must be read again.
  ///
  /// Call it under no lock.
  var deltas: [UserDelta]? { folded ?? Self.fold(source) }

  private static func fold(_ set: ChangeSet) -> [UserDelta]? {
    if set.discontinuity != nil { return nil }
    var folded = Fold()
    var count = 0
    do {
      try set.iterate { change in
        count += 1
        folded.add(change)
        return count <= limit
      }
    } catch {
      // A huge set that was deleted before it was delivered, for example: the records include it.
      return nil
    }
    return count <= limit ? folded.deltas : nil
  }

  var position: Int128 { source.position }
  var cursor: Cursor { source.cursor }
  var discontinuity: StoreError.Code? { source.discontinuity }

  /// Returns the rest of a set that was read in part; nil if all of it was read.
  func dropping(through position: Int128) -> FoldedSet? {
    if source.reaches(across: position) {
      return source.dropping(through: position).map { FoldedSet(source: $0, folded: nil) }
    }
    return self.position > position ? self : nil
  }

  /// The changes of several sets as one; nil if everything must be read again.
  static func deltas(of sets: [FoldedSet]) -> [UserDelta]? {
    var fold = Fold()
    for set in sets {
      guard let deltas = set.deltas else { return nil }
      for delta in deltas { fold.add(delta) }
    }
    return fold.deltas
  }
}

extension Change {
  /// Whether it changes an attribute with the name of a column, which other programs can store, and which users do not show.
  fileprivate var isHidden: Bool {
    attribute == .id || attribute == .name && kind == .updated && (old.isNull || new.isNull)
  }
}

struct Fold {
  private(set) var deltas: [UserDelta] = []
  /// The places of the users, if there are several.
  private var places: [User.ID: Int] = [:]

  mutating func add(_ change: Change) {
    if change.kind == .unknown || change.isHidden { return }
    deltas[place(of: change.user)].add(change)
  }

  mutating func add(_ delta: UserDelta) { deltas[place(of: delta.id)].add(delta) }

  private mutating func place(of id: User.ID) -> Int {
    // Mostly the user of the change before.
    if let last = deltas.last, last.id == id { return deltas.count - 1 }
    if deltas.count == 1 { places[deltas[0].id] = 0 }
    if let place = places[id] { return place }
    if !deltas.isEmpty { places[id] = deltas.count }
    deltas.append(UserDelta(id))
    return deltas.count - 1
  }

  subscript(_ id: User.ID) -> UserDelta? {
    if places.isEmpty { return deltas.first.flatMap { $0.id == id ? $0 : nil } }
    return places[id].map { deltas[$0] }
  }
}

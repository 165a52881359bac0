/// Finds the live queries that changes concern, without asking each of them.
///
/// A query whose condition requires an attribute to have one of a few values is found by the values that a changed user had
/// and has; the others are found by the attributes that they mention.
struct LiveIndex: Sendable {
  /// Queries, by identity.
  private struct Group: Sendable {
    private(set) var targets: [ObjectIdentifier: LiveQuery] = [:]

    var isEmpty: Bool { targets.isEmpty }

    mutating func insert(_ target: LiveQuery) { targets[ObjectIdentifier(target)] = target }
    mutating func remove(_ target: LiveQuery) { targets[ObjectIdentifier(target)] = nil }
  }

  /// The queries without a key, also by the attributes that they mention.
  private var unkeyed = Group()
  private var mentioning: [AttributeName: Group] = [:]
  private var mentioningAll = Group()
  /// The queries with a key, by its attribute.
  private var keyed: [AttributeName: Keys] = [:]
  private let usesKeys: Bool

  /// The queries with a key of one attribute.
  private struct Keys: Sendable {
    /// By value; integers in place of equal reals.
    var groups: [StoredValue: Group] = [:]
    /// How many queries mention an attribute; nil is the number of those that mention all.
    var mentions: [AttributeName?: Int] = [:]

    func concern(_ delta: UserDelta) -> Bool {
      delta.isAddedOrRemoved || mentions[nil] != nil || delta.changes.contains { mentions[$0.attribute] != nil }
    }
  }

  /// An attribute of a user.
  struct Place: Hashable {
    let user: User.ID
    let attribute: AttributeName
  }

  /// Without keys, each query is asked about each change of an attribute that it mentions: slower, and always right.
  init(usesKeys: Bool = true) {
    self.usesKeys = usesKeys
  }

  /// All queries.
  var all: [LiveQuery] {
    Array(unkeyed.targets.values) + keyed.values.flatMap { $0.groups.values.flatMap(\.targets.values) }
  }

  mutating func add(_ target: LiveQuery) { update(target) { $0.insert($1) } }

  mutating func remove(_ target: LiveQuery) { update(target) { $0.remove($1) } }

  private mutating func update(_ target: LiveQuery, _ update: (inout Group, LiveQuery) -> Void) {
    let mentions = target.mentions
    guard usesKeys, let key = mentions.key else {
      update(&unkeyed, target)
      guard let attributes = mentions.attributes else { return update(&mentioningAll, target) }
      for attribute in attributes { update(&mentioning[attribute, default: Group()], target) }
      for attribute in attributes where mentioning[attribute]?.isEmpty == true { mentioning[attribute] = nil }
      return
    }
    var keys = keyed[key.attribute].take() ?? Keys()
    let values = Set(key.values.map(\.asKey))
    let isNew = values.first.map { keys.groups[$0]?.targets[ObjectIdentifier(target)] == nil } ?? false
    for value in values {
      update(&keys.groups[value, default: Group()], target)
      if keys.groups[value]?.isEmpty == true { keys.groups[value] = nil }
    }
    for attribute in mentions.attributes.map({ $0.map { $0 } }) ?? [nil] {
      let count = keys.mentions[attribute, default: 0] + (isNew ? 1 : -1)
      keys.mentions[attribute] = count > 0 ? count : nil
    }
    if !keys.groups.isEmpty { keyed[key.attribute] = keys }
  }

  /// The queries that changes concern, each with its part of the changes, in their order.
  ///
  /// `read` returns the values of attributes that did not change, if it can.
  func targets(
    of deltas: [UserDelta], reading read: ([Place]) -> [Place: StoredValue]
  ) -> [(target: LiveQuery, deltas: [UserDelta])] {
    let unknown = keyed.flatMap { attribute, keys in
      deltas.lazy.filter { keys.concern($0) && $0.newValue(attribute) == nil }.map {
        Place(user: $0.id, attribute: attribute)
      }
    }
    let values = unknown.isEmpty ? [:] : read(unknown)
    var found: [ObjectIdentifier: (target: LiveQuery, deltas: [UserDelta])] = [:]
    func add(_ group: Group?, _ delta: UserDelta) {
      for (id, target) in group?.targets ?? [:] {
        if found[id]?.deltas.last?.id == delta.id { continue }
        found[id, default: (target, [])].deltas.append(delta)
      }
    }
    for delta in deltas {
      add(delta.isAddedOrRemoved ? unkeyed : mentioningAll, delta)
      if !mentioning.isEmpty { for change in delta.changes { add(mentioning[change.attribute], delta) } }
      for (attribute, keys) in keyed where keys.concern(delta) {
        let same = values[Place(user: delta.id, attribute: attribute)]
        if let old = delta.oldValue(attribute) ?? same, let new = delta.newValue(attribute) ?? same, !delta.isPurged {
          add(keys.groups[old.asKey], delta)
          if new.asKey != old.asKey { add(keys.groups[new.asKey], delta) }
        } else {
          for group in keys.groups.values { add(group, delta) }
        }
      }
    }
    return Array(found.values)
  }
}

extension StoredValue {
  /// The same value for all that are equal in conditions: an integer for a real with its value.
  fileprivate var asKey: StoredValue {
    if case .real(let real) = self, let integer = Int64(exactly: real) { .integer(integer) } else { self }
  }
}

/// Finds the live queries that changes concern, without asking each of them.
///
/// A query whose condition requires an attribute to have one of a few values is found by the values that a changed user had
/// and has; the others are found by the attributes that they mention.
struct LiveIndex: Sendable {
  /// All queries by their ordinals, which stand for them in the sets below.
  private var queries: [Int: LiveQuery] = [:]
  private var unkeyed = Group()
  /// The queries with a key, by its attribute and then by each of its values (`asKey`).
  private var keyed: [AttributeName: (group: Group, byValue: [StoredValue: Set<Int>])] = [:]
  private let usesKeys: Bool

  /// Queries, also by the attributes that they mention.
  private struct Group: Sendable {
    private(set) var all: Set<Int> = []
    private(set) var mentioningAll: Set<Int> = []
    private(set) var mentioning: [AttributeName: Set<Int>] = [:]

    mutating func update(_ mentioned: Set<AttributeName>?, _ update: (inout Set<Int>) -> Void) {
      update(&all)
      guard let mentioned else { return update(&mentioningAll) }
      for attribute in mentioned { mentioning.update(attribute, update) }
    }

    func concern(_ delta: UserDelta) -> Bool {
      delta.isAddedOrRemoved || !mentioningAll.isEmpty || delta.changes.contains { mentioning[$0.attribute] != nil }
    }
  }

  struct Place: Hashable {
    let user: User.ID
    let attribute: AttributeName
  }

  /// Without keys, each query is asked about each change of an attribute that it mentions: slower, and always right.
  init(usesKeys: Bool = true) {
    self.usesKeys = usesKeys
  }

  /// All queries, in the order in which they were made.
  var all: [LiveQuery] { queries.values.sorted { $0.ordinal < $1.ordinal } }

  var isEmpty: Bool { queries.isEmpty }

  func contains(_ query: LiveQuery) -> Bool { queries[query.ordinal] === query }

  mutating func add(_ query: LiveQuery) {
    queries[query.ordinal] = query
    update(query) { $0.insert(query.ordinal) }
  }

  mutating func remove(_ query: LiveQuery) {
    queries[query.ordinal] = nil
    update(query) { $0.remove(query.ordinal) }
  }

  private mutating func update(_ query: LiveQuery, _ update: (inout Set<Int>) -> Void) {
    let mentions = query.mentions
    guard usesKeys, let key = mentions.key else { return unkeyed.update(mentions.attributes, update) }
    // Taken out, so that it is changed in place.
    var (group, byValue) = keyed.removeValue(forKey: key.attribute) ?? (Group(), [:])
    group.update(mentions.attributes, update)
    for value in key.values { byValue.update(value.asKey, update) }
    if !group.all.isEmpty { keyed[key.attribute] = (group, byValue) }
  }

  /// The queries that changes concern, in the order in which they were made, each with its part of the changes, in their order.
  ///
  /// `read` returns the values of attributes that did not change, if it can.
  func queries(
    for deltas: [UserDelta], reading read: ([Place]) -> [Place: StoredValue]
  ) -> [(query: LiveQuery, deltas: [UserDelta])] {
    let unknown = keyed.flatMap { attribute, queries in
      deltas.lazy.filter { queries.group.concern($0) && $0.newValue(attribute) == nil }.map {
        Place(user: $0.id, attribute: attribute)
      }
    }
    let values = unknown.isEmpty ? [:] : read(unknown)
    var found: [Int: [UserDelta]] = [:]
    func add(_ ordinals: Set<Int>?, _ delta: UserDelta) {
      for ordinal in ordinals ?? [] where found[ordinal]?.last?.id != delta.id {
        found[ordinal, default: []].append(delta)
      }
    }
    for delta in deltas {
      add(delta.isAddedOrRemoved ? unkeyed.all : unkeyed.mentioningAll, delta)
      if !unkeyed.mentioning.isEmpty {
        for change in delta.changes { add(unkeyed.mentioning[change.attribute], delta) }
      }
      for (attribute, queries) in keyed where queries.group.concern(delta) {
        let same = values[Place(user: delta.id, attribute: attribute)]
        if let old = delta.oldValue(attribute) ?? same, let new = delta.newValue(attribute) ?? same, !delta.isPurged {
          add(queries.byValue[old.asKey], delta)
          if new.asKey != old.asKey { add(queries.byValue[new.asKey], delta) }
        } else {
          add(queries.group.all, delta)
        }
      }
    }
    return found.sorted { $0.key < $1.key }.compactMap { ordinal, deltas in queries[ordinal].map { ($0, deltas) } }
  }
}

extension Dictionary where Value == Set<Int> {
  fileprivate mutating func update(_ key: Key, _ update: (inout Value) -> Void) {
    update(&self[key, default: []])
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}

extension StoredValue {
  /// The same value for all that are equal in conditions: an integer for a real with its value, text for its bytes.
  fileprivate var asKey: StoredValue {
    switch self {
    case .real(let real): Int64(exactly: real).map { .integer($0) } ?? self
    case .invalidText(let bytes): String(validating: bytes, as: UTF8.self).map { .text($0) } ?? self
    default: self
    }
  }
}

/// A reference from a round to a listener's slot.
struct SlotReference: Sendable {
  /// The place in the order of calls; never used twice.
  let ordinal: Int
  let index: Int
}

/// The listeners of one topic, in the order of registration.
///
/// References to removed slots stay for a while.
struct TopicList: Sendable {
  /// The values, which are called before the listeners that may read them.
  private(set) var values: [SlotReference] = []
  private(set) var listeners: [SlotReference] = []
  private var indexByName: [String: Int] = [:]
  private var activeCount = 0

  var isEmpty: Bool { activeCount == 0 }

  /// The index of the slot that a name has here; if there is none, enters a new slot and returns its index.
  mutating func index(for new: SlotReference, _ name: String?, keepsValue: Bool) -> Int {
    // Found or entered with one hashing.
    func same(_ index: inout Int) -> Int { index }
    if let name {
      let index = same(&indexByName[name, default: new.index])
      if index != new.index { return index }
    }
    if keepsValue { values.append(new) } else { listeners.append(new) }
    activeCount += 1
    return new.index
  }

  /// Removes a name.
  ///
  /// - Returns: the index of its slot.
  mutating func removeName(_ name: String) -> Int? { indexByName.removeValue(forKey: name) }

  /// Counts one slot less.
  ///
  /// - Parameter isActive: Whether a slot still has the listener of the reference; called for all when most are gone.
  mutating func removeOne(isActive: (SlotReference) -> Bool) {
    activeCount -= 1
    guard activeCount > 0, values.count + listeners.count > 2 * activeCount + 8 else { return }
    values.removeAll { !isActive($0) }
    listeners.removeAll { !isActive($0) }
  }
}

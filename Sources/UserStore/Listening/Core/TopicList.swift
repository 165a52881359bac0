/// A listener's slot, as a round remembers it.
struct SlotReference: Sendable {
  /// The order of calls; never given twice.
  let ordinal: Int
  let index: Int
}

/// Who is told of one topic, in order of registration; references to slots that are gone stay for a while.
struct TopicList: Sendable {
  /// What keeps a value: told before all who may ask for it.
  private(set) var values: [SlotReference] = []
  private(set) var listeners: [SlotReference] = []
  private var indexByName: [String: Int] = [:]
  private var activeCount = 0

  var isEmpty: Bool { activeCount == 0 }

  /// The index of the slot that a name has here; without one, that of a new slot, which is entered.
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

  /// Forgets a name.
  ///
  /// - Returns: the index of its slot.
  mutating func removeName(_ name: String) -> Int? { indexByName.removeValue(forKey: name) }

  /// One is gone.
  ///
  /// - Parameter isActive: Whether a slot is still the one that is meant; asked of all when most are gone.
  mutating func removeOne(isActive: (SlotReference) -> Bool) {
    activeCount -= 1
    guard activeCount > 0, values.count + listeners.count > 2 * activeCount + 8 else { return }
    values.removeAll { !isActive($0) }
    listeners.removeAll { !isActive($0) }
  }
}

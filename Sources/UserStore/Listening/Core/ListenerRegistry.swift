/// The listeners of a hub by topic: a value that is protected by the hub's lock, and calls no listener.
///
/// A slot is one place in the order of calls; it stays when its name is bound again. Slots are in one array, and a reference to a
/// slot has its index and its ordinal, so that a reference to a removed slot is recognized. Nothing else refers to a listener, so
/// that the caller that removes it holds the last reference.
struct ListenerRegistry<Content: Routable>: Sendable {
  typealias Topic = Content.Topic

  /// The variable part of a listener; small, because a round accesses it at each call.
  struct Slot: Sendable {
    let listener: Listener<Content>
    var calls: Int
    /// The listener is called only for rounds after this position.
    var startsAfter: Int128

    fileprivate mutating func call(_ reference: SlotReference, at position: Int128) -> Listener<Content>? {
      if listener.ordinal != reference.ordinal || startsAfter >= position { return nil }
      calls += 1
      return listener
    }
  }

  private var slots: [Slot?] = []
  private var freeIndices: [Int] = []
  /// The only slot; nil if there are others, or were others after it was added.
  private(set) var only: SlotReference?
  private(set) var mailboxes: [ObjectIdentifier: (mailbox: Mailbox, listeners: Int)] = [:]
  /// The number of the last registration; a new slot has the number of its first one as its ordinal.
  private var lastNumber = 0
  /// The number of listeners with an owner, and the number at which to look for released owners.
  private var owned = 0
  private var sweepAt = 64
  private var valueCount = 0
  /// The lists that a round looks up, by topic; a copy of it is a snapshot.
  private(set) var lists: [Topic: TopicList] = [:]

  /// Whether there are values, which are called before the listeners.
  var keepsValues: Bool { valueCount > 0 }

  var inOrder: [(registration: Registration, slot: Slot)] {
    occupied.sorted { $0.slot.listener.ordinal < $1.slot.listener.ordinal }
  }

  var occupied: [(registration: Registration, slot: Slot)] {
    slots.indices.compactMap { index in
      slots[index].map { (Registration(index: index, number: $0.listener.number), $0) }
    }
  }

  // MARK: Registering

  /// Binds a listener to the slot that its name has in the topic, or to a new one at the end.
  ///
  /// Returns also the listener that it replaced, to be released under no lock. The owner is not passed as a weak reference,
  /// which would be a tenth of the cost of a binding; the caller holds it too.
  mutating func bind(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?, keepsValue: Bool,
    first: ListenerConditions.FirstValue?, onEnd: ListenerConditions.OnEnd?, startsAfter: Int128,
    _ action: Content.Action
  ) -> (registration: Registration, replaced: Listener<Content>?) {
    lastNumber += 1
    if owner != nil { owned += 1 }
    if keepsValue { valueCount += 1 }
    let free = freeIndices.last ?? slots.count
    let new = SlotReference(ordinal: lastNumber, index: free)
    let index = lists[topic, default: TopicList()].index(for: new, name, keepsValue: keepsValue)
    let old = index == free ? nil : slots[index]
    assert(index == free || old != nil, "a name refers to an occupied slot")
    let isPlain = place.actor == nil && owner == nil && !keepsValue && first == nil
    let conditions =
      isPlain
      ? nil
      : ListenerConditions(
        mailbox: place.actor.map { mailbox(of: $0) }, place: place, owner: owner, keepsValue: keepsValue, first: first)
    let listener = Listener<Content>(
      topic: topic, name: name, ordinal: old?.listener.ordinal ?? lastNumber, number: lastNumber,
      conditions: conditions, onEnd: onEnd, action: action)
    let slot = Slot(listener: listener, calls: old?.calls ?? 0, startsAfter: startsAfter)
    if let old {
      slots[index] = slot
      uncount(old.listener)
    } else {
      if freeIndices.popLast() == nil { slots.append(slot) } else { slots[free] = slot }
      only = slots.count - freeIndices.count == 1 ? new : nil
    }
    return (Registration(index: index, number: lastNumber), old?.listener)
  }

  /// Removes a listener if it is still registered, and returns it, to be released under no lock.
  mutating func remove(_ registration: Registration) -> Listener<Content>? {
    guard let listener = listener(registration), let list = lists.index(forKey: listener.topic) else { return nil }
    if let name = listener.name { _ = lists.values[list].removeName(name) }
    return removeSlot(at: registration.index, of: list)
  }

  /// Removes a name from a topic, and returns its listener, to be released under no lock.
  mutating func remove(_ name: String, from topic: Topic) -> Listener<Content>? {
    guard let list = lists.index(forKey: topic), let index = lists.values[list].removeName(name) else { return nil }
    return removeSlot(at: index, of: list)
  }

  /// Removes all listeners but those that keep values, and returns them in the order of calls, to be released under no lock.
  mutating func removeAll() -> [Listener<Content>] {
    inOrder.filter { !$0.slot.listener.keepsValue }.compactMap { remove($0.registration) }
  }

  /// Whether the listeners with an owner have doubled since released owners were last looked for.
  var isSweepDue: Bool { owned >= sweepAt }

  mutating func recordSweep() { sweepAt = max(64, owned * 2) }

  // MARK: Calling

  /// Counts a call and returns the listener; nil if the slot was removed or has not started yet.
  mutating func call(_ reference: SlotReference, at position: Int128) -> Listener<Content>? {
    // In place: a copy of the slot would be most of the cost of a call.
    slots[reference.index]?.call(reference, at: position) ?? nil
  }

  /// Returns the listener of a call that waited in a mailbox, and was counted when it was posted.
  func call(_ registration: Registration, at position: Int128) -> Listener<Content>? {
    guard let slot = slot(registration), slot.startsAfter < position else { return nil }
    return slot.listener
  }

  func takeFirst(
    _ registration: Registration
  ) -> (first: ListenerConditions.FirstValue, listener: Listener<Content>)? {
    guard let listener = listener(registration) else { return nil }
    return listener.conditions?.first.withLock { $0.take() }.map { ($0, listener) }
  }

  func listener(_ registration: Registration) -> Listener<Content>? { slot(registration)?.listener }

  /// Starts a listener with the rounds after `position`, and counts the call with its first value.
  mutating func start(_ registration: Registration, after position: Int128) -> Listener<Content>? {
    guard let listener = listener(registration) else { return nil }
    slots[registration.index]?.startsAfter = position
    slots[registration.index]?.calls += 1
    return listener
  }

  // MARK: Parts

  private func slot(_ registration: Registration) -> Slot? {
    guard let slot = slots[registration.index], slot.listener.number == registration.number else { return nil }
    return slot
  }

  private mutating func removeSlot(at index: Int, of list: Dictionary<Topic, TopicList>.Index) -> Listener<Content>? {
    guard let listener = slots[index].take()?.listener else { return nil }
    freeIndices.append(index)
    only = nil
    uncount(listener)
    let slots = slots
    let isLast = lists.values[list].removeOne { slots[$0.index]?.listener.ordinal == $0.ordinal }
    if isLast { lists.remove(at: list) }
    return listener
  }

  private mutating func uncount(_ listener: Listener<Content>) {
    if listener.keepsValue { valueCount -= 1 }
    guard let conditions = listener.conditions else { return }
    if conditions.owner != nil { owned -= 1 }
    guard let mailbox = conditions.mailbox, let (current, count) = mailboxes[mailbox.id], current === mailbox
    else { return }
    mailboxes[mailbox.id] = count == 1 ? nil : (mailbox, count - 1)
  }

  private mutating func mailbox(of actor: any Actor) -> Mailbox {
    let id = ObjectIdentifier(actor)
    if let (mailbox, listeners) = mailboxes[id], mailbox.isOf(actor) {
      mailboxes[id] = (mailbox, listeners + 1)
      return mailbox
    }
    let mailbox = Mailbox(actor)
    mailboxes[id] = (mailbox, 1)
    return mailbox
  }
}

/// A reference from a round to a listener's slot.
struct SlotReference: Sendable {
  /// The place in the order of calls; never used twice.
  let ordinal: Int
  let index: Int
}

/// A reference to one listener of a slot: not to one that its name had before or has later.
struct Registration: Sendable {
  let index: Int
  let number: Int
}

/// The listeners of one topic, in the order of registration; references to removed slots stay for a while.
struct TopicList: Sendable {
  /// The values, which are called before the listeners that may read them.
  private(set) var values: [SlotReference] = []
  private(set) var listeners: [SlotReference] = []
  private var indexByName: [String: Int] = [:]
  private var activeCount = 0

  /// Returns the index of the slot that a name has here; if there is none, enters a new slot and returns its index.
  mutating func index(for new: SlotReference, _ name: String?, keepsValue: Bool) -> Int {
    // Hashes the name once, to find or to enter it.
    func same(_ index: inout Int) -> Int { index }
    if let name {
      let index = same(&indexByName[name, default: new.index])
      if index != new.index { return index }
    }
    if keepsValue { values.append(new) } else { listeners.append(new) }
    activeCount += 1
    return new.index
  }

  mutating func removeName(_ name: String) -> Int? { indexByName.removeValue(forKey: name) }

  /// Counts one slot less, and returns whether it was the last one; if most slots are removed, removes the references to those
  /// that are not active.
  mutating func removeOne(isActive: (SlotReference) -> Bool) -> Bool {
    activeCount -= 1
    if activeCount == 0 { return true }
    if values.count + listeners.count > 2 * activeCount + 8 {
      values.removeAll { !isActive($0) }
      listeners.removeAll { !isActive($0) }
    }
    return false
  }
}

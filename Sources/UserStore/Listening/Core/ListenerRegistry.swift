/// The listeners of a hub by topic: a value without locks or calls.
///
/// A slot is one place in the order of calls; it stays when another listener takes over its name. Slots are in one array,
/// and a reference to a slot has its index and its ordinal, so that a reference to a removed slot is recognized. Nothing
/// else refers to a listener, so that the caller that removes it holds the last reference.
struct ListenerRegistry<Content: Routable>: Sendable {
  typealias Topic = Content.Topic

  /// The part of a listener that changes; small, because a round touches it at each call.
  struct Slot: Sendable {
    let ordinal: Int
    let listener: Listener<Content>
    /// The listener is called only for rounds after this position.
    var startsAfter: Int128
    var calls: Int
    var lastPosition: Int128?
  }

  private var slots: [Slot?] = []
  private var freeIndices: [Int] = []
  private var mailboxes: [ObjectIdentifier: (mailbox: Mailbox, listeners: Int)] = [:]
  private var nextOrdinal = 0
  private var nextRegistration = 0
  /// The number of listeners with an owner, and the number of them at which to look for released owners.
  private var owned = 0
  private var sweepAt = 64
  private var keepers = 0
  /// The lists that a round looks up, by topic.
  ///
  /// A copy of it is a snapshot.
  private(set) var lists: [Topic: TopicList] = [:]

  /// Whether there are values, which are called before the listeners.
  var keepsValues: Bool { keepers > 0 }

  /// All slots in the order of calls.
  var inOrder: [(reference: SlotReference, slot: Slot)] {
    present.sorted { $0.reference.ordinal < $1.reference.ordinal }
  }

  private var present: [(reference: SlotReference, slot: Slot)] {
    slots.indices.compactMap { index in
      slots[index].map { (SlotReference(ordinal: $0.ordinal, index: index), $0) }
    }
  }

  // MARK: Registering

  /// How a listener is to be called.
  struct Options {
    var place: (any Actor)?
    var owner: WeakReference?
    var keepsValue = false
    var first: ListenerConditions.FirstValue?
    var onEnd: ListenerConditions.OnEnd?

    var isPlain: Bool { place == nil && owner == nil && first == nil }
  }

  /// A listener that was bound, and the one that it replaced, to be released under no lock.
  struct Binding {
    let reference: SlotReference
    let registration: Int
    let replaced: Listener<Content>?
  }

  /// Binds a listener: to the slot that its name has in the topic, or to a new one at the end.
  mutating func bind(
    _ name: String?, to topic: Topic, _ options: Options, startsAfter: Int128,
    action: Content.Action
  ) -> Binding {
    nextRegistration += 1
    let listener = Listener<Content>(
      topic: topic, name: name, registration: nextRegistration, keepsValue: options.keepsValue,
      conditions: options.isPlain ? nil : conditions(of: options), onEnd: options.onEnd, action: action)
    if options.owner != nil { owned += 1 }
    if options.keepsValue { keepers += 1 }
    let free = freeIndices.last ?? slots.count
    let reference = SlotReference(ordinal: nextOrdinal + 1, index: free)
    let index = lists[topic, default: TopicList()].index(for: reference, name, keepsValue: options.keepsValue)
    if index != free { return replace(at: index, with: listener, startsAfter: startsAfter) }
    nextOrdinal += 1
    let slot = Slot(ordinal: nextOrdinal, listener: listener, startsAfter: startsAfter, calls: 0, lastPosition: nil)
    if freeIndices.popLast() == nil { slots.append(slot) } else { slots[free] = slot }
    return Binding(reference: reference, registration: nextRegistration, replaced: nil)
  }

  /// Removes a slot, if it still has the registration.
  ///
  /// - Returns: the listener, to be released under no lock.
  mutating func remove(_ reference: SlotReference, registration: Int) -> Listener<Content>? {
    guard let listener = listener(reference, registration), let list = lists.index(forKey: listener.topic)
    else { return nil }
    if let name = listener.name { _ = lists.values[list].removeName(name) }
    return removeSlot(at: reference.index, of: list)
  }

  /// Removes a name from a topic, and returns the listener, to be released under no lock.
  mutating func remove(_ name: String, from topic: Topic) -> Listener<Content>? {
    guard let list = lists.index(forKey: topic), let index = lists.values[list].removeName(name) else { return nil }
    return removeSlot(at: index, of: list)
  }

  /// The listeners that end with an owner.
  var withOwner: [(reference: SlotReference, listener: Listener<Content>)] {
    present.compactMap { $1.listener.conditions?.owner == nil ? nil : ($0, $1.listener) }
  }

  /// Whether the listeners with an owner have doubled since the last sweep.
  var isSweepDue: Bool { owned >= sweepAt }

  /// Records that a sweep was made.
  mutating func swept() { sweepAt = max(64, owned * 2) }

  /// Removes all listeners.
  ///
  /// - Returns: the listeners in the order of calls, to be released under no lock.
  mutating func removeAll() -> [Listener<Content>] {
    inOrder.compactMap { remove($0.reference, registration: $0.slot.listener.registration) }
  }

  // MARK: Calling

  /// A call to make.
  enum Call {
    /// Without the listener: the reference that is not taken is a tenth of the cost of a call.
    case plain(Listener<Content>.Action, name: String?)
    case conditional(Listener<Content>)
  }

  /// Counts a call and returns what to call; nil if the slot is gone or has not started yet.
  mutating func call(_ reference: SlotReference, at position: Int128) -> Call? {
    // In place: a copy of the slot would be most of the cost of a call.
    slots[reference.index]?.call(reference.ordinal, at: position) ?? nil
  }

  /// Returns the listener of a call that waited in a mailbox, and was counted when it was posted.
  func call(_ reference: SlotReference, registration: Int, at position: Int128) -> Listener<Content>? {
    guard let slot = slot(reference), slot.listener.registration == registration, slot.startsAfter < position
    else { return nil }
    return slot.listener
  }

  /// The first value of a listener, if it is still to be delivered.
  func first(_ reference: SlotReference, registration: Int) -> ListenerConditions.FirstValue? {
    listener(reference, registration)?.conditions?.first.withLock { $0 }
  }

  /// Takes the first value of a listener to deliver it now: the table holds it no longer.
  func takeFirst(
    _ reference: SlotReference, registration: Int
  ) -> (first: ListenerConditions.FirstValue, listener: Listener<Content>)? {
    guard let listener = listener(reference, registration) else { return nil }
    return listener.conditions?.first.withLock { $0.take() }.map { ($0, listener) }
  }

  /// The listener in a slot, if the slot still has the registration.
  func listener(_ reference: SlotReference, _ registration: Int) -> Listener<Content>? {
    guard let slot = slot(reference), slot.listener.registration == registration else { return nil }
    return slot.listener
  }

  /// Starts a listener with the rounds after `position`, and counts the call with its first value.
  mutating func start(_ reference: SlotReference, registration: Int, after position: Int128) -> Listener<Content>? {
    guard let listener = listener(reference, registration) else { return nil }
    slots[reference.index]?.startsAfter = position
    slots[reference.index]?.count(at: position)
    return listener
  }

  // MARK: Parts

  private func slot(_ reference: SlotReference) -> Slot? {
    guard let slot = slots[reference.index], slot.ordinal == reference.ordinal else { return nil }
    return slot
  }

  private mutating func replace(at index: Int, with listener: Listener<Content>, startsAfter: Int128) -> Binding {
    guard let old = slots[index] else { preconditionFailure("a name refers to an empty slot") }
    slots[index] = Slot(
      ordinal: old.ordinal, listener: listener, startsAfter: startsAfter, calls: old.calls,
      lastPosition: old.lastPosition)
    forget(old.listener)
    let reference = SlotReference(ordinal: old.ordinal, index: index)
    return Binding(reference: reference, registration: listener.registration, replaced: old.listener)
  }

  private mutating func removeSlot(at index: Int, of list: Dictionary<Topic, TopicList>.Index) -> Listener<Content>? {
    guard let listener = slots[index].take()?.listener else { return nil }
    freeIndices.append(index)
    forget(listener)
    let slots = slots
    lists.values[list].removeOne { slots[$0.index]?.ordinal == $0.ordinal }
    if lists.values[list].isEmpty { lists.remove(at: list) }
    return listener
  }

  private mutating func forget(_ listener: Listener<Content>) {
    if listener.keepsValue { keepers -= 1 }
    guard let conditions = listener.conditions else { return }
    if conditions.owner != nil { owned -= 1 }
    release(conditions.mailbox)
  }

  private mutating func conditions(of options: Options) -> ListenerConditions {
    ListenerConditions(
      mailbox: options.place.map { mailbox(of: $0) }, actor: options.place, owner: options.owner, first: options.first)
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

  private mutating func release(_ mailbox: Mailbox?) {
    guard let mailbox, let (present, count) = mailboxes[mailbox.id], present === mailbox else { return }
    let listeners = count - 1
    mailboxes[mailbox.id] = listeners == 0 ? nil : (mailbox, listeners)
  }
}

extension ListenerRegistry.Slot {
  fileprivate mutating func call(_ ordinal: Int, at position: Int128) -> ListenerRegistry.Call? {
    if self.ordinal != ordinal || startsAfter >= position { return nil }
    count(at: position)
    return listener.conditions == nil ? .plain(listener.action, name: listener.name) : .conditional(listener)
  }

  fileprivate mutating func count(at position: Int128) {
    calls += 1
    lastPosition = position
  }
}

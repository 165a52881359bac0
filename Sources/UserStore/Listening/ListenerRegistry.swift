/// Who listens to what: the table of a hub, a value without locks or calls.
///
/// A slot is one listener: it has its place in the order, and keeps it while another action takes over its name.
/// Slots lie in one array and are named by index and ordinal, so that a reference to one that is gone is recognised;
/// nothing else refers to an action, so that whoever removes it holds the last reference.
struct ListenerRegistry<Content: Routable>: Sendable {
  typealias Topic = Content.Topic
  typealias Action = @Sendable (Content) throws -> Void
  typealias OnEnd = @Sendable () throws -> Void
  /// Reads the present value with its position, and hands it over.
  struct FirstValue: Sendable {
    let read: @Sendable () -> (parcel: Parcel, position: Int64)
    let handOver: @Sendable (Parcel) throws -> Void
  }

  /// A slot, as a round remembers it.
  struct Reference: Sendable {
    /// The order of calls; never given twice.
    let ordinal: Int
    let index: Int
  }

  /// One listener, small, because a round touches it at each call: what rarely matters is behind `traits`.
  struct Slot: Sendable {
    let ordinal: Int
    /// Counts the actions that ever took a slot: the token of a replaced action does not fit any more.
    let registration: Int
    let action: Action
    let traits: Traits
    /// Rounds up to this position are not for the present action.
    var startsAfter: Int64
    var calls: Int
    var lastPosition: Int64?
  }

  /// What does not change in a listener.
  final class Traits: Named, Sendable {
    let topic: Topic
    let name: String?
    let keepsValue: Bool
    let mailbox: Mailbox?
    /// Kept alive, unless it is the owner itself.
    let actor: (any Actor)?
    /// Only to be looked at under no lock: looking holds it, and letting go of the last reference runs its deinitializer.
    let owner: WeakReference?
    /// Still to be handed over: it lies here, and not in the queue, so that it goes with the action.
    let first: Lock<FirstValue?>
    /// Told when nothing comes any more.
    let onEnd: OnEnd?
    /// Whether a call is only a call: inline, and for as long as it is bound.
    let isPlain: Bool

    init(
      topic: Topic, name: String?, keepsValue: Bool, mailbox: Mailbox?, actor: (any Actor)?, owner: WeakReference?,
      first: FirstValue?, onEnd: OnEnd?
    ) {
      self.topic = topic
      self.name = name
      self.keepsValue = keepsValue
      self.mailbox = mailbox
      self.actor = actor === owner?.object ? nil : actor
      self.owner = owner
      self.first = Lock(first)
      self.onEnd = onEnd
      isPlain = mailbox == nil && owner == nil
    }
  }

  /// Who is told of one topic, in order of registration; references to slots that are gone stay for a while.
  struct TopicList: Sendable {
    /// What keeps a value: told before all who may ask for it.
    fileprivate(set) var values: [Reference] = []
    fileprivate(set) var listeners: [Reference] = []
    fileprivate var living = 0
  }

  private struct NameInTopic: Hashable, Sendable {
    let topic: Topic
    let name: String
  }

  private var slots: [Slot?] = []
  private var freeIndices: [Int] = []
  private var indexByName: [NameInTopic: Int] = [:]
  private var mailboxes: [ObjectIdentifier: (mailbox: Mailbox, listeners: Int)] = [:]
  private var nextOrdinal = 0
  private var nextRegistration = 0
  /// How many have an owner, and at how many of them it is worth looking whose owner is gone.
  private var owned = 0
  private var sweepAt = 64
  /// By topic, what a round looks up: a copy of it is a snapshot.
  private(set) var lists: [Topic: TopicList] = [:]

  /// All in order of calls.
  var inOrder: [(reference: Reference, slot: Slot)] {
    slots.enumerated().compactMap { index, slot in slot.map { (Reference(ordinal: $0.ordinal, index: index), $0) } }
      .sorted { $0.reference.ordinal < $1.reference.ordinal }
  }

  // MARK: Registering

  /// A name takes the place that it has in its topic, or the last one.
  ///
  /// - Returns: the slot, the number of the registration, and what it replaced: to be released under no lock.
  mutating func bind(
    _ name: String?, to topic: Topic, on actor: (any Actor)?, owner: WeakReference?, startsAfter: Int64,
    keepsValue: Bool = false, first: FirstValue? = nil, onEnd: OnEnd? = nil, action: @escaping Action
  ) -> (reference: Reference, registration: Int, replaced: Slot?) {
    nextRegistration += 1
    let key = name.map { NameInTopic(topic: topic, name: $0) }
    let replacedIndex = key.flatMap { indexByName[$0] }
    let replaced = replacedIndex.flatMap { slots[$0] }
    if replaced == nil { nextOrdinal += 1 }
    let traits = Traits(
      topic: topic, name: name, keepsValue: keepsValue, mailbox: actor.map { mailbox(of: $0) }, actor: actor,
      owner: owner, first: first, onEnd: onEnd)
    let slot = Slot(
      ordinal: replaced?.ordinal ?? nextOrdinal, registration: nextRegistration, action: action, traits: traits,
      startsAfter: startsAfter, calls: replaced?.calls ?? 0, lastPosition: replaced?.lastPosition)
    if owner != nil { owned += 1 }
    if let replaced, let replacedIndex {
      slots[replacedIndex] = slot
      forget(replaced)
      return (Reference(ordinal: slot.ordinal, index: replacedIndex), nextRegistration, replaced)
    }
    let reference = Reference(ordinal: slot.ordinal, index: freeIndices.popLast() ?? slots.count)
    if reference.index == slots.count { slots.append(slot) } else { slots[reference.index] = slot }
    if let key { indexByName[key] = reference.index }
    lists[topic, default: TopicList()].append(reference, keepsValue: keepsValue)
    return (reference, nextRegistration, nil)
  }

  /// Removes a slot, if it still has that registration.
  ///
  /// - Returns: what was removed: to be released under no lock.
  mutating func remove(_ reference: Reference, registration: Int) -> Slot? {
    guard let slot = slot(reference), slot.registration == registration else { return nil }
    return removeSlot(at: reference.index)
  }

  /// Removes a name from a topic.
  mutating func remove(_ name: String, from topic: Topic) -> Slot? {
    indexByName[NameInTopic(topic: topic, name: name)].flatMap { removeSlot(at: $0) }
  }

  /// Those that end with an owner.
  var withOwner: [(reference: Reference, slot: Slot)] { inOrder.filter { $0.slot.traits.owner != nil } }

  /// Whether those with an owner have doubled since they were looked through.
  var isSweepDue: Bool { owned >= sweepAt }

  /// They were looked through.
  mutating func swept() { sweepAt = max(64, owned * 2) }

  /// Removes all.
  ///
  /// - Returns: what was removed, in the order of calls: to be released under no lock.
  mutating func removeAll() -> [Slot] {
    slots.indices.compactMap { removeSlot(at: $0) }.sorted { $0.ordinal < $1.ordinal }
  }

  // MARK: Calling

  /// The slot, if it is still the one that is meant.
  func slot(_ reference: Reference) -> Slot? {
    guard let slot = slots[reference.index], slot.ordinal == reference.ordinal else { return nil }
    return slot
  }

  /// What a call needs, and no more.
  struct Call {
    let action: Action
    let traits: Traits
    let registration: Int
  }

  /// Counts a call and says what to call; nil for one that is gone or has not started yet.
  mutating func call(_ reference: Reference, at position: Int64) -> Call? {
    // In place: a copy of the slot would be most of what a call costs.
    slots[reference.index]?.countCall(ordinal: reference.ordinal, after: position, at: position) ?? nil
  }

  /// The same for a call that waited in a mailbox, and was counted then.
  func call(_ reference: Reference, registration: Int, at position: Int64) -> Call? {
    guard let slot = slot(reference), slot.registration == registration, slot.startsAfter < position
    else { return nil }
    return slot.call
  }

  /// The first value that is still wanted.
  func first(_ reference: Reference, registration: Int) -> FirstValue? {
    traits(of: reference, registration)?.first.withLock { $0 }
  }

  /// The same, to be handed over now: it is forgotten, and with it what it keeps alive.
  func takeFirst(_ reference: Reference, registration: Int) -> (FirstValue, Traits)? {
    guard let traits = traits(of: reference, registration) else { return nil }
    return traits.first.withLock { $0.take() }.map { ($0, traits) }
  }

  func traits(of reference: Reference, _ registration: Int) -> Traits? {
    guard let slot = slot(reference), slot.registration == registration else { return nil }
    return slot.traits
  }

  /// Lets the action hear the rounds after `position`.
  mutating func start(_ reference: Reference, registration: Int, after position: Int64) -> Call? {
    guard let slot = slot(reference), slot.registration == registration else { return nil }
    slots[reference.index]!.startsAfter = position
    return slots[reference.index]!.countCall(ordinal: reference.ordinal, after: .max, at: position)
  }

  // MARK: Parts

  private mutating func removeSlot(at index: Int) -> Slot? {
    guard let slot = slots[index] else { return nil }
    slots[index] = nil
    freeIndices.append(index)
    let topic = slot.traits.topic
    if let name = slot.traits.name { indexByName[NameInTopic(topic: topic, name: name)] = nil }
    forget(slot)
    lists[topic]!.living -= 1
    if lists[topic]!.living == 0 {
      lists[topic] = nil
    } else if lists[topic]!.isMostlyDead {
      var list = lists.removeValue(forKey: topic)!
      list.listeners.removeAll { self.slot($0) == nil }
      list.values.removeAll { self.slot($0) == nil }
      lists[topic] = list
    }
    return slot
  }

  private mutating func forget(_ slot: Slot) {
    if slot.traits.owner != nil { owned -= 1 }
    release(slot.traits.mailbox)
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
  fileprivate var call: ListenerRegistry.Call {
    ListenerRegistry.Call(action: action, traits: traits, registration: registration)
  }

  fileprivate mutating func countCall(
    ordinal: Int, after start: Int64, at position: Int64
  ) -> ListenerRegistry.Call? {
    if self.ordinal != ordinal || startsAfter >= start { return nil }
    calls += 1
    lastPosition = position
    return call
  }
}

extension ListenerRegistry.TopicList {
  fileprivate mutating func append(_ reference: ListenerRegistry.Reference, keepsValue: Bool) {
    if keepsValue { values.append(reference) } else { listeners.append(reference) }
    living += 1
  }

  fileprivate var isMostlyDead: Bool { values.count + listeners.count > 2 * living + 8 }
}

/// An object that is not kept alive by being known.
struct WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
}

// Modeled in Proof/Model/Pump.pml; change both.

/// Named listeners by topic, and the ordered delivery of rounds to them.
///
///     publisher ── append ──▶ queue ── one deliverer at a time ──▶ round ─┬▶ listener, inline
///     bindAndFire ─ append ─▶   │                                          └▶ mailbox ─▶ listener, on its actor
///                               └ first values, each a round of its own
///
/// The public types over it separate the rights: a `SignalSource` and the store publish, a `Listenable`, a `Signal`,
/// `Observers` and `Listeners` register.
///
/// Guarantees, each with a test in `Tests/UserStoreTests/Listening/Core`:
/// - Listeners are called in the order of their first registration, across all topics. Binding a name again keeps its
///   place.
/// - A name belongs to its topic. Two names are the same when Swift's `==` says so; attribute names, consumer names and
///   values are compared by their bytes. Binding a name again replaces the listener immediately: the old closure is not
///   called again, not even in the round that is being delivered (a call that is already running finishes), and the hub
///   holds no reference to it when `bind` returns.
/// - What a listener writes is delivered after the present round has reached all listeners, so that no listener is left
///   with a stale value. The stack does not grow with it.
/// - No lock is held while a listener is called or a closure is released.
/// - When a listener throws, the others are called; its error goes to the hub's error handler.
@usableFromInline final class ListenerHub<Content: Routable>: Sendable {
  typealias Topic = Content.Topic

  typealias Registry = ListenerRegistry<Content>

  enum Item: Sendable {
    /// With the cascade of the listener that caused it; in a box, because it is copied on its way.
    indirect case round(Content, Cascade?)
    /// The first value of one listener.
    case first(SlotReference, registration: Int)
    /// The end of the hub; nothing follows.
    case end
  }

  struct State {
    var registry = Registry()
    var queue = RoundQueue<Item>()
    /// The position of the round that began last.
    var begun = Int128.min
    /// Whether the hub has ended.
    var isOver = false
  }

  let state = Lock(State())
  private let rank: Int
  @usableFromInline let handleError: @Sendable (_ listener: String?, any Error) -> Void

  /// - Parameters:
  ///   - rank: Higher than the ranks of the hubs that its rounds are made from: of the deferred deliveries of a thread,
  ///     theirs come first.
  ///   - onError: Called with errors that listeners throw, on the thread that called the listener.
  init(rank: Int = 0, onError: @escaping @Sendable (_ listener: String?, any Error) -> Void) {
    self.rank = rank
    handleError = onError
  }

  // MARK: Publishing

  /// Whether there are listeners.
  ///
  /// If not, no round needs to be built.
  var hasListeners: Bool { state.withLock { !$0.registry.lists.isEmpty } }

  /// Appends a round to the queue; the caller must call `deliver` afterwards, under no lock.
  ///
  /// - Parameters:
  ///   - content: The round; its position follows that of the round before.
  ///   - cascade: The cascade of the listener that caused it, if one did.
  /// - Returns: the round's ticket.
  func append(_ content: Content, cascade: Cascade?) -> RoundQueue<Item>.Ticket {
    state.withLock { $0.queue.append(.round(content, cascade)) }
  }

  /// Ends all listeners after the queued rounds have been delivered, and calls their `onEnd`.
  ///
  /// - Parameter waits: Whether to wait until they have ended, where waiting is possible.
  func end(waits: Bool = true) {
    let ticket = state.withLock { $0.queue.append(.end) }
    deliver(through: waits ? ticket : nil)
  }

  /// Delivers what is queued, or waits until another thread has delivered it, up to a ticket.
  ///
  /// Inside of a listener, of this hub or another, and inside of a transaction it returns at once; the delivery follows at
  /// the end of the round or of the transaction.
  ///
  /// - Parameter ticket: The last item to wait for; nil to deliver only what no other thread is delivering.
  func deliver(through ticket: RoundQueue<Item>.Ticket?) {
    let thread = DeliveryThread.current
    if thread.isBusy {
      // This thread delivers for the hub, and comes to the new item.
      if !thread.isInside(self) {
        thread.defer(rank: rank) { self.take(through: nil, .current) }
      }
      return
    }
    take(through: ticket, thread)
    thread.runDeferred()
  }

  /// Delivers, or waits if there is a ticket.
  ///
  /// A thread that delivers for another hub never waits.
  private func take(through ticket: RoundQueue<Item>.Ticket?, _ thread: DeliveryThread) {
    while true {
      let (entrance, item, wake) = state.withLock { state -> (RoundQueue<Item>.Entrance, Item?, [Parker]) in
        let entrance = state.queue.enter(through: ticket, parker: thread.parker)
        guard case .deliver = entrance else { return (entrance, nil, []) }
        let (item, wake) = state.queue.next(isFirst: true, through: ticket)
        return (entrance, item, wake)
      }
      for parker in wake { parker.wake() }
      switch entrance {
      case .leave: return
      case .wait: thread.parker.park()
      case .deliver:
        thread.enter(self)
        drain(item, through: ticket, thread)
        thread.leave(self)
        // Not again: the next deliverer is on its way to what is left, and this thread would take the role back from it.
        return
      }
    }
  }

  /// Appends a round and delivers it, for a thread that is not inside of anything.
  ///
  /// If nothing is queued and no thread delivers, the round needs no place in the queue.
  ///
  /// - Parameters:
  ///   - thread: The calling thread.
  ///   - make: Makes the round from its ticket.
  func deliver(on thread: DeliveryThread, _ make: (RoundQueue<Item>.Ticket) -> Content) {
    let (content, ticket, isAlone) = state.withLock { state in
      let content = make(state.queue.nextTicket)
      if let ticket = state.queue.beginAlone() { return (content, ticket, true) }
      return (content, state.queue.append(.round(content, nil)), false)
    }
    guard isAlone else { return deliver(through: ticket) }
    thread.enter(self)
    thread.call(in: nil) { run(content, $0) }
    drain(next(through: ticket, thread), through: ticket, thread)
    thread.leave(self)
    thread.runDeferred()
  }

  private func drain(_ first: Item?, through ticket: RoundQueue<Item>.Ticket?, _ thread: DeliveryThread) {
    var item = first
    while let present = item {
      switch present {
      case .round(let content, let cascade): thread.call(in: cascade) { run(content, $0) }
      case .first(let reference, let registration): runFirst(reference, registration)
      case .end: runEnd()
      }
      item = next(through: ticket, thread)
    }
  }

  private func next(through ticket: RoundQueue<Item>.Ticket?, _ thread: DeliveryThread) -> Item? {
    thread.runDeferred()
    let (next, wake) = state.withLock { $0.queue.next(isFirst: false, through: ticket) }
    for parker in wake { parker.wake() }
    return next
  }

  // MARK: One round

  /// Calls the values, then sets `begun`, then calls the listeners: a listener that registers later finds a current value.
  private func run(_ content: Content, _ context: CallContext) {
    var (lists, keepsValues) = state.withLock { state in
      if !state.registry.keepsValues { state.begun = content.position }
      return (state.registry.lists, state.registry.keepsValues)
    }
    if lists.isEmpty { return }
    let parts = content.parts(for: BoundTopics(lists: lists))
    if keepsValues {
      call(content, parts, &lists, \.values, context)
      lists = state.withLock { state in
        state.begun = content.position
        return state.registry.lists
      }
    }
    call(content, parts, &lists, \.listeners, context)
  }

  private typealias Lists = [Topic: TopicList]

  /// Calls the listeners of all parts, in order; if the round is not divided, all listeners.
  ///
  /// Most rounds have one part, and then nothing needs to be sorted.
  private func call(
    _ content: Content, _ parts: [(topic: Topic, part: Content)]?, _ lists: inout Lists,
    _ list: (TopicList) -> [SlotReference], _ context: CallContext
  ) {
    if parts == nil, lists.count == 1, let only = lists.values.first {
      call(list(only), &lists, with: content, context)
    } else if let parts, parts.count == 1 {
      call(lists[parts[0].topic].map(list) ?? [], &lists, with: parts[0].part, context)
    } else {
      let parts = parts ?? lists.keys.map { ($0, content) }
      let calls = Self.inOrder(parts.map { lists[$0.topic].map(list) ?? [] })
      lists = [:]
      for (reference, index) in calls { call(reference, with: parts[index].part, context) }
    }
  }

  /// Releases the lists before the first call: a `bind` during a call would otherwise have to copy the table.
  private func call(
    _ references: [SlotReference], _ lists: inout Lists, with part: Content, _ context: CallContext
  ) {
    lists = [:]
    for reference in references { call(reference, with: part, context) }
  }

  /// Merges lists in the order of calls, each reference with the index of its list.
  private static func inOrder(_ lists: [[SlotReference]]) -> [(reference: SlotReference, list: Int)] {
    let all = lists.enumerated().flatMap { index, list in list.map { (reference: $0, list: index) } }
    return all.sorted { $0.reference.ordinal < $1.reference.ordinal }
  }

  private func call(_ reference: SlotReference, with part: Content, _ context: CallContext) {
    let position = part.position
    switch state.withLock({ $0.registry.call(reference, at: position) }) {
    case .plain(let action, let name):
      context.name = name
      do { try action(part) } catch { handleError(context.name, error) }
    case .conditional(let listener): call(listener, in: reference, with: part, context)
    case nil: break
    }
  }

  /// Calls a listener with conditions: its owner must live, or its place is an actor.
  private func call(
    _ listener: Listener<Content>, in reference: SlotReference, with part: Content, _ context: CallContext
  ) {
    let owner = listener.conditions?.owner?.object
    if owner == nil, listener.conditions?.owner != nil {
      remove(reference, registration: listener.registration)
    } else if let mailbox = listener.conditions?.mailbox {
      post(part, to: mailbox, context.cascade, at: reference, listener.registration)
    } else {
      make(context, listener) { try listener.action(part) }
    }
    withExtendedLifetime(owner) {}
  }

  /// Makes one call.
  private func make(_ context: CallContext, _ listener: Listener<Content>, _ body: () throws -> Void) {
    context.name = listener.name
    do { try body() } catch { handleError(listener.name, error) }
  }

  /// Reads a first value, in the order of the queue, and delivers it here or on the listener's actor.
  private func runFirst(_ reference: SlotReference, _ registration: Int) {
    guard let first = state.withLock({ $0.registry.first(reference, registration: registration) }) else { return }
    let (value, position) = first.read()
    let listener = state.withLock { state in
      state.registry.start(reference, registration: registration, after: max(position, state.begun))
    }
    guard let listener else { return }
    guard let mailbox = listener.conditions?.mailbox else {
      deliverFirst(value, to: reference, registration)
      endIfOver(reference, registration)
      return
    }
    mailbox.post {
      self.deliverFirst(value, to: reference, registration)
      self.endIfOver(reference, registration)
      DeliveryThread.current.runDeferred()
    }
  }

  private func deliverFirst(_ value: ErasedValue, to reference: SlotReference, _ registration: Int) {
    let taken = state.withLock { $0.registry.takeFirst(reference, registration: registration) }
    if let (first, listener) = taken { call(listener, nil) { try first.deliver(value) } }
  }

  private func runEnd() {
    let all = state.withLock { state in
      state.isOver = true
      return state.registry.inOrder.map { ($0.reference, $0.slot.listener.registration) }
    }
    for (reference, registration) in all { endInPlace(reference, registration) }
  }

  /// Ends a listener in its place, after the calls that wait there.
  func endInPlace(_ reference: SlotReference, _ registration: Int) {
    guard let listener = state.withLock({ $0.registry.listener(reference, registration) }) else { return }
    guard let mailbox = listener.conditions?.mailbox else { return end(reference, registration) }
    mailbox.post {
      self.end(reference, registration)
      DeliveryThread.current.runDeferred()
    }
  }

  private func end(_ reference: SlotReference, _ registration: Int) {
    let ended = state.withLock { $0.registry.remove(reference, registration: registration) }
    if let ended, let onEnd = ended.onEnd { call(ended, nil, onEnd) }
  }

  /// Posts a call to an actor.
  ///
  /// The call checks there whether the listener is still bound.
  private func post(
    _ part: Content, to mailbox: Mailbox, _ cascade: Cascade, at reference: SlotReference, _ registration: Int
  ) {
    mailbox.post {
      let listener = self.state.withLock {
        $0.registry.call(reference, registration: registration, at: part.position)
      }
      if let listener { self.call(listener, cascade) { try listener.action(part) } }
      DeliveryThread.current.runDeferred()
    }
  }

  /// Makes one call outside of a round.
  func call(_ listener: Listener<Content>, _ cascade: Cascade?, _ body: () throws -> Void) {
    DeliveryThread.current.call(in: cascade) { make($0, listener, body) }
  }

  /// Ends a listener, and releases it under no lock.
  func remove(_ reference: SlotReference, registration: Int) {
    let removed = state.withLock { $0.registry.remove(reference, registration: registration) }
    withExtendedLifetime(removed) {}
  }

  /// Ends a named listener, if it exists, and releases it under no lock.
  func remove(_ name: String, from topic: Topic) {
    let removed = state.withLock { $0.registry.remove(name, from: topic) }
    withExtendedLifetime(removed) {}
  }

  /// Ends all listeners, and releases them under no lock.
  func removeAll() {
    let removed = state.withLock { $0.registry.removeAll() }
    withExtendedLifetime(removed) {}
  }

  /// Ends the listeners whose owner was released.
  func removeOver() {
    for (reference, listener) in state.withLock({ $0.registry.withOwner })
    where listener.conditions?.owner?.object == nil {
      remove(reference, registration: listener.registration)
    }
    state.withLock { $0.registry.swept() }
  }
}

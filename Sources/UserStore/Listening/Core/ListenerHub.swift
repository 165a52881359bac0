// Modeled in Proof/Model/Pump.pml; change both.

/// Named listeners by topic, and the ordered delivery of rounds to them.
///
///     publisher ── append ──▶ queue ── one deliverer at a time ──▶ round ─┬▶ listener, inline
///     bindAndFire ─ append ─▶   │                                          └▶ mailbox ─▶ listener, on its actor
///                               └ first values, each a round of its own
///
/// Public types separate the rights: a `SignalSource` and the store publish; a `Listenable`, a `Signal`, `Observers`, and
/// `Listeners` register.
///
/// Guarantees, each with a test in `Tests/UserStoreTests/Listening/Core`:
/// - Listeners are called in the order of their first registration, across all topics. Binding a name again keeps its place.
/// - A name belongs to its topic. Two names are the same if Swift's `==` says so; attribute names, consumer names, and values are
///   compared by their bytes. Binding a name again replaces the listener immediately: the old closure is not called again, not
///   even in the round that is being delivered (a call that is already running finishes), and the hub holds no reference to it
///   when `bind` returns.
/// - What a listener writes is delivered after the current round has reached all listeners, so that no listener is left with a
///   stale value. The stack does not grow.
/// - No lock is held while a listener is called or a closure is released.
/// - When a listener throws, the others are called; its error goes to the hub's error handler.
@usableFromInline final class ListenerHub<Content: Routable>: Sendable {
  typealias Topic = Content.Topic
  typealias Registry = ListenerRegistry<Content>

  enum Item: Sendable {
    /// With the cascade of the listener that caused it; indirect, because the item is copied several times.
    indirect case round(Content, Cascade?)
    case first(Registration)
    /// The end of the hub; nothing follows.
    case end
  }

  struct State {
    var registry = Registry()
    var queue = RoundQueue<Item>()
    var lastStarted = Int128.min
    /// The value of the last round that had one; nil if the hub keeps none.
    var kept: ErasedValue?
    /// For the tokens of listeners; nil before the first one.
    var remover: ListenerRemover?
    var isOver = false

    /// Starts a round, and returns the value that it replaces, to be released under no lock.
    mutating func start(_ position: Int128, keeping outcome: Result<ErasedValue, any Error>?) -> ErasedValue? {
      lastStarted = position
      guard kept != nil, case .success(let value)? = outcome else { return nil }
      return exchange(&kept, with: value)
    }
  }

  let state = Lock(State())
  private let rank: Int
  private let reportsFailures: Bool
  @usableFromInline let handleError: @Sendable (_ listener: String?, any Error) -> Void

  /// - Parameters:
  ///   - rank: Higher than the ranks of the hubs that its rounds are made from, whose deferred deliveries a thread makes first.
  ///   - reportsFailures: Whether `onError` is called with the failures of rounds too.
  ///   - onError: Called with errors that listeners throw, on the thread that called the listener.
  @usableFromInline init(
    rank: Int = 0, reportsFailures: Bool = false, onError: @escaping @Sendable (_ listener: String?, any Error) -> Void
  ) {
    self.rank = rank
    self.reportsFailures = reportsFailures
    handleError = onError
  }

  // MARK: Publishing

  /// Whether there are listeners; if not, no round needs to be built.
  var hasListeners: Bool { state.withLock { !$0.registry.lists.isEmpty } }

  /// Queues a round, in the cascade of the listener that caused it; call `deliver` afterwards, under no lock.
  func append(_ content: Content, cascade: Cascade?) -> RoundQueue<Item>.Ticket {
    state.withLock { $0.queue.append(.round(content, cascade)) }
  }

  /// Removes all listeners after the queued rounds have been delivered, and calls their `onEnd`.
  ///
  /// - Parameter waits: Whether to wait until that is done, where waiting is possible.
  func end(waits: Bool = true) {
    let ticket = state.withLock { $0.queue.append(.end) }
    deliver(through: waits ? ticket : nil)
  }

  /// Delivers what is queued, or waits until another thread has delivered it, up to a ticket.
  ///
  /// Inside of a listener, of this hub or another, and inside of a transaction it returns at once; the delivery follows at the
  /// end of the round or of the transaction.
  ///
  /// - Parameter ticket: The last item to wait for; nil to deliver only items that no other thread delivers.
  func deliver(through ticket: RoundQueue<Item>.Ticket?) {
    let thread = DeliveryThread.current
    if thread.isBusy {
      // If this thread delivers for the hub, it will deliver the new item too.
      if !thread.isInside(self) {
        thread.defer(rank: rank) { self.take(through: nil, .current) }
      }
      return
    }
    take(through: ticket, thread)
    thread.runDeferred()
  }

  /// Delivers, or waits if there is a ticket; a thread that delivers for another hub never waits.
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
        // Not again: the next deliverer was woken for the rest, and this thread would take the role back from it.
        return
      }
    }
  }

  /// Ends the turn of a thread that delivered a round alone, or continues with what was queued meanwhile.
  func endAlone(_ ticket: RoundQueue<Item>.Ticket, _ thread: DeliveryThread) {
    thread.runDeferred()
    if state.withLock({ $0.queue.endAlone() }) { return }
    drain(next(through: ticket, thread), through: ticket, thread)
  }

  private func drain(_ first: Item?, through ticket: RoundQueue<Item>.Ticket?, _ thread: DeliveryThread) {
    var item = first
    while let current = item {
      switch current {
      case .round(let content, let cascade): thread.call(in: cascade) { run(content, thread) }
      case .first(let registration): runFirst(registration)
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

  /// Updates the values, then starts the round, then calls the listeners, so that a listener that registers reads a new value.
  private func run(_ content: Content, _ thread: DeliveryThread) {
    guard var started = start(content, isUpdated: false) else { return }
    if let outcome = content.outcome { report(outcome) }
    if started.lists.isEmpty { return }
    let parts = content.parts(for: BoundTopics(lists: started.lists))
    if !started.hasStarted {
      callParts(content, parts, &started.lists, \.values, thread)
      started.lists = start(content, isUpdated: true)?.lists ?? [:]
    }
    callParts(content, parts, &started.lists, \.listeners, thread)
  }

  /// Starts a round, unless values must be updated before; nil after the end.
  private func start(_ content: Content, isUpdated: Bool) -> (lists: [Topic: TopicList], hasStarted: Bool)? {
    var replaced: ErasedValue?
    defer { withExtendedLifetime(replaced) {} }
    return state.withLock { state in
      if state.isOver { return nil }
      let starts = isUpdated || !state.registry.keepsValues
      if starts { replaced = state.start(content.position, keeping: content.outcome) }
      return (state.registry.lists, starts)
    }
  }

  /// Passes a failure to the error handler, if this hub does so.
  func report(_ outcome: Result<ErasedValue, any Error>) {
    if reportsFailures, case .failure(let error) = outcome { handleError(nil, error) }
  }

  /// Calls the listeners of all parts, or all listeners if the round is not divided, in order.
  ///
  /// Most rounds have one part; then nothing needs to be sorted.
  private func callParts(
    _ content: Content, _ parts: [(topic: Topic, part: Content)]?, _ lists: inout [Topic: TopicList],
    _ list: (TopicList) -> [SlotReference], _ thread: DeliveryThread
  ) {
    if parts == nil, lists.count == 1, let only = lists.values.first {
      callAll(list(only), &lists, with: content, thread)
    } else if let parts, parts.count == 1 {
      callAll(lists[parts[0].topic].map(list) ?? [], &lists, with: parts[0].part, thread)
    } else {
      let parts = parts ?? lists.keys.map { ($0, content) }
      let calls = Self.inOrder(parts.map { lists[$0.topic].map(list) ?? [] })
      lists = [:]
      for (reference, index) in calls { callSlot(reference, with: parts[index].part, thread) }
    }
  }

  /// Releases the lists before the first call: a `bind` during a call would otherwise have to copy the table.
  private func callAll(
    _ references: [SlotReference], _ lists: inout [Topic: TopicList], with part: Content, _ thread: DeliveryThread
  ) {
    lists = [:]
    for reference in references { callSlot(reference, with: part, thread) }
  }

  /// Merges lists in the order of calls, each reference with the index of its list.
  private static func inOrder(_ lists: [[SlotReference]]) -> [(reference: SlotReference, list: Int)] {
    let all = lists.enumerated().flatMap { index, list in list.map { (reference: $0, list: index) } }
    return all.sorted { $0.reference.ordinal < $1.reference.ordinal }
  }

  func callSlot(_ reference: SlotReference, with part: Content, _ thread: DeliveryThread) {
    let position = part.position
    guard let listener = state.withLock({ $0.registry.call(reference, at: position) }) else { return }
    call(listener, in: reference, with: part, thread)
  }

  /// Calls a listener whose call was counted.
  func call(
    _ listener: Listener<Content>, in slot: SlotReference, with part: Content, _ thread: DeliveryThread
  ) {
    if listener.conditions == nil { return make(thread, listener) { try listener.action(part) } }
    call(listener, at: Registration(index: slot.index, number: listener.number), with: part, thread)
  }

  /// Calls a listener whose owner must live, or whose place is an actor.
  private func call(
    _ listener: Listener<Content>, at registration: Registration, with part: Content, _ thread: DeliveryThread
  ) {
    let owner = listener.conditions?.owner?.object
    if owner == nil, listener.conditions?.owner != nil {
      remove(registration)
    } else if let mailbox = listener.conditions?.mailbox {
      post(part, to: mailbox, thread.cascade, at: registration)
    } else {
      make(thread, listener) { try listener.action(part) }
    }
    withExtendedLifetime(owner) {}
  }

  private func make(_ thread: DeliveryThread, _ listener: Listener<Content>, _ body: () throws -> Void) {
    thread.name = listener.name
    do { try body() } catch { handleError(listener.name, error) }
  }

  func call(_ listener: Listener<Content>, _ cascade: Cascade?, _ body: () throws -> Void) {
    let thread = DeliveryThread.current
    thread.call(in: cascade) { make(thread, listener, body) }
  }

  /// Posts a call to an actor, which checks there whether the listener is still registered.
  private func post(_ part: Content, to mailbox: Mailbox, _ cascade: Cascade, at registration: Registration) {
    mailbox.post {
      let listener = self.state.withLock { $0.registry.call(registration, at: part.position) }
      if let listener { self.call(listener, cascade) { try listener.action(part) } }
      DeliveryThread.current.runDeferred()
    }
  }

  // MARK: First values, and the end

  /// Reads a first value, in the order of the queue, and delivers it here or on the listener's actor.
  private func runFirst(_ registration: Registration) {
    guard let first = state.withLock({ $0.registry.listener(registration)?.conditions?.first.withLock { $0 } })
    else { return }
    let (value, position) = first.read()
    let listener = state.withLock { state in
      state.registry.start(registration, after: max(position, state.lastStarted))
    }
    if let listener { inPlace(of: listener, registration) { self.deliverFirst(value, at: position, to: registration) } }
  }

  /// Calls `body` here, or on the listener's actor after the calls that wait there; removes the listener if that was released.
  private func inPlace(
    of listener: Listener<Content>, _ registration: Registration, _ body: @escaping @Sendable () -> Void
  ) {
    guard let mailbox = listener.conditions?.mailbox else { return body() }
    let isPosted = mailbox.post {
      body()
      DeliveryThread.current.runDeferred()
    }
    if !isPosted { remove(registration) }
  }

  private func deliverFirst(_ value: ErasedValue, at position: Int128, to registration: Registration) {
    let taken = state.withLock { $0.registry.takeFirst(registration) }
    if let (first, listener) = taken { call(listener, nil) { try first.deliver(value, at: position) } }
    endIfOver(registration)
  }

  private func runEnd() {
    let all = state.withLock { state in
      state.isOver = true
      return state.registry.inOrder.map(\.registration)
    }
    for registration in all { endInPlace(registration) }
  }

  /// Ends a listener that was registered after the hub had ended.
  func endIfOver(_ registration: Registration) {
    guard state.withLock({ $0.isOver }) else { return }
    endInPlace(registration)
    DeliveryThread.current.runDeferred()
  }

  /// Ends a listener in its place, after the calls that wait there.
  private func endInPlace(_ registration: Registration) {
    guard let listener = state.withLock({ $0.registry.listener(registration) }) else { return }
    inPlace(of: listener, registration) {
      let ended = self.state.withLock { $0.registry.remove(registration) }
      if let ended, let onEnd = ended.onEnd { self.call(ended, nil, onEnd) }
    }
  }
}

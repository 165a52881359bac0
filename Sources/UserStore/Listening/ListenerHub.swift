// Modelled in Model/Pump.pml; change both.

/// Named listeners by topic, and the ordered delivery of rounds to them.
///
///     publisher ── append ──▶ queue ── one deliverer at a time ──▶ round ─┬▶ listener, inline
///     bindAndFire ─ append ─▶   │                                          └▶ mailbox ─▶ listener, on its actor
///                               └ first values, each a round of its own
///
/// Registering is open to everybody who has the hub; publishing is its owner's alone.
///
/// The promises, each with a test in `Tests/UserStoreTests/Listening`:
/// - Listeners are called in the order of their first registration, across all topics. Binding a name again keeps its
///   place.
/// - A name is scoped by its topic. Binding it again replaces the listener at once: the old closure is called no more,
///   not in the round in flight either (a call that runs already finishes), and the hub holds no reference to it
///   when `bind` returns.
/// - What a listener writes is delivered after the present round has reached everybody, so that nobody is left with a
///   stale value. The stack does not grow with it.
/// - No lock is held while a listener is called or a closure is released.
/// - A listener that throws stops nobody; its error goes to the hub's error handler.
public final class ListenerHub<Content: Routable>: Sendable {
  /// What a listener can listen to.
  public typealias Topic = Content.Topic

  typealias Registry = ListenerRegistry<Content>

  enum Item: Sendable {
    case round(Content, Cascade)
    /// The first value of one listener.
    case first(Registry.Reference, registration: Int)
    /// Nothing comes after it.
    case end
  }

  typealias FirstValue = Registry.FirstValue

  struct State {
    var registry = Registry()
    var queue = RoundQueue<Item>()
    /// The position of the round that was begun last.
    var begun = Int64.min
    /// Whether nothing will come any more.
    var isOver = false
  }

  let state = Lock(State())
  private let rank: Int
  let handleError: @Sendable (_ listener: String?, any Error) -> Void

  /// - Parameters:
  ///   - rank: Greater than that of the hubs that its rounds are made from: of what one thread puts off, theirs come first.
  ///   - onError: Gets what listeners throw, on the thread that called them.
  init(rank: Int = 0, onError: @escaping @Sendable (_ listener: String?, any Error) -> Void) {
    self.rank = rank
    handleError = onError
  }

  // MARK: Publishing

  /// Whether anybody listens: without, a round need not be made.
  var hasListeners: Bool { state.withLock { !$0.registry.lists.isEmpty } }

  /// Appends rounds to the queue; `deliver` must follow.
  ///
  /// - Parameters:
  ///   - contents: In the order of their positions.
  ///   - cascade: What they belong to, when a listener caused them.
  /// - Returns: the ticket of the last one; nil when there is none.
  func append(_ contents: [Content], cascade: Cascade?) -> RoundQueue<Item>.Ticket? {
    state.withLock { state in
      var ticket: RoundQueue<Item>.Ticket?
      for content in contents { ticket = state.queue.append(.round(content, cascade ?? Cascade())) }
      return ticket
    }
  }

  /// Ends all listeners, after what is queued; those that wanted it are told.
  ///
  /// - Parameter waits: Whether they have been told when this returns, if that can be.
  func end(waits: Bool = true) {
    let ticket = state.withLock { $0.queue.append(.end) }
    deliver(through: waits ? ticket : nil)
  }

  /// Delivers what is queued, or waits until another thread has delivered it, up to `ticket`.
  ///
  /// Inside a listener, of this hub or another, and inside a transaction it returns at once: the delivery follows at the
  /// end of the round, or of the transaction.
  ///
  /// - Parameter ticket: What must be delivered when this returns; nil to deliver only what nobody else is delivering.
  func deliver(through ticket: RoundQueue<Item>.Ticket?) {
    let thread = DeliveryThread.current
    if thread.isBusy {
      // The deliverer of this hub comes to the new item by itself.
      if !thread.hubs.contains(ObjectIdentifier(self)) { thread.defer(rank: rank) { self.take(through: nil) } }
      return
    }
    take(through: ticket)
    thread.runDeferred()
  }

  /// Delivers, or waits if there is a ticket: never with one by a thread that delivers for another hub.
  private func take(through ticket: RoundQueue<Item>.Ticket?) {
    let thread = DeliveryThread.current
    while true {
      switch state.withLock({ $0.queue.enter(through: ticket, parker: thread.parker) }) {
      case .leave: return
      case .wait: thread.parker.park()
      case .deliver:
        thread.hubs.append(ObjectIdentifier(self))
        drain(through: ticket, thread)
        thread.hubs.removeLast()
        // Not asked again: what is left is an heir's, who is on its way, and from whom this would take it back.
        return
      }
    }
  }

  private func drain(through ticket: RoundQueue<Item>.Ticket?, _ thread: DeliveryThread) {
    var isFirst = true
    while true {
      let (item, wake) = state.withLock { $0.queue.next(isFirst: isFirst, through: ticket) }
      for parker in wake { parker.wake() }
      isFirst = false
      switch item {
      case .round(let content, let cascade): run(content, cascade)
      case .first(let reference, let registration): runFirst(reference, registration)
      case .end: runEnd()
      case nil: return
      }
      thread.runDeferred()
    }
  }

  // MARK: One round

  /// Values first, then `begun`, then listeners: whoever registers after that finds a value that is no older.
  private func run(_ content: Content, _ cascade: Cascade) {
    // Snapshots are let go before anybody is called: a bind that met one would have to copy the table.
    var lists = state.withLock { $0.registry.lists }
    let parts = lists.isEmpty ? [] : Self.parts(of: content, lists)
    let values = Self.references(parts, lists) { $0.values }
    lists = [:]
    call(values, parts, cascade, at: content.position)
    lists = state.withLock { state in
      state.begun = content.position
      return state.registry.lists
    }
    let listeners = Self.references(parts, lists) { $0.listeners }
    lists = [:]
    call(listeners, parts, cascade, at: content.position)
  }

  private typealias Parts = [(topic: Topic, part: Content)]

  private static func parts(of content: Content, _ lists: [Topic: Registry.TopicList]) -> Parts {
    content.parts(for: BoundTopics(isBound: { lists[$0] != nil }, list: { Array(lists.keys) }))
  }

  /// Whom to call, in order, and with which part.
  private static func references(
    _ parts: Parts, _ lists: [Topic: Registry.TopicList], _ list: (Registry.TopicList) -> [Registry.Reference]
  ) -> [(Registry.Reference, part: Int)] {
    var calls: [(Registry.Reference, part: Int)] = []
    for (index, part) in parts.enumerated() {
      guard let references = lists[part.topic].map(list) else { continue }
      for reference in references { calls.append((reference, index)) }
    }
    if parts.count > 1 { calls.sort { $0.0.ordinal < $1.0.ordinal } }
    return calls
  }

  private func call(
    _ calls: [(Registry.Reference, part: Int)], _ parts: Parts, _ cascade: Cascade, at position: Int64
  ) {
    if calls.isEmpty { return }
    calling(cascade) { context in
      var (part, index) = (parts[calls[0].part].part, calls[0].part)
      for (reference, partIndex) in calls {
        if partIndex != index { (part, index) = (parts[partIndex].part, partIndex) }
        guard let call = state.withLock({ $0.registry.call(reference, at: position) }) else { continue }
        if call.traits.isPlain {
          context.listener = call.traits
          do { try call.action(part) } catch { handleError(context.name, error) }
        } else {
          make(call, of: reference, with: part, context, at: position)
        }
      }
    }
  }

  /// Makes a call for an owner that must live, or in another place.
  private func make(
    _ call: Registry.Call, of reference: Registry.Reference, with part: Content, _ context: CallContext,
    at position: Int64
  ) {
    let owner = call.traits.owner?.object
    if owner == nil, call.traits.owner != nil {
      remove(reference, registration: call.registration)
    } else if let mailbox = call.traits.mailbox {
      post(to: mailbox, context.cascade, at: reference, call.registration, position) { try $0(part) }
    } else {
      context.listener = call.traits
      do { try call.action(part) } catch { handleError(context.name, error) }
    }
    withExtendedLifetime(owner) {}
  }

  /// Reads a first value, in the queue's order, and hands it over here or on the listener's actor.
  private func runFirst(_ reference: Registry.Reference, _ registration: Int) {
    guard let first = state.withLock({ $0.registry.first(reference, registration: registration) }) else { return }
    let (value, position) = first.read()
    let call = state.withLock { state in
      state.registry.start(reference, registration: registration, after: max(position, state.begun))
    }
    guard let call else { return }
    guard let mailbox = call.traits.mailbox else {
      handOver(value, to: reference, registration)
      endIfOver(reference, registration)
      return
    }
    mailbox.post {
      self.handOver(value, to: reference, registration)
      self.endIfOver(reference, registration)
      DeliveryThread.current.runDeferred()
    }
  }

  private func handOver(_ value: Parcel, to reference: Registry.Reference, _ registration: Int) {
    let taken = state.withLock { $0.registry.takeFirst(reference, registration: registration) }
    if let (first, traits) = taken { perform(traits, Cascade()) { try first.handOver(value) } }
  }

  private func runEnd() {
    let all = state.withLock { state in
      state.isOver = true
      return state.registry.inOrder.map { ($0.reference, $0.slot.registration) }
    }
    for (reference, registration) in all { endInPlace(reference, registration) }
  }

  /// Ends a listener in its place, after the calls that wait there: what was sent before the end is heard before it.
  func endInPlace(_ reference: Registry.Reference, _ registration: Int) {
    guard let traits = state.withLock({ $0.registry.traits(of: reference, registration) }) else { return }
    guard let mailbox = traits.mailbox else { return end(reference, registration) }
    mailbox.post {
      self.end(reference, registration)
      DeliveryThread.current.runDeferred()
    }
  }

  private func end(_ reference: Registry.Reference, _ registration: Int) {
    let ended = state.withLock { $0.registry.remove(reference, registration: registration) }
    if let ended, let onEnd = ended.traits.onEnd { perform(ended.traits, Cascade(), onEnd) }
  }

  /// Leaves a call to an actor.
  ///
  /// Whether it is still wanted is asked again there.
  private func post(
    to mailbox: Mailbox, _ cascade: Cascade, at reference: Registry.Reference, _ registration: Int,
    _ position: Int64, _ body: @escaping @Sendable (Registry.Action) throws -> Void
  ) {
    mailbox.post {
      let call = self.state.withLock { $0.registry.call(reference, registration: registration, at: position) }
      if let call { self.perform(call.traits, cascade) { try body(call.action) } }
      DeliveryThread.current.runDeferred()
    }
  }

  /// Makes one call.
  func perform(_ listener: any Named, _ cascade: Cascade, _ body: () throws -> Void) {
    calling(cascade) { context in
      context.listener = listener
      do { try body() } catch { handleError(context.name, error) }
    }
  }

  /// Marks the thread as one that runs listeners.
  private func calling(_ cascade: Cascade, _ body: (CallContext) -> Void) {
    let thread = DeliveryThread.current
    let outer = thread.calling
    let context = CallContext(cascade: cascade)
    thread.calling = context
    thread.calls += 1
    body(context)
    thread.calls -= 1
    thread.calling = outer
  }

  /// Ends a listener, and lets go of it under no lock.
  func remove(_ reference: Registry.Reference, registration: Int) {
    let removed = state.withLock { $0.registry.remove(reference, registration: registration) }
    withExtendedLifetime(removed) {}
  }

  /// Ends those whose owner is gone.
  func removeOver() {
    for (reference, slot) in state.withLock({ $0.registry.withOwner }) where slot.traits.owner?.object == nil {
      remove(reference, registration: slot.registration)
    }
    state.withLock { $0.registry.swept() }
  }
}

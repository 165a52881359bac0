// Modeled in Proof/Model/Pump.pml; change both.

/// The listener calls, deliveries, and transactions that a thread is inside of, for all hubs.
///
/// It belongs to the thread and not to the task: a task that a listener starts is not inside of the listener.
final class DeliveryThread {
  private static let local = ThreadLocal<DeliveryThread> { DeliveryThread() }

  static var current: DeliveryThread { local.value }

  /// Calls `body` with the object of the calling thread, without the cost of a reference to it.
  static func withCurrent<Result>(_ body: (DeliveryThread) -> Result) -> Result { local.withValue(body) }

  /// This object if the thread is making a call; nil outside of listeners.
  var calling: DeliveryThread? { calls > 0 ? self : nil }
  /// The name of the listener that is called, if it has one.
  var name: String?
  private var existingCascade: Cascade?
  /// The number of nested calls that the thread is inside of.
  private var calls = 0
  /// The hubs that the thread delivers for and the stores that it has transactions of: the innermost, then the others.
  ///
  /// Only the others are in an array: each use of an array in an object is checked for exclusive access, and every send asks
  /// for the innermost.
  private var innermost: ObjectIdentifier?
  private var outer: [ObjectIdentifier] = []
  private var depth = 0
  private var transactions = 0
  /// The actions that wait until the current call, round, or transaction has ended.
  private var deferred = RankedQueue<@Sendable () -> Void>()
  private var hasDeferred = false
  private var isRunningDeferred = false
  let parker = Parker()

  /// Defers an action until the current call, round, or transaction has ended; then `runDeferred` runs it.
  ///
  /// Actions of lower ranks run first, and those of one rank in the order in which they were deferred. A combined signal has a
  /// higher rank than its sources, so that it waits for them.
  func `defer`(rank: Int = 0, _ action: @escaping @Sendable () -> Void) {
    deferred.append(action, rank: rank)
    hasDeferred = true
  }

  /// Whether this thread delivers for a hub, or has a transaction of a store.
  func isInside(_ object: some AnyObject) -> Bool {
    guard let innermost else { return false }
    return innermost == ObjectIdentifier(object) || outer.contains(ObjectIdentifier(object))
  }

  /// Marks the thread as inside a hub or a transaction, for whose end deferred actions and deliveries wait.
  func enter(_ object: some AnyObject, isTransaction: Bool = false) {
    if let innermost { outer.append(innermost) }
    innermost = ObjectIdentifier(object)
    depth += 1
    if isTransaction { transactions += 1 }
  }

  func leave(_ object: some AnyObject, isTransaction: Bool = false) {
    assert(innermost == ObjectIdentifier(object), "what was entered last is left first")
    depth -= 1
    innermost = depth > 0 ? outer.removeLast() : nil
    if isTransaction { transactions -= 1 }
  }

  /// Makes calls in the cascade of the listener that caused them, and marks the thread as inside of a listener.
  func call(in cascade: Cascade?, _ body: () -> Void) {
    let caller = (name, existingCascade)
    (name, existingCascade) = (nil, cascade)
    calls += 1
    body()
    calls -= 1
    (name, existingCascade) = caller
  }

  /// The cascade of the calls; created on first use, because few listeners cause rounds.
  var cascade: Cascade {
    if let existingCascade { return existingCascade }
    let cascade = Cascade()
    existingCascade = cascade
    return cascade
  }

  /// Whether the thread must not wait for a delivery, because it could be waiting for itself.
  var isBusy: Bool { calls > 0 || depth > 0 }

  var isDelivering: Bool { depth > transactions }

  /// Runs the deferred actions, unless this thread is still inside of a call or a transaction.
  ///
  /// Called at the end of each round, so that the consequences of a round are delivered before the next one. A deferred action
  /// never runs inside another: the stack would grow with hubs that trigger each other.
  func runDeferred() {
    if hasDeferred, !isRunningDeferred { runAllDeferred() }
  }

  @inline(never) private func runAllDeferred() {
    isRunningDeferred = true
    defer { isRunningDeferred = false }
    while calls == 0, transactions == 0, let action = deferred.popFirst() { action() }
    hasDeferred = !deferred.isEmpty
  }
}

/// A change and all rounds that it causes, directly and indirectly, through listeners that write or send.
final class Cascade: Sendable {
  private let state = Lock((rounds: 0, writers: [String]()))

  /// Counts a round that a listener causes; if it is over the limit, returns the names of all listeners that wrote so far.
  func admit(by name: String?, limit: Int) -> [String]? {
    state.withLock { state in
      let name = name ?? "a listener without a name"
      if !state.writers.contains(name) { state.writers.append(name) }
      guard state.rounds < limit else { return state.writers }
      state.rounds += 1
      return nil
    }
  }
}

/// The call of a listener that caused a round.
struct RoundCause: Sendable {
  let cascade: Cascade
  let name: String?

  /// The call that the calling thread is making; nil outside of listeners.
  static var current: RoundCause? {
    DeliveryThread.current.calling.map { RoundCause(cascade: $0.cascade, name: $0.name) }
  }
}

/// A queue by rank: elements of lower ranks leave first, and those of one rank in the order of arrival.
///
/// There are few ranks, and one round may defer thousands of actions of each: searching all elements for the lowest rank would
/// take quadratic time.
struct RankedQueue<Element> {
  /// Sorted by rank; none is empty.
  private var levels: [(rank: Int, elements: FIFO<Element>)] = []

  var isEmpty: Bool { levels.isEmpty }

  mutating func append(_ element: Element, rank: Int) {
    let index = levels.firstIndex { $0.rank >= rank } ?? levels.count
    if index < levels.count, levels[index].rank == rank {
      levels[index].elements.append(element)
    } else {
      levels.insert((rank, FIFO(element)), at: index)
    }
  }

  mutating func popFirst() -> Element? {
    if levels.isEmpty { return nil }
    let element = levels[0].elements.popFirst()
    if levels[0].elements.isEmpty { levels.removeFirst() }
    return element
  }
}

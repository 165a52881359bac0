// Modelled in Model/Pump.pml; change both.

/// What a thread is in the middle of, with respect to all hubs.
///
/// A property of the thread and not of the task: a task that a listener starts is not the listener.
final class DeliveryThread {
  private static let local = ThreadLocal<DeliveryThread> { DeliveryThread() }

  /// That of the calling thread.
  static var current: DeliveryThread { local.value }

  /// The calls that are being made, one at a time.
  var calling: CallContext? { calls > 0 ? context : nil }
  private let context = CallContext()
  /// How many calls this thread is inside of.
  private var calls = 0
  /// What else this thread is inside of: the hubs that it delivers for, and the stores that it has transactions of.
  ///
  /// One by one and not as an array, which only the rest is: each use of an array in an object is checked for exclusive
  /// access, and this is asked at every send.
  private var innermost: ObjectIdentifier?
  private var outer: [ObjectIdentifier] = []
  private var depth = 0
  /// How many of them are transactions.
  private var transactions = 0
  /// What was put off until the present call, round or transaction is over.
  private var deferred = RankedQueue<@Sendable () -> Void>()
  private var hasDeferred = false
  private var isRunningDeferred = false
  let parker = Parker()

  /// Puts an action off until the present call or transaction is over, and the round that it belongs to.
  ///
  /// - Parameters:
  ///   - rank: Lower ones first, those of one rank in the order in which they came: what is made of other things waits
  ///     for them.
  ///   - action: Called by `runDeferred`.
  func `defer`(rank: Int = 0, _ action: @escaping @Sendable () -> Void) {
    deferred.append(action, rank: rank)
    hasDeferred = true
  }

  /// Whether this thread delivers for a hub, or has a transaction of a store.
  func isInside(_ object: some AnyObject) -> Bool {
    guard let innermost else { return false }
    return innermost == ObjectIdentifier(object) || outer.contains(ObjectIdentifier(object))
  }

  /// Marks it as inside of one more.
  ///
  /// - Parameters:
  ///   - object: The hub, or what stands for the store.
  ///   - isTransaction: Whether it must not wait for a delivery in it, nor run what was put off.
  func enter(_ object: some AnyObject, isTransaction: Bool = false) {
    if let innermost { outer.append(innermost) }
    innermost = ObjectIdentifier(object)
    depth += 1
    if isTransaction { transactions += 1 }
  }

  /// The one that was entered last is over.
  func leave(_ object: some AnyObject, isTransaction: Bool = false) {
    assert(innermost == ObjectIdentifier(object), "what was entered last is left first")
    depth -= 1
    innermost = depth > 0 ? outer.removeLast() : nil
    if isTransaction { transactions -= 1 }
  }

  /// Makes calls, in the cascade that they belong to, if a listener caused them: marks the thread as one that runs listeners.
  func call(in cascade: Cascade?, _ body: (CallContext) -> Void) {
    let outer = context.begin(cascade)
    calls += 1
    body(context)
    calls -= 1
    context.end(outer)
  }

  /// Whether waiting for a delivery could be waiting for itself.
  var isBusy: Bool { calls > 0 || depth > 0 }

  /// Runs what was put off, unless this thread is still in the middle of something.
  ///
  /// At the end of each round, so that the next one finds all consequences drawn. Never one inside another, or the
  /// stack would grow with hubs that answer each other.
  func runDeferred() {
    if !hasDeferred || isRunningDeferred { return }
    isRunningDeferred = true
    defer { isRunningDeferred = false }
    while calls == 0, transactions == 0, let action = deferred.popFirst() { action() }
    hasDeferred = !deferred.isEmpty
  }
}

/// The calls of one round, as the thread that makes them sees them.
final class CallContext {
  /// The name of the listener that runs now, if it has one.
  var name: String?
  /// What the calls belong to; made when first asked for, because few listeners cause anything.
  var cascade: Cascade {
    if let known { return known }
    let cascade = Cascade()
    known = cascade
    return cascade
  }
  private var known: Cascade?

  typealias Outer = (name: String?, cascade: Cascade?)

  fileprivate func begin(_ cascade: Cascade?) -> Outer {
    defer { (name, known) = (nil, cascade) }
    return (name, known)
  }

  fileprivate func end(_ outer: Outer) { (name, known) = (outer.name, outer.cascade) }
}

/// A change and all that listeners wrote in answer to it, and to that.
final class Cascade: Sendable {
  private let state = Lock((rounds: 0, writers: [String]()))

  /// Counts one more round that a listener causes.
  ///
  /// - Returns: nil when it is within the limit, otherwise the names of the listeners that wrote so far.
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
  /// The listener's name, if it has one.
  let name: String?

  /// The call that the calling thread is making; nil outside of listeners.
  static var current: RoundCause? {
    DeliveryThread.current.calling.map { RoundCause(cascade: $0.cascade, name: $0.name) }
  }
}

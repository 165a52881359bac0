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
  /// What else this thread is inside of, and must not wait for a delivery in: transactions.
  var scopes: [ObjectIdentifier] = []
  /// The hubs that this thread delivers for.
  var hubs: [ObjectIdentifier] = []
  /// What was put off until the present call, round or transaction is over.
  private var deferred = RankedQueue<@Sendable () -> Void>()
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
  var isBusy: Bool { calls > 0 || !scopes.isEmpty || !hubs.isEmpty }

  /// Runs what was put off, unless this thread is still in the middle of something.
  ///
  /// At the end of each round, so that the next one finds all consequences drawn. Never one inside another, or the
  /// stack would grow with hubs that answer each other.
  func runDeferred() {
    if deferred.isEmpty || isRunningDeferred { return }
    isRunningDeferred = true
    defer { isRunningDeferred = false }
    while calls == 0, scopes.isEmpty, let action = deferred.popFirst() { action() }
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

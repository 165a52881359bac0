/// What a thread is in the middle of, with respect to all hubs.
///
/// A property of the thread and not of the task: a task that a listener starts is not the listener.
final class DeliveryThread {
  private static let local = ThreadLocal<DeliveryThread> { DeliveryThread() }

  /// That of the calling thread.
  static var current: DeliveryThread { local.value }

  /// The calls that are being made, one at a time.
  var calling: CallContext?
  /// How many calls this thread is inside of.
  var calls = 0
  /// What else this thread is inside of, and must not wait for a delivery in: transactions.
  var scopes: [ObjectIdentifier] = []
  /// The hubs that this thread delivers for.
  var hubs: [ObjectIdentifier] = []
  /// What to deliver when the present call, or transaction, is over.
  private var deferred: [@Sendable () -> Void] = []
  let parker = Parker()

  func `defer`(_ delivery: @escaping @Sendable () -> Void) {
    deferred.append(delivery)
  }

  /// Whether waiting for a delivery could be waiting for itself.
  var isBusy: Bool { calls > 0 || !scopes.isEmpty || !hubs.isEmpty }

  /// Delivers what was put off, unless this thread is still in the middle of something.
  func deliverDeferred() {
    while !isBusy, !deferred.isEmpty {
      deferred.removeFirst()()
    }
  }
}

/// The calls of one round, as the thread that makes them sees them.
final class CallContext {
  let cascade: Cascade
  /// Where in its hub's table the listener lies that runs now; a name is only looked up when somebody asks.
  var listener = 0
  private let nameOf: (Int) -> String?

  init(cascade: Cascade, nameOf: @escaping (Int) -> String?) {
    self.cascade = cascade
    self.nameOf = nameOf
  }

  var name: String? { nameOf(listener) }
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

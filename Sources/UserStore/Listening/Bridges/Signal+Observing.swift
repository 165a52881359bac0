public import Observation

extension Signal {
  /// A property of an `@Observable` object on the main actor: the present value first, then each change.
  ///
  ///     let title = Signal(observing: model, \.title)
  ///
  /// `withObservationTracking` tells of a change once, before it is made, when the property still has its old value. So the
  /// property is read on the next turn of the main actor, and watched again there.
  ///
  /// - **Order and coalescing**: values come in order, from the main actor. Of several changes in one turn only the last
  ///   value comes. A value that is set again, equal or not, comes as Observation tells it; `removeDuplicates` passes over equals.
  /// - **Consistency**: properties that changed in one turn, of one object or several, are told in one round: what is
  ///   combined of them (`combineLatest`) has one new value, of all of them.
  /// - **Lifetime**: the object is held weakly. It is watched as long as the signal, one made from it, or a subscription is
  ///   held; all of them share one watch. The key path may lead through other observable objects.
  /// - **End**: on the main actor, soon after the object was released. Where the key path leads through objects that live
  ///   on, perhaps only when the value next changes there.
  /// - A property that Observation does not know (`@ObservationIgnored`, a constant) has its first value only.
  ///
  /// Only the main actor: an object that is changed on several threads has no “next turn” after which the new value is
  /// surely there, and another actor's property cannot be read by a key path from outside.
  ///
  /// - Parameters:
  ///   - object: Changed on the main actor only.
  ///   - keyPath: Which value; stored, computed, or through other objects.
  @MainActor public init<Object: AnyObject & Observable>(observing object: Object, _ keyPath: KeyPath<Object, Value>) {
    let property = ObservedProperty { [weak object] in object.map { $0[keyPath: keyPath] } }
    guard let present = property.read() else { preconditionFailure("the caller holds the object") }
    let (source, value) = Listenable.make(present)
    property.source = source
    self.init(rank: 0) { [attach = value.signal.attach] terms, observer in
      let token = attach(terms, observer)
      return SubscriptionToken {
        token.dispose()
        withExtendedLifetime(property) {}
      }
    }
  }
}

/// Watches a property, and sends what it becomes.
///
///     signal, subscriptions ──▶ ObservedProperty ──▶ source
///                                      ▲
///       object's registrar ──▶ watch ─weak
@MainActor private final class ObservedProperty<Value: Sendable> {
  private let value: () -> Value?
  var source: SignalSource<Value>?

  /// - Parameter value: Reads the property; nil when the object is gone.
  init(_ value: @escaping () -> Value?) {
    self.value = value
  }

  /// Reads the property, and has its next change told.
  func read() -> Value? {
    let watch = ObservationWatch { [weak self] news in self?.hear(news) }
    return withObservationTracking(value) { watch.fire(.changed) }
  }

  /// - Returns: what tells the others, once all properties that changed were read.
  private func hear(_ news: ObservationWatch.News) -> ObservationTurn.Telling? {
    switch news {
    case .changed:
      // Watched before it is sent: what a listener changes in answer is heard too.
      guard let value = read() else { return end }
      return { [source] in source?.send(value) }
    case .over:
      // Or the property is one that Observation does not know: it has its first value for ever.
      return value() == nil ? end : nil
    }
  }

  private func end() { source = nil }
}

/// The properties that changed since the main actor last looked: read together, then told in one round.
///
/// In separate rounds, two combined properties would first show one new value beside one old value.
private enum ObservationTurn {
  typealias Telling = @MainActor () -> Void
  typealias Reading = @MainActor @Sendable () -> Telling?

  private static let waiting = Lock<[Reading]>([])
  @MainActor private static let round = Round()

  /// What a thread is inside of meanwhile, so that rounds and what is made of them are put off to its end.
  private final class Round: Sendable {}

  static func add(_ reading: @escaping Reading) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(reading)
      return waiting.count == 1
    }
    if isFirst { Task { @MainActor in tell() } }
  }

  @MainActor private static func tell() {
    let readings = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    let tellings = readings.compactMap { $0() }
    let thread = DeliveryThread.current
    thread.enter(round, isTransaction: true)
    for telling in tellings { telling() }
    thread.leave(round, isTransaction: true)
    thread.runDeferred()
  }
}

/// One change to come: calls on the main actor, after the change or when none can come any more.
///
/// Only the registrar of the object holds it, through the tracking's closure: so it goes with the object.
private final class ObservationWatch: Sendable {
  enum News {
    case changed
    case over
  }

  typealias Action = @MainActor @Sendable (News) -> ObservationTurn.Telling?

  private let action: Lock<Action?>

  init(_ action: @escaping Action) {
    self.action = Lock(action)
  }

  deinit { fire(.over) }

  func fire(_ news: News) {
    guard let action = action.withLock({ $0.take() }) else { return }
    ObservationTurn.add { action(news) }
  }
}

/// The place where a listener is called.
///
/// The calls of one listener, and the calls of all listeners in the same place, except `latest`, are made in commit order. There
/// is no order between places.
public enum DeliveryPlace: Sendable {
  /// On the delivering thread, which is usually the thread that wrote, before its `write` returns.
  case inline
  /// On an actor, some time after the commit; the closure may use `assumeIsolated` there.
  ///
  /// Every value is delivered: those that the actor has no time for wait in memory. The actor's other work gets a turn every few
  /// milliseconds in between.
  case actor(any Actor)
  /// On an actor, but only the latest value: a value that still waits for the actor is replaced by a newer one.
  ///
  /// Use it for what shows a state, such as a label. A listener of change sets misses the changes of the sets that were
  /// replaced, so that it must read again what it needs; an observer misses notifications. A value may be delivered before older
  /// ones of other listeners. The closures of a signal's operators are called inline.
  case latest(on: any Actor)

  var actor: (any Actor)? {
    switch self {
    case .inline: nil
    case .actor(let actor), .latest(let actor): actor
    }
  }

  /// The actor, if it receives only the latest value.
  var actorOfLatest: (any Actor)? {
    if case .latest(let actor) = self { actor } else { nil }
  }
}

/// The main actor as a place, for closures that are isolated to it.
public struct MainActorPlace: Sendable {
  /// The main actor, for every value (see `DeliveryPlace.actor`).
  public static let main = MainActorPlace(.actor(MainActor.shared))
  /// The main actor, for the latest value (see `DeliveryPlace.latest`).
  public static let latestOnMain = MainActorPlace(.latest(on: MainActor.shared))

  @usableFromInline let delivery: DeliveryPlace

  private init(_ delivery: DeliveryPlace) { self.delivery = delivery }
}

/// The place where a listener is called.
///
/// The calls of one listener, and the calls of all listeners in the same place, are made in commit order. There is no order
/// between places.
public enum DeliveryPlace: Sendable {
  /// On the delivering thread, which is usually the thread that wrote, before its `write` returns.
  case inline
  /// On an actor, some time after the commit; the closure may use `assumeIsolated` there.
  case actor(any Actor)

  /// The main actor, for methods that call closures through `assumeIsolated`.
  @usableFromInline static var mainActor: DeliveryPlace { .actor(MainActor.shared) }

  var actor: (any Actor)? {
    if case .actor(let actor) = self { actor } else { nil }
  }
}

/// The main actor as a place, for closures that are isolated to it.
public struct MainActorPlace: Sendable {
  /// The main actor.
  public static let main = MainActorPlace()
}

/// The place where a listener is called.
///
/// In each place the order holds: the calls of one listener come in commit order, and so do the calls of several listeners
/// in the same place. Between places there is no order.
public enum DeliveryPlace: Sendable {
  /// On the thread that delivers. Most often this is the thread that wrote, before its `write` returns.
  case inline
  /// On an actor, some time after the commit. The closure may use `assumeIsolated` there.
  case actor(any Actor)
}

extension DeliveryPlace {
  /// The main actor, for methods that call closures through `assumeIsolated`.
  @usableFromInline static var mainActor: DeliveryPlace { .actor(MainActor.shared) }
}

/// The main actor as a place, for closures that are isolated to it.
public struct MainActorPlace: Sendable {
  /// The main actor.
  public static let main = MainActorPlace()
}

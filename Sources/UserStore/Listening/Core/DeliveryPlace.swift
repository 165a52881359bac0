/// Where a listener is called.
///
/// Order holds in each place: the calls of one listener come in commit order, and so do those of several listeners in
/// the same place. Between places there is no order.
public enum DeliveryPlace: Sendable {
  /// On whichever thread delivers, most often the one that wrote: before its `write` returns.
  case inline
  /// On an actor, some time after the commit. The closure may use `assumeIsolated` there.
  case actor(any Actor)
}

extension DeliveryPlace {
  /// The main actor, for the parts that call closures through `assumeIsolated`.
  @usableFromInline static var mainActor: DeliveryPlace { .actor(MainActor.shared) }
}

/// The main actor as a place, for closures that are isolated to it.
public struct MainActorPlace: Sendable {
  /// The main actor.
  public static let main = MainActorPlace()
}

#if canImport(Combine)
  import Combine

  /// How to call a subscriber of Combine's.
  ///
  /// `Subscriber` is not `Sendable`, but by Combine's rules it is called on any thread, one call at a time. It is
  /// `SignalSubscription` that sees to the latter, with a lock between two calls; nobody else has these closures.
  struct SubscriberCalls<Input>: @unchecked Sendable {
    let receive: (Input) -> Subscribers.Demand
    let finish: () -> Void
  }
#endif

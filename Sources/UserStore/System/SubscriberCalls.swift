#if canImport(Combine)
  import Combine

  /// The calls of a Combine subscriber.
  ///
  /// `Subscriber` is not `Sendable`, but Combine allows calls on any thread, one at a time. `SignalSubscription`, the only
  /// owner of these closures, takes a lock for each call.
  struct SubscriberCalls<Input>: @unchecked Sendable {
    let receive: (Input) -> Subscribers.Demand
    let finish: () -> Void
  }
#endif

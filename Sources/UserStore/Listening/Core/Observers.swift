/// What observers are told through: a struct of closures for instance, one for each thing that can happen.
///
///     struct LoginHandler: NotificationHandler {
///       var didLogIn: @Sendable (String) -> Void = { _ in }
///       var didLogOut: @Sendable () -> Void = {}
///
///       func handle(_ notification: LoginNotification) {
///         switch notification {
///         case .loggedIn(let name): didLogIn(name)
///         case .loggedOut: didLogOut()
///         }
///       }
///     }
///
/// Further ways in are further initialisers of it: one closure for all, an object that is held weakly, some parts only.
public protocol NotificationHandler<Notification>: Sendable {
  /// What can happen.
  associatedtype Notification: Sendable

  /// Divides a notification among the parts of the handler.
  ///
  /// - Parameter notification: What happened.
  /// - Throws: whatever; it goes to the error handler of the observers, and stops nobody.
  func handle(_ notification: Notification) throws
}

/// Handlers without a name, each held by its token.
///
///     let (source, observers) = Observers<LoginHandler>.make()
///     let token = observers.add(LoginHandler(didLogIn: { print("welcome", $0) }))
///     source.send(.loggedIn("Zoë"))
///
/// Whoever has the observers may register; only who has the source may notify, and nobody can replace the list. Adding the
/// same handler twice makes two observers: for one that an entered screen may add again, bind a name to a `Listenable` or a
/// hub instead.
///
/// Handlers are called in the order in which they were added. One that is added in a round is not called in that round.
public final class Observers<Handler: NotificationHandler>: Sendable {
  @usableFromInline let hub: SignalHub

  @usableFromInline init(_ hub: SignalHub) {
    self.hub = hub
  }

  /// Makes a list of observers; one object may have several, each with its own notifications.
  ///
  /// - Parameter onError: Gets what handlers throw, on the thread that called them. A line on standard error unless said
  ///   otherwise.
  /// - Returns: the right to notify, and the right to register. When the source goes, all observers are let go.
  @inlinable public static func make(
    onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Handler.Notification>, observers: Observers) {
    let hub = SignalHub(reportingTo: onError)
    return (SignalSource(hub), Observers(hub))
  }

  /// Adds a handler, until its token goes.
  ///
  /// - Parameters:
  ///   - handler: Told of each notification from now on, in order.
  ///   - place: Where it is called.
  /// - Returns: the token: releasing it removes the handler, at once, also for the round in flight.
  @inlinable public func add(_ handler: Handler, on place: DeliveryPlace = .inline) -> SubscriptionToken {
    hub.listen(ListeningTerms(place: place)) { round in
      if case .success(let value) = round.content { try handler.handle(ValueBox.unbox(value)) }
    }
  }

  /// Removes a handler now, also for the round in flight.
  ///
  /// - Parameter token: What `add` gave; nil, and a token whose handler was removed already, are no error.
  public func remove(_ token: SubscriptionToken?) {
    token?.dispose()
  }

  /// How many handlers there are.
  public var count: Int { hub.count }
}

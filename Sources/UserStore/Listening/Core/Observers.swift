/// Handles the notifications of `Observers`, for example as a struct with a closure for each kind of notification.
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
/// A handler can have other initializers: with one closure for all notifications, or with an object that it holds weakly.
public protocol NotificationHandler<Notification>: Sendable {
  /// The type of the notifications, usually an enumeration.
  associatedtype Notification: Sendable

  /// Handles a notification.
  ///
  /// - Parameter notification: The notification.
  /// - Throws: Any error. It goes to the error handler of the observers; the other handlers are called.
  func handle(_ notification: Notification) throws
}

/// Handlers without a name, each held by its token.
///
///     let (source, observers) = Observers<LoginHandler>.make()
///     let token = observers.add(LoginHandler(didLogIn: { print("welcome", $0) }))
///     source.send(.loggedIn("Zoë"))
///
/// Code that has the observers can add handlers; only code that has the source can notify them, and no code can replace the
/// list. Adding the same handler twice makes two observers. For a screen that can appear twice, bind a name to a `Listenable` or
/// to a store's `Listeners` instead.
///
/// Handlers are called in the order in which they were added. A handler that is added during a round is not called in it.
public final class Observers<Handler: NotificationHandler>: Sendable {
  @usableFromInline let receiver: SignalReceiver

  @usableFromInline init(_ receiver: SignalReceiver) { self.receiver = receiver }

  /// Creates a list of observers.
  ///
  /// An object can have several lists, each with its own notifications.
  ///
  /// - Parameter onError: Called with errors that handlers throw, on the thread that called the handler. The default prints a
  ///   line to standard error. The source holds it too: it should capture an owner of the source weakly.
  /// - Returns: The source, which notifies, and the observers. When the source is released, all handlers are removed.
  @inlinable public static func make(
    onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Handler.Notification>, observers: Observers) {
    let receiver = SignalReceiver(reportingTo: onError)
    return (SignalSource(receiver), Observers(receiver))
  }

  /// Adds a handler for as long as its token is held.
  ///
  /// - Parameters:
  ///   - handler: Called with each notification, starting with the next one, in order.
  ///   - place: The place where the handler is called.
  /// - Returns: The token; releasing it removes the handler immediately, even for the round that is being delivered.
  @inlinable public func add(_ handler: Handler, on place: DeliveryPlace = .inline) -> SubscriptionToken {
    receiver.listen(ListeningTerms(place: place)) { round in
      if let value = ValueBox<Handler.Notification>.unbox(round.content) { try handler.handle(value) }
    }
  }

  /// Removes a handler immediately, even for the round that is being delivered.
  ///
  /// - Parameter token: The token from `add`. If it is nil, or its handler was removed before, nothing changes.
  public func remove(_ token: SubscriptionToken?) { token?.dispose() }

  /// The number of handlers.
  public var count: Int { receiver.hub.count }
}

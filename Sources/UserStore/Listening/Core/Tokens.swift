/// Removes a named listener.
///
/// The methods that bind a name return one. Releasing it does nothing: a named listener lives until its name is unbound, its
/// owner is released, or its token is disposed. The token of a listener that was replaced never removes the new listener.
public final class ListenerToken: Sendable {
  private let removal: ListenerRemoval

  @usableFromInline init(_ removal: ListenerRemoval) { self.removal = removal }

  /// Removes the listener immediately, even for the round that is being delivered.
  ///
  /// Can be called on any thread and in a listener. Calls after the first do nothing.
  public func dispose() { removal.remove() }

  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

/// Holds a subscription: a subscriber of a signal, an observer, or a listener without a name.
///
/// The subscription lives as long as its token; releasing the token ends it.
public final class SubscriptionToken: Sendable {
  private let end: Lock<(@Sendable () -> Void)?>

  /// Creates a token for your own kind of subscription, for example for a signal that you create with `Signal.init(_:)`.
  ///
  /// - Parameter end: Ends the subscription. Called once, without holding a lock, on the thread that disposes or releases the
  ///   token.
  public init(_ end: @escaping @Sendable () -> Void) {
    self.end = Lock(end)
  }

  convenience init(_ removal: ListenerRemoval) {
    self.init { removal.remove() }
  }

  deinit { dispose() }

  /// Ends the subscription immediately, even for the round that is being delivered.
  ///
  /// Can be called on any thread and in a listener. Calls after the first do nothing.
  public func dispose() {
    let end = end.withLock { $0.take() }
    end?()
  }

  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

/// Holds tokens, and disposes all of them when it is released.
public final class TokenBag: Sendable {
  private let disposals = Lock<[@Sendable () -> Void]>([])

  /// Creates an empty bag.
  public init() {}

  deinit { disposeAll() }

  /// Adds the token of a subscription.
  ///
  /// - Parameter token: Disposed with the bag.
  public func insert(_ token: SubscriptionToken) { disposals.withLock { $0.append(token.dispose) } }

  /// Adds the token of a named listener.
  ///
  /// - Parameter token: Disposed with the bag.
  public func insert(_ token: ListenerToken) { disposals.withLock { $0.append(token.dispose) } }

  /// Disposes the tokens in the order in which they were added, and leaves the bag empty.
  public func disposeAll() {
    for dispose in disposals.withLock({ exchange(&$0, with: []) }) { dispose() }
  }
}

/// A listener that a token can remove.
@usableFromInline struct ListenerRemoval: Sendable {
  let remover: ListenerRemover
  let registration: Registration

  func remove() { remover.remove(registration) }
}

/// Removes listeners of a hub, which it holds weakly, so that tokens do not keep the hub.
///
/// All tokens of a hub share it: a weak reference in each of them would take more memory and time.
@usableFromInline final class ListenerRemover: Sendable {
  let remove: @Sendable (Registration) -> Void

  init(_ remove: @escaping @Sendable (Registration) -> Void) {
    self.remove = remove
  }
}

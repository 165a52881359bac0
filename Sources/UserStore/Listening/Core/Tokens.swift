/// Removes a named listener.
///
/// The methods that bind a name return one. Releasing it does nothing: a named listener lives until its name is unbound, its
/// owner is released, or its token is disposed. The token of a listener that was replaced never removes the new listener.
public final class ListenerToken: Sendable {
  private let remover: ListenerRemover
  private let registration: Registration

  @usableFromInline init(_ removal: ListenerRemoval) {
    remover = removal.remover
    registration = removal.registration
  }

  /// Removes the listener immediately, even for the round that is being delivered.
  ///
  /// Can be called on any thread and in a listener. Calls after the first do nothing.
  public func dispose() { remover.remove(registration) }

  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

/// Holds a subscription: a subscriber of a signal, an observer, or a listener without a name.
///
/// The subscription lives as long as its token; releasing the token ends it.
public final class SubscriptionToken: Sendable {
  private let removal: OneTimeAction

  /// Creates a token for your own kind of subscription, for example for a signal that you create with `Signal.init(_:)`.
  ///
  /// - Parameter end: Ends the subscription. Called once, without holding a lock, on the thread that disposes or releases the
  ///   token.
  public init(_ end: @escaping @Sendable () -> Void) {
    removal = OneTimeAction(end)
  }

  convenience init(_ removal: ListenerRemoval) {
    self.init { [removal] in removal.remover.remove(removal.registration) }
  }

  deinit { dispose() }

  /// Ends the subscription immediately, even for the round that is being delivered.
  ///
  /// Can be called on any thread and in a listener. Calls after the first do nothing.
  public func dispose() { removal.run() }

  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

/// An action that runs at most once, under no lock.
private struct OneTimeAction: ~Copyable, Sendable {
  private let action: Lock<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) {
    self.action = Lock(action)
  }

  func run() {
    let action = action.withLock { $0.take() }
    action?()
  }
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

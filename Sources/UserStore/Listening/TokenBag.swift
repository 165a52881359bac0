/// Holds tokens, and disposes all of them when it is released.
public final class TokenBag: Sendable {
  private let disposals = Lock<[@Sendable () -> Void]>([])

  /// Makes an empty bag.
  public init() {}

  deinit {
    disposeAll()
  }

  /// Adds the token of a subscription.
  ///
  /// - Parameter token: Disposed with the bag.
  public func insert(_ token: SubscriptionToken) {
    disposals.withLock { $0.append { token.dispose() } }
  }

  /// Adds the token of a named listener.
  ///
  /// - Parameter token: Disposed with the bag.
  public func insert(_ token: ListenerToken) {
    disposals.withLock { $0.append { token.dispose() } }
  }

  /// Disposes the tokens in the order in which they were added, and leaves the bag empty.
  public func disposeAll() {
    let held = disposals.withLock { disposals in
      defer { disposals = [] }
      return disposals
    }
    for dispose in held { dispose() }
  }
}

extension SubscriptionToken {
  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

extension ListenerToken {
  /// Adds the token to a bag.
  ///
  /// - Parameter bag: Disposes the token when the bag is released.
  public func disposed(by bag: TokenBag) { bag.insert(self) }
}

/// Ends a registration.
///
/// Disposing twice is disposing once. A token of a registration that was since replaced is inert: it never removes the
/// successor.
public final class Disposable: Sendable {
  private let action: Lock<(@Sendable () -> Void)?>
  private let endsWithToken: Bool

  /// Makes a token.
  ///
  /// - Parameters:
  ///   - endsWithToken: Whether releasing the token disposes too. Registrations without a name do; named ones live on.
  ///   - action: Ends the registration. Called at most once, on the thread that disposes, under no lock.
  public init(endsWithToken: Bool = false, _ action: @escaping @Sendable () -> Void) {
    self.action = Lock(action)
    self.endsWithToken = endsWithToken
  }

  deinit {
    if endsWithToken { dispose() }
  }

  /// Ends the registration now, also for the round that is being delivered.
  ///
  /// May be called on any thread, in a listener too.
  public func dispose() {
    let action = action.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }
}

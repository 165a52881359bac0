/// Holds the token of a subscription that may be started, replaced, and ended in any order and on any thread.
///
/// A slot may be closed before it has a token, when a source ends while it is being connected; it then disposes the token that
/// is stored later.
final class TokenSlot: Sendable {
  private struct State {
    var token: SubscriptionToken?
    var isClosed = false
  }

  private let state = Lock(State())

  /// Stores a token, and disposes the one before it.
  func put(_ token: SubscriptionToken) {
    let unwanted = state.withLock { state -> SubscriptionToken? in
      if state.isClosed { return token }
      defer { state.token = token }
      return state.token
    }
    unwanted?.dispose()
  }

  /// Disposes the token, and every token that is stored later.
  func close() {
    let unwanted = state.withLock { state in
      state.isClosed = true
      return state.token.take()
    }
    unwanted?.dispose()
  }
}

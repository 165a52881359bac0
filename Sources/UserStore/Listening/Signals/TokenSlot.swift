/// Room for the token of what is connected, replaced and ended in any order and on any thread.
///
/// Closed before its token came, by a source that ended while it was being connected, it disposes of it when it comes.
final class TokenSlot: Sendable {
  private struct State {
    var token: SubscriptionToken?
    var isClosed = false
  }

  private let state = Lock(State())

  /// Takes a token, in the place of the one before, which is disposed of.
  func put(_ token: SubscriptionToken) {
    let unwanted = state.withLock { state -> SubscriptionToken? in
      if state.isClosed { return token }
      defer { state.token = token }
      return state.token
    }
    unwanted?.dispose()
  }

  /// Disposes of what is in it, and of what is put in later.
  func close() {
    let unwanted = state.withLock { state in
      state.isClosed = true
      return state.token.take()
    }
    unwanted?.dispose()
  }
}

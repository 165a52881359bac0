/// Holds tokens, and disposes all of them when it goes.
public final class DisposeBag: Sendable {
  private let tokens = Lock<[Disposable]>([])

  /// Makes an empty bag.
  public init() {}

  deinit {
    disposeAll()
  }

  /// Puts a token in.
  ///
  /// - Parameter token: Disposed with the bag.
  public func insert(_ token: Disposable) {
    tokens.withLock { $0.append(token) }
  }

  /// Disposes what is in it, in the order in which it was put in, and goes on empty.
  public func disposeAll() {
    let held = tokens.withLock { tokens in
      defer { tokens = [] }
      return tokens
    }
    for token in held { token.dispose() }
  }
}

extension Disposable {
  /// Leaves the token to a bag.
  ///
  /// - Parameter bag: Disposes it when the bag goes.
  public func disposed(by bag: DisposeBag) {
    bag.insert(self)
  }
}

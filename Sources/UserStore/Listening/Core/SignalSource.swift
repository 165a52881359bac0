/// The right to send: to a listenable, a signal, or observers, which others have only the right to listen to.
///
///     let (source, signal) = Signal<Int>.make()
///     let token = signal.subscribe { print($0) }
///     source.send(1)
///
/// It holds weakly what it sends to. When it is released nothing can come any more, and what it sends to ends.
public final class SignalSource<Value: Sendable>: Sendable {
  weak let hub: SignalHub?

  @usableFromInline init(_ hub: SignalHub) {
    self.hub = hub
  }

  deinit {
    end()
  }

  /// Sends a value to everybody who listens.
  ///
  /// May be called on any thread. When it returns, every inline listener has been called; inside a listener, of this source
  /// or another, they are called at the end of the present round, so that nobody is left with a stale value.
  ///
  /// A value that goes beyond 1,000 rounds which listeners have caused by sending is not sent: the error handler gets
  /// `TooManyRounds`.
  ///
  /// - Parameter value: The value.
  @inlinable public func send(_ value: Value) {
    post(ValueBox(value))
  }

  /// Sends a failure, which does not end a signal.
  ///
  /// A listenable keeps its value: its named listeners are not called, those who follow its `signal` hear of the failure,
  /// and its error handler gets it.
  ///
  /// - Parameter error: What failed.
  public func fail(_ error: any Error) {
    hub?.send(.failure(error))
  }

  /// Says that nothing comes any more, after what was sent: everybody is told once, and what is sent later is dropped.
  public func end() {
    hub?.end()
  }

  @usableFromInline func post(_ value: ErasedValue) {
    hub?.send(.success(value))
  }

  /// Queues a value, with what caused it; `deliver` must follow, under no lock.
  @discardableResult
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int? {
    hub?.append(content, in: cascade)
  }

  /// Delivers what is queued.
  ///
  /// - Parameter ticket: What must be delivered when this returns, if it can be.
  func deliver(through ticket: Int? = nil) {
    hub?.deliver(through: ticket)
  }
}

/// Listeners answered each other without end: a round that one of them wanted to cause was refused.
public struct TooManyRounds: Error, CustomStringConvertible {
  /// The names of those that caused rounds, in the order in which they began.
  public let listeners: [String]

  /// The text that stands for it.
  public var description: String {
    "listeners answer each other without end (\(listeners.joined(separator: ", "))); the last round was refused"
  }
}

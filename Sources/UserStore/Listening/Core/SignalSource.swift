/// Sends values to a listenable, a signal, or observers.
///
///     let (source, signal) = Signal<Int>.make()
///     let token = signal.subscribe { print($0) }
///     source.send(1)
///
/// A source does not keep its listenable, its signal, or its observers alive. When the source is released, its signal or listenable ends.
public final class SignalSource<Value: Sendable>: Sendable {
  let hub: SignalHub

  @usableFromInline init(_ receiver: SignalReceiver) { hub = receiver.hub }

  deinit { end() }

  /// Sends a value to all listeners.
  ///
  /// Can be called on any thread. When it returns, every inline listener has been called. Inside of a listener, of this source
  /// or another, the listeners are called at the end of the current round, so that no listener is left with a stale value.
  ///
  /// When listeners that send have caused 1,000 rounds, the next value is not sent, and the error handler is called with
  /// `TooManyRounds`.
  ///
  /// - Parameter value: The value.
  @inlinable public func send(_ value: Value) { post(ValueBox(value)) }

  /// Sends a failure, which does not end a signal.
  ///
  /// A listenable keeps its value, and its named listeners are not called. Subscribers of its `signal` receive the failure,
  /// and its error handler is called with it.
  ///
  /// - Parameter error: The error.
  public func fail(_ error: any Error) { hub.send(.failure(error)) }

  /// Ends the signal or listenable after the values that were sent before; later values are dropped.
  public func end() { hub.end() }

  @usableFromInline func post(_ value: ErasedValue) { hub.send(.success(value)) }

  /// Queues a value or a failure in the cascade that caused it; call `deliver` afterwards, under no lock.
  @discardableResult
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int {
    hub.append(content, in: cascade)
  }

  /// Delivers what is queued, and waits for the item with a ticket, where waiting is possible.
  func deliver(through ticket: Int? = nil) { hub.deliver(through: ticket) }
}

/// The error when listeners that send or write, or the members of a chain, caused too many rounds; the last one was not made.
public struct TooManyRounds: Error, CustomStringConvertible {
  /// The names of those that caused rounds, in the order of their first round.
  public let listeners: [String]

  /// A description of the error.
  public var description: String {
    "too many rounds: these keep triggering each other: \(listeners.joined(separator: ", "))"
  }
}

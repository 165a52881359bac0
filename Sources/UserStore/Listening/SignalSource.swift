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

  /// Passes on what another signal told, as a part of what caused that.
  ///
  /// Not counted against the limit of `send`: who answers without end does so through a source that counts. Waits for
  /// nobody, because it is called in the middle of a round, and by tasks.
  func relay(_ event: Signal<Value>.Event) {
    let cascade = DeliveryThread.current.calling?.cascade
    switch event {
    case .value(let value): append(.success(ValueBox(value)), in: cascade)
    case .failure(let error): append(.failure(error), in: cascade)
    case .end: hub?.end(waits: false)
    }
    deliver()
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

/// A hub of one topic: what sources send to.
@usableFromInline typealias SignalHub = ListenerHub<SignalRound>

/// One value, or one failure, for all who listen.
@usableFromInline struct SignalRound: Routable {
  @usableFromInline typealias Content = Result<ErasedValue, any Error>

  @usableFromInline enum Topic: Hashable, Sendable {
    case all
  }

  @usableFromInline let position: Int128
  @usableFromInline let content: Content

  @usableFromInline func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: SignalRound)]? { nil }
}

extension ListenerHub where Content == SignalRound {
  /// How many rounds one change may cause through listeners that send.
  static var roundLimit: Int { 1_000 }

  @usableFromInline convenience init(reportingTo onError: ListenerErrors.Handler?) {
    self.init(onError: onError ?? ListenerErrors.print)
  }

  /// Sends, within the limit.
  func send(_ content: SignalRound.Content) {
    let thread = DeliveryThread.current
    if !thread.isBusy { return deliver(on: thread) { SignalRound(position: Int128($0), content: content) } }
    let calling = thread.calling
    if let calling, let writers = calling.cascade.admit(by: calling.name, limit: Self.roundLimit) {
      return handleError(calling.name, TooManyRounds(listeners: writers))
    }
    deliver(through: append(content, in: calling?.cascade))
  }

  /// Queues a value, with what caused it; `deliver` must follow, under no lock.
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int {
    state.withLock { state in
      state.queue.append(.round(SignalRound(position: Int128(state.queue.nextTicket), content: content), cascade))
    }
  }

  /// Registers without a name, for as long as the token lives; the token keeps the hub alive.
  @usableFromInline func listen(
    _ terms: ListeningTerms, _ action: @escaping @Sendable (SignalRound) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(
      register(nil, to: .all, on: terms.place, owner: nil, holdsHub: true, onEnd: terms.onEnd, action))
  }
}

/// What becomes of an error that a listener throws, unless something else was asked for: a line on standard error.
@usableFromInline enum ListenerErrors {
  @usableFromInline typealias Handler = @Sendable (_ listener: String?, any Error) -> Void

  @usableFromInline @Sendable static func print(_ listener: String?, _ error: any Error) {
    var stream = StandardError()
    Swift.print("userstore: listener \(listener ?? "without a name") threw: \(error)", to: &stream)
  }
}

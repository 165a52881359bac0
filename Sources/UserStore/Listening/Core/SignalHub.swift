/// A hub with one topic, for the values and failures of a signal or a listenable.
@usableFromInline typealias SignalHub = ListenerHub<SignalRound>

/// A value whose type only the sender and the receiver have.
///
/// With it a hub is compiled once, for all types: generic code that is not specialized took 5,500 ns to send one value to one
/// listener. The initializer and `unbox` of its box are inlinable, so that they are compiled for the type of the value.
@usableFromInline typealias ErasedValue = any AnyObject & Sendable

@usableFromInline final class ValueBox<Value: Sendable>: Sendable {
  @usableFromInline let value: Value

  @inlinable init(_ value: Value) {
    self.value = value
  }

  @inlinable static func unbox(_ value: ErasedValue) -> Value {
    guard let box = value as? ValueBox else {
      preconditionFailure("the sender and the receivers of a hub use the same type")
    }
    return box.value
  }
}

/// One value, or one failure.
@usableFromInline struct SignalRound: Routable {
  @usableFromInline typealias Content = Result<ErasedValue, any Error>

  @usableFromInline enum Topic: Hashable, Sendable {
    case all
  }

  @usableFromInline let position: Int128
  @usableFromInline let content: Content

  @usableFromInline struct Action: ListenerAction {
    private let body: @Sendable (SignalRound) throws -> Void

    @usableFromInline init(_ body: @escaping @Sendable (SignalRound) throws -> Void) { self.body = body }
    @usableFromInline func callAsFunction(_ round: SignalRound) throws { try body(round) }
  }

  @usableFromInline func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: SignalRound)]? { nil }
}

extension ListenerHub where Content == SignalRound {
  /// The number of rounds that one change may cause through listeners that send.
  static var roundLimit: Int { 1_000 }

  @usableFromInline convenience init(reportingTo onError: ListenerErrors.Handler?) {
    self.init(onError: onError ?? ListenerErrors.print)
  }

  /// Sends a value or a failure, within the limit.
  func send(_ content: SignalRound.Content) {
    let thread = DeliveryThread.current
    if !thread.isBusy { return deliver(on: thread) { SignalRound(position: Int128($0), content: content) } }
    let calling = thread.calling
    if let calling, let writers = calling.cascade.admit(by: calling.name, limit: Self.roundLimit) {
      return handleError(calling.name, TooManyRounds(listeners: writers))
    }
    deliver(through: append(content, in: calling?.cascade))
  }

  /// Queues a value or a failure in the cascade that caused it; call `deliver` afterwards, under no lock.
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int {
    state.withLock { state in
      state.queue.append(.round(SignalRound(position: Int128(state.queue.nextTicket), content: content), cascade))
    }
  }

  /// Registers a listener without a name, whose token holds the hub.
  @usableFromInline func listen(
    _ terms: ListeningTerms, _ action: @escaping @Sendable (SignalRound) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(
      register(
        nil, to: .all, on: terms.place, owner: nil, holdsHub: true, onEnd: terms.onEnd, SignalRound.Action(action)))
  }
}

/// The default error handler, which prints a line to standard error.
@usableFromInline enum ListenerErrors {
  @usableFromInline typealias Handler = @Sendable (_ listener: String?, any Error) -> Void

  @usableFromInline @Sendable static func print(_ listener: String?, _ error: any Error) {
    var stream = StandardError()
    Swift.print("userstore: listener \(listener ?? "without a name") threw: \(error)", to: &stream)
  }
}

/// A hub with one topic, for one value or failure after another.
@usableFromInline typealias SignalHub = ListenerHub<SignalRound>

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

  /// Queues a value, with the cascade that caused it; the caller must call `deliver` afterwards, under no lock.
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int {
    state.withLock { state in
      state.queue.append(.round(SignalRound(position: Int128(state.queue.nextTicket), content: content), cascade))
    }
  }

  /// Registers a listener without a name.
  ///
  /// The token holds the hub.
  @usableFromInline func listen(
    _ terms: ListeningTerms, _ action: @escaping @Sendable (SignalRound) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(
      register(
        nil, to: .all, on: terms.place, owner: nil, holdsHub: true, onEnd: terms.onEnd, SignalRound.Action(action)))
  }
}

/// The default error handler: prints a line to standard error.
@usableFromInline enum ListenerErrors {
  @usableFromInline typealias Handler = @Sendable (_ listener: String?, any Error) -> Void

  @usableFromInline @Sendable static func print(_ listener: String?, _ error: any Error) {
    var stream = StandardError()
    Swift.print("userstore: listener \(listener ?? "without a name") threw: \(error)", to: &stream)
  }
}

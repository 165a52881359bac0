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

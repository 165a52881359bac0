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

  /// Returns the value by a forced cast: all users of a hub use the same type, and a conditional cast would take a reference.
  @inlinable static func unbox(_ value: ErasedValue) -> Value { (value as! ValueBox).value }

  /// Returns the value, or nil for a failure.
  ///
  /// A caller that took the box out of the round, to unbox it, would hold a reference to it during the call of a listener.
  @inlinable static func unbox(_ content: SignalRound.Content) -> Value? {
    switch content {
    case .success(let value): unbox(value)
    case .failure: nil
    }
  }
}

@usableFromInline typealias SignalAction = @Sendable (SignalRound) throws -> Void

/// One value, or one failure.
@usableFromInline struct SignalRound: Routable {
  @usableFromInline typealias Content = Result<ErasedValue, any Error>

  @usableFromInline enum Topic: Hashable, Sendable {
    case all
  }

  @usableFromInline let position: Int128
  @usableFromInline let content: Content

  @usableFromInline struct Action: ListenerAction {
    private let body: SignalAction

    @usableFromInline init(_ body: @escaping SignalAction) { self.body = body }
    @usableFromInline func callAsFunction(_ round: SignalRound) throws { try body(round) }
  }

  @usableFromInline var outcome: Content? { content }

  @usableFromInline func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: SignalRound)]? { nil }
}

extension ListenerHub where Content == SignalRound {
  /// The number of rounds that one change may cause through listeners that send.
  static var roundLimit: Int { 1_000 }

  // MARK: The kept value

  /// Keeps a value, and then the value of each round, for reading and for first values.
  func keep(_ value: ErasedValue) { state.withLock { $0.kept = value } }

  /// The value that the hub keeps, and the last round that it includes.
  var kept: (value: ErasedValue, position: Int128) {
    state.withLock { state in
      guard let value = state.kept else { preconditionFailure("the hub keeps no value") }
      return (value, state.lastStarted)
    }
  }

  // MARK: Sending

  /// Sends a value or a failure, within the limit.
  func send(_ content: SignalRound.Content) {
    DeliveryThread.withCurrent { thread in
      if thread.isBusy { sendInside(content, thread) } else { send(content, on: thread) }
    }
  }

  /// Sends on a thread that is inside of a listener, a delivery, or a transaction.
  private func sendInside(_ content: SignalRound.Content, _ thread: DeliveryThread) {
    let calling = thread.calling
    if let calling, let writers = calling.cascade.admit(by: calling.name, limit: Self.roundLimit) {
      return handleError(calling.name, TooManyRounds(listeners: writers))
    }
    deliver(through: append(content, in: calling?.cascade))
  }

  /// Sends on a thread that is not inside of anything.
  ///
  /// If nothing is queued and no thread delivers, the round needs no place in the queue. If the round runs no code before its
  /// only listener, that listener is looked up under the lock under which the round starts.
  private func send(_ content: SignalRound.Content, on thread: DeliveryThread) {
    let isFailure = if case .failure = content { true } else { false }
    var (ticket, calls, replaced) = state.withLock { state -> (RoundQueue<Item>.Ticket, Calls?, ErasedValue?) in
      guard !state.isOver, !state.registry.keepsValues, let ticket = state.queue.beginAlone() else {
        let round = SignalRound(position: Int128(state.queue.nextTicket), content: content)
        return (state.queue.append(.round(round, nil)), nil, nil)
      }
      let replaced = state.start(Int128(ticket), keeping: content)
      if let slot = state.registry.only {
        // Releasing a value may remove the listener, and so may the handler of a failure.
        if replaced != nil || isFailure { return (ticket, .slot(slot), replaced) }
        if let listener = state.registry.call(slot, at: Int128(ticket)) { return (ticket, .one(listener, slot), nil) }
      }
      return (ticket, .all(state.registry.lists[.all]?.listeners ?? []), replaced)
    }
    if calls == nil { return deliver(through: ticket) }
    thread.enter(self)
    thread.call(in: nil) {
      _ = replaced.take()
      report(content)
      // Taken, so that a removed listener is not held while the queue is emptied. Each call makes its own round: one in a
      // variable would take a reference to the value.
      switch calls.take() {
      case .one(let listener, let slot):
        call(listener, in: slot, with: SignalRound(position: Int128(ticket), content: content), thread)
      case .slot(let slot): callSlot(slot, with: SignalRound(position: Int128(ticket), content: content), thread)
      case .all(let slots):
        for slot in slots { callSlot(slot, with: SignalRound(position: Int128(ticket), content: content), thread) }
      case nil: break
      }
    }
    endAlone(ticket, thread)
    thread.leave(self)
    thread.runDeferred()
  }

  private enum Calls {
    /// Of the only listener; the call was counted.
    case one(Listener<SignalRound>, SlotReference)
    /// The only listener, which is looked up when it is called. Its topic need not be hashed.
    case slot(SlotReference)
    case all([SlotReference])
  }

  /// Queues a value or a failure in the cascade that caused it; call `deliver` afterwards, under no lock.
  @discardableResult
  func append(_ content: SignalRound.Content, in cascade: Cascade?) -> Int {
    state.withLock { state in
      state.queue.append(.round(SignalRound(position: Int128(state.queue.nextTicket), content: content), cascade))
    }
  }
}

/// The default error handler, which prints a line to standard error.
@usableFromInline enum ListenerErrors {
  @usableFromInline typealias Handler = @Sendable (_ listener: String?, any Error) -> Void

  @usableFromInline @Sendable static func print(_ listener: String?, _ error: any Error) {
    var stream = StandardError()
    // Without a name, it was a listener that has none, or the store itself.
    Swift.print("userstore: \(listener.map { "listener \($0) threw" } ?? "error"): \(error)", to: &stream)
  }
}

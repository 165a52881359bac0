/// The right to send: to a listenable, a signal, or observers, which others have only the right to listen to.
///
///     let (sink, signal) = Signal<Int>.make()
///     let token = signal.subscribe { print($0) }
///     sink.send(1)
///
/// It holds weakly what it sends to. When it is released nothing can come any more, and what it sends to ends.
public final class Sink<Value: Sendable>: Sendable {
  /// How many rounds one change may cause through listeners that send.
  static var roundLimit: Int { 1_000 }

  weak let hub: PulseHub?
  private let position = Lock<Int64>(0)

  init(_ hub: PulseHub) {
    self.hub = hub
  }

  deinit {
    end()
  }

  /// Sends a value to everybody who listens.
  ///
  /// May be called on any thread. When it returns, every inline listener has been called; inside a listener, of this sink
  /// or another, they are called at the end of the present round, so that nobody is left with a stale value.
  ///
  /// A value that goes beyond 1,000 rounds which listeners have caused by sending is not sent: the error handler gets
  /// `TooManyRounds`.
  ///
  /// - Parameter value: The value.
  public func send(_ value: Value) {
    post(.success(Packed(value)))
  }

  /// Sends a failure, which does not end a signal.
  ///
  /// A listenable keeps its value.
  ///
  /// - Parameter error: What failed.
  public func fail(_ error: any Error) {
    post(.failure(error))
  }

  /// Says that nothing comes any more, after what was sent: everybody is told once, and what is sent later is dropped.
  public func end() {
    hub?.end()
  }

  /// Passes on what another signal told, as a part of what caused that.
  ///
  /// Not counted against the limit of `send`: who answers without end does so through a sink that counts. Waits for
  /// nobody, because it is called in the middle of a round, and by tasks.
  func relay(_ event: Signal<Value>.Event) {
    let cascade = DeliveryThread.current.calling?.cascade
    switch event {
    case .value(let value): append(.success(Packed(value)), in: cascade)
    case .failure(let error): append(.failure(error), in: cascade)
    case .end: hub?.end(waits: false)
    }
    deliver()
  }

  private func post(_ content: Pulse.Content) {
    let calling = DeliveryThread.current.calling
    if let calling, let writers = calling.cascade.admit(by: calling.name, limit: Self.roundLimit) {
      hub?.handleError(calling.name, TooManyRounds(listeners: writers))
      return
    }
    deliver(through: append(content, in: calling?.cascade))
  }

  /// Queues a value, with what caused it; `deliver` must follow, under no lock.
  @discardableResult
  func append(_ content: Pulse.Content, in cascade: Cascade?) -> Int? {
    guard let hub else { return nil }
    return position.withLock { position in
      position += 1
      return hub.append([Pulse(position: position, content: content)], cascade: cascade)
    }
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

/// A hub of one topic: what sinks send to.
typealias PulseHub = ListenerHub<Pulse>

/// One value, or one failure, for all who listen.
struct Pulse: Routable {
  typealias Content = Result<Parcel, any Error>

  enum Topic: Hashable, Sendable {
    case all
  }

  let position: Int64
  let content: Content

  func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: Pulse)] { [(.all, self)] }
}

/// What becomes of an error that a listener throws, unless something else was asked for: a line on standard error.
enum ListenerErrors {
  typealias Handler = @Sendable (_ listener: String?, any Error) -> Void

  @Sendable static func print(_ listener: String?, _ error: any Error) {
    var stream = StandardError()
    Swift.print("userstore: listener \(listener ?? "without a name") threw: \(error)", to: &stream)
  }
}

/// What passes from whoever sends to one consumer that awaits: a value without locks or calls.
///
/// A transition returns what is to be done after unlocking. States that cannot be: a consumer that waits while there is
/// something for it, and two that wait.
struct HandoverState<Backlog: ConsumerBacklog>: Sendable {
  typealias Consumer = CheckedContinuation<Backlog.Element?, Never>

  private var backlog: Backlog
  private var waiting: Consumer?
  /// Whether nothing comes any more; what is there is still handed over.
  private var isOver = false
  /// Whether the consumer wants nothing any more.
  private var isCancelled = false

  init(_ backlog: Backlog) {
    self.backlog = backlog
  }

  /// Something was sent.
  mutating func send(_ input: Backlog.Input) -> Handing {
    if isOver || isCancelled { return Handing() }
    let dropped = backlog.append(input)
    guard let consumer = waiting.take() else { return Handing(dropped: dropped) }
    return Handing(consumer: consumer, element: backlog.next(), dropped: dropped)
  }

  /// The consumer asks for the next element.
  mutating func next(_ consumer: Consumer) -> Handing {
    precondition(waiting == nil, "two tasks await the next element of one iterator; let each iterate by itself")
    if isCancelled { return Handing(consumer: consumer) }
    if let element = backlog.next() { return Handing(consumer: consumer, element: element) }
    if isOver { return Handing(consumer: consumer) }
    waiting = consumer
    return Handing()
  }

  /// Nothing is sent any more.
  mutating func end() -> Handing {
    isOver = true
    return Handing(consumer: waiting.take())
  }

  /// The consumer's task was cancelled.
  ///
  /// What lies in the backlog goes with the iterator: not here, where the task's cancellation would release it.
  mutating func cancel() -> Handing {
    isCancelled = true
    return Handing(consumer: waiting.take())
  }

  /// To be done under no lock: resuming a consumer, and releasing what it missed, may run any code.
  struct Handing: Sendable {
    var consumer: Consumer?
    /// nil ends the consumer's iteration.
    var element: Backlog.Element?
    var dropped: Backlog.Input?

    func perform() { consumer?.resume(returning: element) }
  }
}

/// What waits for a slow consumer: of bounded size.
protocol ConsumerBacklog: Sendable {
  associatedtype Input: Sendable
  associatedtype Element: Sendable

  /// - Returns: what had to make room: to be released under no lock.
  mutating func append(_ input: Input) -> Input?
  /// - Returns: nil when nothing waits; never right after `append`.
  mutating func next() -> Element?
}

/// A transaction that several writers share, on its way from one to the next.
struct WriteGroup: Sendable {
  let session: any Session
  /// The end of the log before it.
  let head: Cursor
  /// The end of the last set in it.
  var end: Cursor
  /// How many have taken part, those among them who failed by themselves.
  var size = 0
  /// Those who have done their part, and wait for the end.
  var members: [WriteLine.Waiter] = []

  init(_ session: any Session, head: Cursor) {
    self.session = session
    self.head = head
    end = head
  }

  var hasChanges: Bool { end.revision > head.revision }
}

/// Where a thread waits for its turn, and then for the end of the transaction that it took part in.
final class WritePlace: Sendable {
  enum Message: Sendable {
    /// It has the turn, and goes on in this transaction; without one it begins one.
    case turn(WriteGroup?)
    /// What it waited for is over: committed and delivered, or not.
    case over(StoreError?)
  }

  /// How often a thread that was woken early yields before it sleeps again: for longer than most closures run.
  private static let patience = 50

  private let message = Lock<Message?>(nil)
  private let parker = Parker()

  func send(_ message: Message) {
    self.message.withLock { $0 = message }
    parker.wake()
  }

  /// Its turn is next: the thread is woken while the one before it still works, so that nobody waits until it is awake.
  ///
  /// 64 threads under FULL, six alternating runs on two cores: 33 µs a write instead of 44.
  func wakeEarly() { parker.wake() }

  func wait() -> Message {
    while true {
      if let message = message.withLock({ $0.take() }) { return message }
      parker.park()
      var patience = Self.patience
      while patience > 0, message.withLock({ $0 == nil }) {
        SystemThread.yield()
        patience -= 1
      }
    }
  }
}

/// A write that a task awaits.
///
/// Its closure runs at most once, and `finish` is called once.
final class AwaitedWrite: Sendable {
  let origin: String?
  let body: @Sendable (inout WriteTransaction) throws -> Void
  let isCancelled: @Sendable () -> Bool
  let finish: @Sendable ((any Error)?) -> Void
  /// Runs it on the write thread, which has the turn.
  let serve: @Sendable (AwaitedWrite, WriteGroup?) -> Void

  init(
    origin: String?, body: @escaping @Sendable (inout WriteTransaction) throws -> Void,
    isCancelled: @escaping @Sendable () -> Bool, finish: @escaping @Sendable ((any Error)?) -> Void,
    serve: @escaping @Sendable (AwaitedWrite, WriteGroup?) -> Void
  ) {
    self.origin = origin
    self.body = body
    self.isCancelled = isCancelled
    self.finish = finish
    self.serve = serve
  }
}

extension WriteLine.Waiter {
  /// What it waited for is over.
  func end(_ error: StoreError?) {
    switch self {
    case .thread(let place, _): place.send(.over(error))
    case .task(let task): task.finish(error)
    }
  }
}

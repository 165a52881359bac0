/// The order of writers, and which of them share a transaction: a value that takes no locks and makes no calls.
///
/// All writers wait in one line, in order of arrival: threads, which run their own closures, and tasks, whose closures run on
/// the store's write thread. One writer has the turn. When its closure has run, the next in line continues in the same
/// transaction. If none waits, or the transaction is full, the writer with the turn ends the transaction and passes the turn.
///
/// Invariant: while a writer that could run waits, some writer has the turn.
struct WriteLine {
  /// How many writers can share a transaction: a writer in another process waits for its end.
  static let groupLimit = 64

  enum Waiter: Sendable {
    /// A thread. One that does not join has a transaction of its own.
    case thread(WaitingWriter, joins: Bool)
    /// A task, which can run only while the write thread is free.
    case task(AwaitedWrite)
  }

  /// Waiters with their numbers in the order of arrival.
  private typealias Queue = FIFO<(number: Int, waiter: Waiter)>

  private var threads = Queue()
  private var tasks = Queue()
  /// The number of writers that have waited so far.
  private var arrivals = 0
  /// `arrivals` when the current turn began.
  private var arrivalsAtTurn = 0
  private(set) var isTaken = false
  /// Whether the write thread has the turn or delivers, so that no turn may wait for it: a listener may be writing.
  private(set) var isWorkerBusy = false
  private var isClosed = false

  var count: Int { threads.count + tasks.count }

  enum Entrance {
    case turn, wait, closed
  }

  /// Gives an arriving writer the turn or a place in the line; with nil, it only tries to get the turn: to wait, enter again.
  mutating func enter(_ waiter: Waiter?) -> Entrance {
    if isClosed { return .closed }
    let isTask = if case .task = waiter { true } else { false }
    if !isTaken, !(isTask && isWorkerBusy) {
      begin()
      isWorkerBusy = isWorkerBusy || isTask
      return .turn
    }
    guard let waiter else { return .wait }
    arrivals += 1
    if isTask { tasks.append((arrivals, waiter)) } else { threads.append((arrivals, waiter)) }
    return .wait
  }

  /// Takes out the writer that continues a transaction in which `size` writers have run: the first in line, if it joins.
  ///
  /// Returns nil if the caller must end the transaction. `isWorker` is whether the caller is the write thread, which is free
  /// again if it gives the turn to a thread.
  mutating func next(after size: Int, isWorker: Bool = false) -> Waiter? {
    guard size < Self.groupLimit, let isTask = firstIsTask(isWorker: isWorker) else { return nil }
    if case .thread(_, joins: false) = threads.first?.waiter, !isTask { return nil }
    if isWorker { isWorkerBusy = false }
    return take(isTask: isTask)
  }

  /// The thread that `next` would return after one more writer has run, as the line is now.
  func upcoming(after size: Int, isWorker: Bool) -> WaitingWriter? {
    guard size + 1 < Self.groupLimit, firstIsTask(isWorker: isWorker) == false,
      case .thread(let waiting, joins: true)? = threads.first?.waiter
    else { return nil }
    return waiting
  }

  /// Takes out the writer that begins the next transaction; nil if no writer has the turn now.
  mutating func pass() -> Waiter? {
    guard let isTask = firstIsTask(isWorker: false) else {
      isTaken = false
      return nil
    }
    begin()
    return take(isTask: isTask)
  }

  /// Marks the write thread as free after a delivery, and takes out the task for which it begins a transaction; nil if another
  /// writer has the turn, or no task waits.
  mutating func workerReturned() -> Waiter? {
    isWorkerBusy = false
    guard !isTaken, tasks.first != nil else { return nil }
    begin()
    return take(isTask: true)
  }

  /// Takes out the writers that have waited since before the current turn began.
  mutating func removeEarlier() -> [Waiter] { remove(through: arrivalsAtTurn) }

  /// Takes out all writers, and admits no more.
  mutating func close() -> [Waiter] {
    isClosed = true
    return remove(through: .max)
  }

  private mutating func begin() {
    isTaken = true
    arrivalsAtTurn = arrivals
  }

  private func firstIsTask(isWorker: Bool) -> Bool? {
    let task = isWorker || !isWorkerBusy ? tasks.first?.number : nil
    guard let thread = threads.first?.number else { return task == nil ? nil : true }
    return task.map { $0 < thread } ?? false
  }

  private mutating func take(isTask: Bool) -> Waiter? {
    if isTask { isWorkerBusy = true }
    return (isTask ? tasks.popFirst() : threads.popFirst())?.waiter
  }

  private mutating func remove(through number: Int) -> [Waiter] {
    Self.remove(from: &threads, through: number) + Self.remove(from: &tasks, through: number)
  }

  private static func remove(from queue: inout Queue, through number: Int) -> [Waiter] {
    var removed: [Waiter] = []
    while let first = queue.first, first.number <= number, let next = queue.popFirst() { removed.append(next.waiter) }
    return removed
  }
}

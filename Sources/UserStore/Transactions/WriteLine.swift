/// Who writes next, and who joins whose transaction: a value without locks or calls.
///
/// All writers stand in one line, in the order in which they came: threads, each for itself, and tasks, whose closures
/// the store's own thread runs. One has the turn. When its part is done, the next in line goes on in the same transaction;
/// when nobody waits, or the transaction is full, whoever has the turn ends the transaction and passes the turn on.
///
/// States that cannot be: a turn that nobody has while somebody waits who could take it.
struct WriteLine {
  /// How many share a transaction at most: a writer of another process waits for its end.
  static let groupLimit = 64

  enum Waiter: Sendable {
    /// A thread; one that does not join has its transaction to itself.
    case thread(WritePlace, joins: Bool)
    /// A task: runnable only while the store's thread is at hand.
    case task(AwaitedWrite)
  }

  private var threads = Row()
  private var tasks = Row()
  /// How many have come to wait so far.
  private var arrivals = 0
  /// How many had when the present turn began.
  private var arrivalsAtTurn = 0
  private(set) var isTaken = false
  /// Whether the store's thread has the turn, or tells listeners of a commit.
  ///
  /// It must never be waited for then: a listener may be writing.
  private var isWorkerAway = false
  private var isClosed = false

  /// How many wait.
  var count: Int { threads.count + tasks.count }

  enum Entrance {
    case turn, wait, closed
  }

  /// Somebody comes.
  ///
  /// - Parameter waiter: nil only asks: who would have to wait comes again, with a place to wait at.
  /// - Returns: whether it has the turn at once.
  mutating func enter(_ waiter: Waiter?) -> Entrance {
    if isClosed { return .closed }
    let isTask = if case .task = waiter { true } else { false }
    if !isTaken, !(isTask && isWorkerAway) {
      begin()
      isWorkerAway = isWorkerAway || isTask
      return .turn
    }
    guard let waiter else { return .wait }
    arrivals += 1
    if isTask { tasks.append(waiter, number: arrivals) } else { threads.append(waiter, number: arrivals) }
    return .wait
  }

  /// Who gets the turn, to go on in the present transaction: the first in line, if it joins.
  ///
  /// - Parameters:
  ///   - size: How many have taken part.
  ///   - isWorker: Whether the store's thread asks: it is at hand again when it hands on to another one.
  /// - Returns: nil when the transaction is to be ended.
  mutating func next(after size: Int, isWorker: Bool = false) -> Waiter? {
    guard size < Self.groupLimit, let isTask = firstIsTask(isWorker: isWorker) else { return nil }
    if case .thread(_, joins: false) = threads.first, !isTask { return nil }
    if isWorker { isWorkerAway = false }
    return take(isTask: isTask)
  }

  /// The thread that `next` would give the turn to after one more part, as the line is now.
  func upcoming(after size: Int, isWorker: Bool) -> WritePlace? {
    guard size + 1 < Self.groupLimit, firstIsTask(isWorker: isWorker) == false,
      case .thread(let place, joins: true)? = threads.first
    else { return nil }
    return place
  }

  /// The transaction is over: who begins the next one.
  ///
  /// - Returns: nil when nobody has the turn now.
  mutating func pass() -> Waiter? {
    guard let isTask = firstIsTask(isWorker: false) else {
      isTaken = false
      return nil
    }
    begin()
    return take(isTask: isTask)
  }

  /// The store's thread has told listeners, and is at hand again.
  ///
  /// - Returns: for whom it begins a transaction, if nobody else has the turn; otherwise it may go.
  mutating func workerReturned() -> Waiter? {
    isWorkerAway = false
    guard !isTaken, tasks.first != nil else { return nil }
    begin()
    return take(isTask: true)
  }

  /// Those who have waited since the present turn began, or longer.
  mutating func removeEarlier() -> [Waiter] {
    threads.remove(through: arrivalsAtTurn) + tasks.remove(through: arrivalsAtTurn)
  }

  /// Lets nobody in any more.
  ///
  /// - Returns: all who wait.
  mutating func close() -> [Waiter] {
    isClosed = true
    return threads.remove(through: .max) + tasks.remove(through: .max)
  }

  private mutating func begin() {
    isTaken = true
    arrivalsAtTurn = arrivals
  }

  private func firstIsTask(isWorker: Bool) -> Bool? {
    let task = isWorker || !isWorkerAway ? tasks.firstNumber : nil
    guard let thread = threads.firstNumber else { return task == nil ? nil : true }
    return task.map { $0 < thread } ?? false
  }

  private mutating func take(isTask: Bool) -> Waiter? {
    if isTask { isWorkerAway = true }
    return isTask ? tasks.popFirst() : threads.popFirst()
  }
}

extension WriteLine {
  /// Some of those who wait, with the numbers under which they came.
  private struct Row {
    private var waiters = FIFO<(number: Int, waiter: Waiter)>()

    var count: Int { waiters.count }
    var first: Waiter? { waiters.first?.waiter }
    var firstNumber: Int? { waiters.first?.number }

    mutating func append(_ waiter: Waiter, number: Int) {
      waiters.append((number, waiter))
    }

    mutating func popFirst() -> Waiter? { waiters.popFirst()?.waiter }

    mutating func remove(through number: Int) -> [Waiter] {
      var removed: [Waiter] = []
      while let first = firstNumber, first <= number, let waiter = popFirst() { removed.append(waiter) }
      return removed
    }
  }
}

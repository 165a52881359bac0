// Modeled in Proof/Model/Pump.pml; change both.

/// The items that wait to be delivered, and the threads that wait for them: a value that is protected by the hub's lock.
///
/// One thread delivers at a time. It takes items from the front until its own item is delivered; then another thread that
/// waits for its own item takes over. If no thread waits, it empties the queue. Invariant: while an item is queued, some
/// thread is delivering or about to.
struct RoundQueue<Item: Sendable>: Sendable {
  /// The number of an item, counted from 1.
  typealias Ticket = Int

  private var items = FIFO<Item>()
  private var lastTicket = 0
  private var lastDelivered = 0
  private var hasDeliverer = false
  private var waiters: [(ticket: Ticket, parker: Parker)] = []

  var hasWaiters: Bool { !waiters.isEmpty }

  var nextTicket: Ticket { lastTicket + 1 }

  mutating func append(_ item: Item) -> Ticket {
    items.append(item)
    lastTicket += 1
    return lastTicket
  }

  /// Returns a ticket for an item that the caller delivers now, as the deliverer that continues with `next`; returns nil, and
  /// changes nothing, if other items are before it.
  mutating func beginAlone() -> Ticket? {
    guard !hasDeliverer, items.isEmpty else { return nil }
    hasDeliverer = true
    lastTicket += 1
    return lastTicket
  }

  /// Ends the turn that `beginAlone` began, as `next` would; returns false, and changes nothing, if items or threads wait.
  mutating func endAlone() -> Bool {
    guard items.isEmpty, waiters.isEmpty else { return false }
    lastDelivered += 1
    hasDeliverer = false
    return true
  }

  enum Entrance {
    /// The caller delivers: it calls `next` until that returns nil.
    case deliver
    /// The caller sleeps on its parker, then calls `enter` again.
    case wait
    case leave
  }

  /// Returns what a thread must do: with a ticket, it waits for that item; without one, it delivers items that no thread delivers.
  mutating func enter(through ticket: Ticket?, parker: Parker) -> Entrance {
    if let ticket, ticket <= lastDelivered { return .leave }
    if !hasDeliverer {
      guard !items.isEmpty else { return .leave }
      hasDeliverer = true
      return .deliver
    }
    guard let ticket else { return .leave }
    waiters.append((ticket, parker))
    return .wait
  }

  /// Takes the next item for the deliverer.
  ///
  /// - Parameters:
  ///   - isFirst: Whether this is the first call of the turn; each later call means that the item before was delivered.
  ///   - ticket: The deliverer's own item.
  /// - Returns: The item, or nil if the turn ends; and the parkers to wake under no lock.
  mutating func next(isFirst: Bool, through ticket: Ticket?) -> (item: Item?, wake: [Parker]) {
    precondition(hasDeliverer, "only the deliverer may ask for the next item")
    if !isFirst { lastDelivered += 1 }
    var wake: [Parker] = []
    if !waiters.isEmpty {
      wake = waiters.filter { $0.ticket <= lastDelivered }.map(\.parker)
      waiters.removeAll { $0.ticket <= lastDelivered }
      if ticket.map({ $0 <= lastDelivered }) ?? true, let heir = waiters.first {
        waiters.removeFirst()
        hasDeliverer = false
        return (nil, wake + [heir.parker])
      }
    }
    guard let item = items.popFirst() else {
      hasDeliverer = false
      return (nil, wake)
    }
    return (item, wake)
  }
}

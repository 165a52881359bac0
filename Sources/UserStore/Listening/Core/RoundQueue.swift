// Modelled in Model/Pump.pml; change both.

/// What waits to be delivered, and whose turn it is to deliver: a value without locks or calls.
///
/// One thread delivers at a time. It takes items from the front until its own is done; then another thread that waits
/// for its own item takes over, and if none waits it empties the queue. States that cannot be: an item and neither a
/// deliverer nor a thread on its way to become one.
struct RoundQueue<Item: Sendable>: Sendable {
  /// The number of an item, counted from 1.
  typealias Ticket = Int

  private struct Waiter {
    let ticket: Ticket
    let parker: Parker
  }

  private var items = FIFO<Item>()
  private var lastTicket = 0
  private var lastDelivered = 0
  private var hasDeliverer = false
  private var waiters: [Waiter] = []

  /// Whether anybody sleeps until its item is delivered.
  var hasWaiters: Bool { !waiters.isEmpty }

  /// What the next item will have.
  var nextTicket: Ticket { lastTicket + 1 }

  /// Appends an item.
  mutating func append(_ item: Item) -> Ticket {
    items.append(item)
    lastTicket += 1
    return lastTicket
  }

  /// Appends an item that the caller delivers now: it is the deliverer, and goes on with `next`.
  ///
  /// - Returns: nil when others come first; nothing was appended then.
  mutating func beginAlone() -> Ticket? {
    guard !hasDeliverer, items.isEmpty else { return nil }
    hasDeliverer = true
    lastTicket += 1
    return lastTicket
  }

  enum Entrance {
    /// The caller delivers: `next` until it returns nil.
    case deliver
    /// The caller sleeps on its parker, then asks again.
    case wait
    /// There is nothing to do.
    case leave
  }

  /// A thread comes to see an item delivered, or (without a ticket) to deliver what nobody delivers.
  mutating func enter(through ticket: Ticket?, parker: Parker) -> Entrance {
    if let ticket, ticket <= lastDelivered { return .leave }
    if !hasDeliverer {
      guard !items.isEmpty else { return .leave }
      hasDeliverer = true
      return .deliver
    }
    guard let ticket else { return .leave }
    waiters.append(Waiter(ticket: ticket, parker: parker))
    return .wait
  }

  /// The deliverer is done with what it had, and gets the next item; nil ends its turn.
  ///
  /// - Parameters:
  ///   - isFirst: Whether it had nothing yet.
  ///   - ticket: The deliverer's own item.
  /// - Returns: the item, and whom to wake under no lock.
  mutating func next(isFirst: Bool, through ticket: Ticket?) -> (item: Item?, wake: [Parker]) {
    precondition(hasDeliverer, "somebody delivers whose turn it is not")
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

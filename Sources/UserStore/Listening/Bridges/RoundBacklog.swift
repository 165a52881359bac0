/// The newest rounds up to a limit, and a mark for older ones.
///
/// The oldest are dropped and not the newest: so there is one mark at most, and what comes after it is fresh.
struct RoundBacklog<Content: Routable>: ConsumerBacklog {
  private let limit: Int
  /// The round after a mark that was handed over: it comes next, whatever arrives meanwhile.
  private var promised: Content?
  private var missed: Content.Missed?
  /// nil once it was taken, up to `front`.
  private var rounds: [Content?] = []
  private var front = 0

  init(limit: Int) {
    self.limit = limit
  }

  mutating func append(_ content: Content) -> Content? {
    rounds.append(content)
    guard rounds.count - front > limit, let oldest = takeFirst() else { return nil }
    if missed == nil { missed = Content.Missed(oldest) } else { missed?.add(oldest) }
    return oldest
  }

  mutating func next() -> BufferedRound<Content>? {
    if let promised = promised.take() { return .next(promised) }
    guard let missed = missed.take() else { return takeFirst().map { .next($0) } }
    promised = takeFirst()
    return .missed(missed)
  }

  private mutating func takeFirst() -> Content? {
    guard front < rounds.count else { return nil }
    let first = rounds[front].take()
    front += 1
    // Now and then: moving the rest for each one would cost as much as the limit is long.
    if front >= 64, front * 2 > rounds.count {
      rounds.removeFirst(front)
      front = 0
    }
    return first
  }
}

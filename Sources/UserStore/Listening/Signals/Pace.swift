/// When values leave that come too fast: a value without clocks, locks or calls.
struct Pace<Value: Sendable, Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
  let interval: Duration
  /// Whether a value that follows none leaves at once, and the interval runs from there; otherwise from the last value.
  let isLeading: Bool
  private var waiting: Value?
  /// When a value that waits leaves; nil when none would have to wait for that.
  private var deadline: Instant?

  init(interval: Duration, isLeading: Bool) {
    self.interval = interval
    self.isLeading = isLeading
  }

  /// What is to be done about a value.
  enum Step {
    case leave(thenWakeAt: Instant)
    case wait(wakeAt: Instant)
    /// It waits for somebody who will wake already.
    case waitForOther
  }

  /// A value comes.
  ///
  /// - Parameters:
  ///   - value: Becomes the one that waited before, if this one waits: to be released under no lock.
  ///   - now: The time.
  /// - Returns: what is to be done about it.
  mutating func hear(_ value: inout Value?, at now: Instant) -> Step {
    let wakes = deadline == nil
    let next = now.advanced(by: interval)
    if wakes || !isLeading { deadline = next }
    if wakes, isLeading { return .leave(thenWakeAt: next) }
    swap(&value, &waiting)
    return wakes ? .wait(wakeAt: next) : .waitForOther
  }

  /// The clock has been waited for.
  ///
  /// - Returns: what leaves, and until when to wait again.
  mutating func wake(at now: Instant) -> (leaves: Value?, wakesAt: Instant?) {
    if let deadline, now < deadline { return (nil, deadline) }
    let leaves = waiting.take()
    deadline = isLeading && leaves != nil ? now.advanced(by: interval) : nil
    return (leaves, deadline)
  }

  /// Nothing follows.
  ///
  /// - Returns: what waited.
  mutating func end() -> Value? {
    deadline = nil
    return waiting.take()
  }
}

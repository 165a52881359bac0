extension Signal {
  /// The last value of each burst: a value leaves when none has followed it for an interval.
  ///
  ///     field.debounce(for: .milliseconds(300)).flatMapLatest { text in try await search(text) }
  ///
  /// - **Order** is kept, but a failure does not wait: it overtakes a value that does.
  /// - **End**: a value that waits leaves at once, before the end.
  /// - **Place**: values come from a task that waits for the clock; it is cancelled when the subscription ends.
  ///
  /// - Parameters:
  ///   - interval: How long it must be quiet.
  ///   - clock: What measures it.
  /// - Returns: the new signal.
  public func debounce<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock) { .init(interval: interval, isLeading: false) }
  }

  /// At most one value in an interval: the first at once, and the latest of those that followed when the interval is over.
  ///
  /// - **Order** is kept, but a failure does not wait: it overtakes a value that does.
  /// - **End**: a value that waits leaves at once, before the end.
  /// - **Place**: values that waited come from a task that waits for the clock; it is cancelled when the subscription ends.
  ///
  /// - Parameters:
  ///   - interval: The time from one value to the next.
  ///   - clock: What measures it.
  /// - Returns: the new signal.
  public func throttle<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock) { .init(interval: interval, isLeading: true) }
  }

  private func paced<C: Clock<Duration>>(
    by clock: C, _ pace: @escaping @Sendable () -> Pace<Value, C.Instant>
  ) -> Signal {
    Signal(rank: rank + 1, onError: onError) { source in
      let timer = PaceTimer(source, pace(), clock)
      let token = attach(ListeningTerms()) { timer.hear($0) }
      return SubscriptionToken {
        token.dispose()
        timer.stop()
      }
    }
  }
}

/// Lets values leave by the clock, in one subscription.
final class PaceTimer<Value: Sendable, C: Clock<Duration>>: Sendable {
  private let source: SignalSource<Value>
  private let clock: C
  private let state: Lock<Pace<Value, C.Instant>>
  private let task = TokenSlot()

  init(_ source: SignalSource<Value>, _ pace: Pace<Value, C.Instant>, _ clock: C) {
    self.source = source
    self.clock = clock
    state = Lock(pace)
  }

  func hear(_ event: Signal<Value>.Event) {
    switch event {
    case .value(let value): take(value)
    case .failure: source.relay(event)
    case .end:
      task.close()
      leave { ($0.end(), ()) }
      source.relay(.end)
    }
  }

  /// Cancels the task; what waits goes with this object.
  func stop() {
    task.close()
  }

  private func take(_ value: Value) {
    let now = clock.now
    var other: Value? = value
    let step = leave { pace in
      let step = pace.hear(&other, at: now)
      if case .leave = step { return (value, step) }
      return (nil, step)
    }
    switch step {
    case .leave(let instant), .wait(let instant): wake(at: instant)
    case .waitForOther, nil: break
    }
  }

  /// The task holds this weakly: what sleeps keeps nobody alive.
  private func wake(at instant: C.Instant) {
    let task = Task { [weak self, clock] in
      var next: C.Instant? = instant
      while let instant = next {
        do { try await clock.sleep(until: instant, tolerance: nil) } catch { return }
        next = self?.wake()
      }
    }
    self.task.put(SubscriptionToken { task.cancel() })
  }

  private func wake() -> C.Instant? {
    let now = clock.now
    return leave { $0.wake(at: now) } ?? nil
  }

  /// Changes the pace and queues what leaves, in the order of the changes.
  ///
  /// - Returns: nil when nobody listens any more.
  @discardableResult
  private func leave<Result: Sendable>(
    _ change: (inout Pace<Value, C.Instant>) -> (Value?, Result)
  ) -> Result? {
    // Held, so that its last reference does not go under the lock.
    guard let hub = source.hub else { return nil }
    let cascade = DeliveryThread.current.calling?.cascade
    let result = state.withLock { pace in
      let (leaves, result) = change(&pace)
      if let leaves { source.append(.success(ValueBox(leaves)), in: cascade) }
      return result
    }
    source.deliver()
    withExtendedLifetime(hub) {}
    return result
  }
}

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

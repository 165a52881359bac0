extension Signal {
  /// Emits the last value of each burst: a value that no other value follows within an interval.
  ///
  ///     field.debounce(for: .milliseconds(300)).flatMapLatest { text in try await search(text) }
  ///
  /// - **Order** is kept, except that a failure does not wait: it overtakes a value that waits.
  /// - **End**: a value that waits is emitted immediately, before the end.
  /// - **Place**: values are sent by a task that waits for the clock. The task is canceled when the subscription ends.
  ///
  /// - Parameters:
  ///   - interval: The time without a value after which the last value is emitted.
  ///   - clock: The clock that measures the interval.
  /// - Returns: The debounced signal.
  public func debounce<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock, Pace(interval: interval, isLeading: false))
  }

  /// Emits at most one value per interval: the first one immediately, and the latest of the others at the end of the interval.
  ///
  /// - **Order** and **end**: like `debounce`.
  /// - **Place**: delayed values are sent by a task that waits for the clock. The task is canceled when the subscription ends.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between two values.
  ///   - clock: The clock that measures the interval.
  /// - Returns: The throttled signal.
  public func throttle<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock, Pace(interval: interval, isLeading: true))
  }

  private func paced<C: Clock<Duration>>(by clock: C, _ pace: Pace<Value, C.Instant>) -> Signal {
    Signal(rank: rank + 1, onError: onError) { source in
      let timer = PaceTimer(source, pace, clock)
      let token = attach(ListeningTerms()) { timer.receive($0) }
      return SubscriptionToken {
        token.dispose()
        // A value that waits is released with the timer.
        timer.task.close()
      }
    }
  }
}

/// Emits values by the clock, in one subscription.
private final class PaceTimer<Value: Sendable, C: Clock<Duration>>: Sendable {
  let task = TokenSlot()
  private let source: SignalSource<Value>
  private let clock: C
  private let state: Lock<Pace<Value, C.Instant>>

  init(_ source: SignalSource<Value>, _ pace: Pace<Value, C.Instant>, _ clock: C) {
    self.source = source
    self.clock = clock
    state = Lock(pace)
  }

  func receive(_ event: Signal<Value>.Event) {
    switch event {
    case .value(let value):
      let now = clock.now
      var other: Value? = value
      if let instant = emit({ $0.receive(&other, at: now) }) { wake(at: instant) }
    case .failure: source.relay(event)
    case .end:
      task.close()
      _ = emit { ($0.end(), nil) }
      source.relay(.end)
    }
  }

  /// Starts a task that holds this object weakly: a task that sleeps keeps nothing alive.
  private func wake(at instant: C.Instant) {
    let task = Task { [weak self, clock] in
      var next: C.Instant? = instant
      while let instant = next {
        do { try await clock.sleep(until: instant, tolerance: nil) } catch { return }
        let now = clock.now
        next = self?.emit { $0.wake(at: now) }
      }
    }
    self.task.put(SubscriptionToken { task.cancel() })
  }

  /// Queues the value that a step of the pace emits, in the order of the steps; returns the time to wake at, if there is one.
  private func emit(_ step: (inout Pace<Value, C.Instant>) -> Pace<Value, C.Instant>.Step) -> C.Instant? {
    let cascade = DeliveryThread.current.calling?.cascade
    let wakesAt = state.withLock { pace in
      let (emitted, wakesAt) = step(&pace)
      if let emitted { source.hub.append(.success(ValueBox(emitted)), in: cascade) }
      return wakesAt
    }
    source.hub.deliver(through: nil)
    return wakesAt
  }
}

/// Decides when values are emitted: a value without clocks, locks, or calls.
private struct Pace<Value: Sendable, Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
  /// The value to emit, and the time to wake at; nil if there is none, or if another wake-up is already due.
  typealias Step = (emitted: Value?, wakesAt: Instant?)

  let interval: Duration
  /// Whether the first value is emitted immediately and starts the interval; otherwise every value starts the interval again.
  let isLeading: Bool
  var waiting: Value?
  /// The end of the current interval; nil when there is none.
  var deadline: Instant?

  /// Handles a value; if it has to wait, `value` becomes the one that waited before, which must be released under no lock.
  mutating func receive(_ value: inout Value?, at now: Instant) -> Step {
    let isFirst = deadline == nil
    let next = now.advanced(by: interval)
    if isFirst || !isLeading { deadline = next }
    if isFirst, isLeading { return (value, next) }
    swap(&value, &waiting)
    return (nil, isFirst ? next : nil)
  }

  /// Called when the clock has reached the time to wake at.
  mutating func wake(at now: Instant) -> Step {
    if let deadline, now < deadline { return (nil, deadline) }
    let emitted = waiting.take()
    deadline = isLeading && emitted != nil ? now.advanced(by: interval) : nil
    return (emitted, deadline)
  }

  /// Ends the current interval, and returns the value that waits.
  mutating func end() -> Value? {
    deadline = nil
    return waiting.take()
  }
}

extension Signal {
  /// Emits the last value of each burst: a value is emitted when no other has followed it for an interval.
  ///
  ///     field.debounce(for: .milliseconds(300)).flatMapLatest { text in try await search(text) }
  ///
  /// - **Order** is kept, except that a failure does not wait: it overtakes a value that waits.
  /// - **End**: a value that waits is emitted immediately, before the end.
  /// - **Place**: values come from a task that waits for the clock. The task is canceled when the subscription ends.
  ///
  /// - Parameters:
  ///   - interval: The time without a value after which the last one is emitted.
  ///   - clock: The clock that measures the interval.
  /// - Returns: the debounced signal.
  public func debounce<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock) { .init(interval: interval, isLeading: false) }
  }

  /// Emits at most one value in an interval: the first one immediately, and the latest of the others at the end of the interval.
  ///
  /// - **Order** is kept, except that a failure does not wait: it overtakes a value that waits.
  /// - **End**: a value that waits is emitted immediately, before the end.
  /// - **Place**: values that waited come from a task that waits for the clock. The task is canceled when the subscription
  ///   ends.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between two values.
  ///   - clock: The clock that measures the interval.
  /// - Returns: the throttled signal.
  public func throttle<C: Clock<Duration>>(for interval: Duration, clock: C = ContinuousClock()) -> Signal {
    paced(by: clock) { .init(interval: interval, isLeading: true) }
  }

  private func paced<C: Clock<Duration>>(
    by clock: C, _ pace: @escaping @Sendable () -> Pace<Value, C.Instant>
  ) -> Signal {
    Signal(rank: rank + 1, onError: onError) { source in
      let timer = PaceTimer(source, pace(), clock)
      let token = attach(ListeningTerms()) { timer.receive($0) }
      return SubscriptionToken {
        token.dispose()
        timer.stop()
      }
    }
  }
}

/// Emits values by the clock, in one subscription.
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

  func receive(_ event: Signal<Value>.Event) {
    switch event {
    case .value(let value): handle(value)
    case .failure: source.relay(event)
    case .end:
      task.close()
      emit { ($0.end(), ()) }
      source.relay(.end)
    }
  }

  /// Cancels the task; a value that waits is released with this object.
  func stop() {
    task.close()
  }

  private func handle(_ value: Value) {
    let now = clock.now
    var other: Value? = value
    let step = emit { pace in
      let step = pace.receive(&other, at: now)
      if case .emit = step { return (value, step) }
      return (nil, step)
    }
    switch step {
    case .emit(let instant), .wait(let instant): wake(at: instant)
    case .waitForPresentEnd, nil: break
    }
  }

  /// Starts a task, which holds this object weakly: a task that sleeps keeps nothing alive.
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
    return emit { $0.wake(at: now) } ?? nil
  }

  /// Changes the pace and queues the value that it emits, in the order of the changes.
  ///
  /// - Returns: nil when the subscription has ended.
  @discardableResult
  private func emit<Result: Sendable>(
    _ change: (inout Pace<Value, C.Instant>) -> (Value?, Result)
  ) -> Result? {
    // Held, so that the last reference is not released under the lock.
    guard let hub = source.hub else { return nil }
    let cascade = DeliveryThread.current.calling?.cascade
    let result = state.withLock { pace in
      let (emitted, result) = change(&pace)
      if let emitted { source.append(.success(ValueBox(emitted)), in: cascade) }
      return result
    }
    source.deliver()
    withExtendedLifetime(hub) {}
    return result
  }
}

/// Decides when values are emitted: a value without clocks, locks or calls.
struct Pace<Value: Sendable, Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
  let interval: Duration
  /// Whether the first value is emitted immediately and starts the interval; otherwise every value starts the interval again.
  let isLeading: Bool
  private var waiting: Value?
  /// The end of the present interval; nil when there is none.
  private var deadline: Instant?

  init(interval: Duration, isLeading: Bool) {
    self.interval = interval
    self.isLeading = isLeading
  }

  /// How to handle a value.
  enum Step {
    case emit(thenWakeAt: Instant)
    case wait(wakeAt: Instant)
    /// It waits, and the end of the interval is waited for already.
    case waitForPresentEnd
  }

  /// Handles a value.
  ///
  /// - Parameters:
  ///   - value: If it waits, replaced by the value that waited before, which is to be released under no lock.
  ///   - now: The present time.
  /// - Returns: how to handle it.
  mutating func receive(_ value: inout Value?, at now: Instant) -> Step {
    let isFirst = deadline == nil
    let next = now.advanced(by: interval)
    if isFirst || !isLeading { deadline = next }
    if isFirst, isLeading { return .emit(thenWakeAt: next) }
    swap(&value, &waiting)
    return isFirst ? .wait(wakeAt: next) : .waitForPresentEnd
  }

  /// Called when the clock has reached the time to wake at.
  ///
  /// - Returns: the value to emit, and the time to wake at next.
  mutating func wake(at now: Instant) -> (emitted: Value?, wakesAt: Instant?) {
    if let deadline, now < deadline { return (nil, deadline) }
    let emitted = waiting.take()
    deadline = isLeading && emitted != nil ? now.advanced(by: interval) : nil
    return (emitted, deadline)
  }

  /// Ends the present interval.
  ///
  /// - Returns: the value that waited.
  mutating func end() -> Value? {
    deadline = nil
    return waiting.take()
  }
}

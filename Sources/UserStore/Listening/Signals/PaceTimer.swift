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

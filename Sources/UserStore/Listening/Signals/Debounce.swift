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

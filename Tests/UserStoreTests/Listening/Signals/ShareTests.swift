import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ShareTests {
  private let received = Recorder<String>()

  /// A source that records when it is connected and when it is released.
  private func make() -> (source: SignalSource<Int>, signal: Signal<Int>) {
    let (source, values) = Signal<Int>.make()
    let signal = Signal<Int> { inner in
      received.record("connected")
      let token = values.subscribeToEvents { event in
        switch event {
        case .value(let value): inner.send(value)
        case .failure(let error): inner.fail(error)
        case .end: inner.end()
        }
      }
      return SubscriptionToken {
        token.dispose()
        received.record("released")
      }
    }
    return (source, signal)
  }

  @Test(arguments: [true, false])
  func `the first subscriber connects the source and the last one releases it, each time`(
    _ replays: Bool
  ) {
    let (source, signal) = make()
    let calls = Recorder<Int>()
    let mapped = signal.map { value in
      calls.record(value)
      return value
    }
    let shared = replays ? mapped.share(replayingLatest: true) : mapped.share()
    #expect(received.all.isEmpty)
    let first = received.events(of: shared.map { "first \($0)" })
    let second = received.events(of: shared.map { "second \($0)" })
    source.send(1)
    first.dispose()
    source.send(2)
    second.dispose()
    second.dispose()
    source.send(3)
    let third = received.events(of: shared.map { "third \($0)" })
    source.send(4)
    third.dispose()
    #expect(
      received.all == [
        "connected", "first 1", "second 1", "second 2", "released", "connected", "third 4", "released",
      ])
    #expect(calls.all == [1, 2, 4])
  }

  @Test
  func
    `a late subscriber of share receives the next values; with replay the last value first, and no failure`()
  {
    let (source, signal) = Signal<Int>.make()
    let (shared, replayed) = (signal.share(), signal.share(replayingLatest: true))
    let first = [shared.subscribe { _ in }, replayed.subscribe { _ in }]
    source.send(1)
    source.send(2)
    source.fail(Refusal(reason: "no"))
    let late = [
      received.events(of: shared.map { "share \($0)" }), received.events(of: replayed.map { "replay \($0)" }),
    ]
    #expect(received.all == ["replay 2"])
    source.send(3)
    #expect(received.all == ["replay 2", "share 3", "replay 3"])
    source.end()
    let after = [
      received.events(of: shared.map { "share \($0)" }), received.events(of: replayed.map { "replay \($0)" }),
    ]
    #expect(received.all.suffix(3) == ["end", "replay 3", "end"])
    withExtendedLifetime((first, late, after)) {}
  }

  @Test func `a value that arrives while the source is being connected reaches the first subscriber, once`() {
    let (source, present) = Listenable.make(1)
    for shared in [present.signal.share(), present.signal.share(replayingLatest: true)] {
      let token = received.events(of: shared)
      source.send(present.value + 1)
      token.dispose()
    }
    #expect(received.all == ["1", "2", "2", "3"])
  }

  @Test func `values that are combined from a shared signal are emitted once`() {
    let (source, signal) = Signal<Int>.make()
    for shared in [signal.share(), signal.share(replayingLatest: true)] {
      let received = Recorder<String>()
      let sums = shared.combineLatest(shared.map { $0 * 10 }) { $0 + $1 }.combineLatest(signal) { "\($0) \($1)" }
      let token = sums.subscribe { received.record($0) }
      source.send(1)
      source.send(2)
      #expect(received.all == ["11 1", "22 2"])
      withExtendedLifetime(token) {}
    }
  }

  @Test func `a subscription in the middle of a round receives the value of that round as the replay, once`() {
    let (source, signal) = Signal<Int>.make()
    let replayed = signal.share(replayingLatest: true)
    let bag = TokenBag()
    let first = replayed.subscribe { value in
      if value == 2 { received.events(of: replayed).disposed(by: bag) }
    }
    for value in 1...3 { source.send(value) }
    #expect(received.all == ["2", "3"])
    withExtendedLifetime(first) {}
  }

  @Test @MainActor func `on the main actor, the last value is delivered before subscribe returns`() {
    let (source, signal) = Signal<Int>.make()
    let replayed = signal.share(replayingLatest: true)
    let first = replayed.subscribe { _ in }
    source.send(1)
    let token = replayed.subscribe(on: .main) { received.record("\($0)") }
    #expect(received.all == ["1"])
    withExtendedLifetime((first, token)) {}
  }

  @Test func `a replay misses and duplicates nothing while others send`() throws {
    for _ in 0..<20 {
      let (source, signal) = Signal<Int>.make()
      let replayed = signal.share(replayingLatest: true)
      let keeper = replayed.subscribe { _ in }
      let received = (0..<2).map { _ in Recorder<Int>() }
      let tokens = Lock<[SubscriptionToken]>([])
      try Threads.run(3) { thread in
        if thread == 2 {
          for value in 1...300 { source.send(value) }
        } else {
          let token = replayed.subscribe { received[thread].record($0) }
          tokens.withLock { $0.append(token) }
        }
      }
      for recorder in received {
        #expect(recorder.all.last == 300)
        #expect(recorder.all == Array((recorder.all.first ?? 0)...300))
      }
      withExtendedLifetime((keeper, tokens.withLock { $0 })) {}
    }
  }

  @Test func `subscriptions on many threads connect the source once at a time and release it at the end`() throws {
    let (source, signal) = Signal<Int>.make()
    for shared in [signal.share(), signal.share(replayingLatest: true)] {
      try Threads.run(4) { thread in
        for value in 0..<100 {
          if thread == 0 { source.send(value) }
          shared.subscribe { _ in }.dispose()
        }
      }
      #expect(source.hub.count == 0)
    }
  }
}

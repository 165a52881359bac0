import Testing

@testable import UserStore

@Suite(.timeLimit(.minutes(5))) struct ShareTests {
  private let heard = Recorder<String>()

  /// A source that records when it is connected and when it ends.
  private func make() -> (source: SignalSource<Int>, signal: Signal<Int>) {
    let (source, values) = Signal<Int>.make()
    let signal = Signal<Int> { inner in
      heard.record("connected")
      let token = values.subscribeToEvents { event in
        switch event {
        case .value(let value): inner.send(value)
        case .failure(let error): inner.fail(error)
        case .end: inner.end()
        }
      }
      return SubscriptionToken {
        token.dispose()
        heard.record("let go")
      }
    }
    return (source, signal)
  }

  @Test(arguments: [true, false]) func `it is connected with the first subscriber and ended with the last, each time`(
    _ replays: Bool
  ) {
    let (source, signal) = make()
    let calls = Recorder<Int>()
    let mapped = signal.map { value in
      calls.record(value)
      return value
    }
    let shared = replays ? mapped.share(replayingLatest: true) : mapped.share()
    #expect(heard.all.isEmpty)
    let first = heard.events(of: shared.map { "first \($0)" })
    let second = heard.events(of: shared.map { "second \($0)" })
    source.send(1)
    first.dispose()
    source.send(2)
    second.dispose()
    second.dispose()
    source.send(3)
    let third = heard.events(of: shared.map { "third \($0)" })
    source.send(4)
    third.dispose()
    #expect(
      heard.all == [
        "connected", "first 1", "second 1", "second 2", "let go", "connected", "third 4", "let go",
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
    let late = [heard.events(of: shared.map { "share \($0)" }), heard.events(of: replayed.map { "replay \($0)" })]
    #expect(heard.all == ["replay 2"])
    source.send(3)
    #expect(heard.all == ["replay 2", "share 3", "replay 3"])
    source.end()
    let after = [heard.events(of: shared.map { "share \($0)" }), heard.events(of: replayed.map { "replay \($0)" })]
    #expect(heard.all.suffix(3) == ["end", "replay 3", "end"])
    withExtendedLifetime((first, late, after)) {}
  }

  @Test func `a value that comes while it is being connected reaches the first subscriber, once`() {
    let (source, present) = Listenable.make(1)
    for shared in [present.signal.share(), present.signal.share(replayingLatest: true)] {
      let token = heard.events(of: shared)
      source.send(present.value + 1)
      token.dispose()
    }
    #expect(heard.all == ["1", "2", "2", "3"])
  }

  @Test func `values that are combined from a shared signal come once`() {
    let (source, signal) = Signal<Int>.make()
    for shared in [signal.share(), signal.share(replayingLatest: true)] {
      let heard = Recorder<String>()
      let sums = shared.combineLatest(shared.map { $0 * 10 }) { $0 + $1 }.combineLatest(signal) { "\($0) \($1)" }
      let token = sums.subscribe { heard.record($0) }
      source.send(1)
      source.send(2)
      #expect(heard.all == ["11 1", "22 2"])
      withExtendedLifetime(token) {}
    }
  }

  @Test func `a subscription in the middle of a round receives the value of that round as the replay, once`() {
    let (source, signal) = Signal<Int>.make()
    let replayed = signal.share(replayingLatest: true)
    let bag = TokenBag()
    let first = replayed.subscribe { value in
      if value == 2 { heard.events(of: replayed).disposed(by: bag) }
    }
    for value in 1...3 { source.send(value) }
    #expect(heard.all == ["2", "3"])
    withExtendedLifetime(first) {}
  }

  @Test @MainActor func `on the main actor the last value comes before subscribe returns`() {
    let (source, signal) = Signal<Int>.make()
    let replayed = signal.share(replayingLatest: true)
    let first = replayed.subscribe { _ in }
    source.send(1)
    let token = replayed.subscribe(on: .main) { heard.record("\($0)") }
    #expect(heard.all == ["1"])
    withExtendedLifetime((first, token)) {}
  }

  @Test func `a replay misses and duplicates nothing while others send`() throws {
    for _ in 0..<20 {
      let (source, signal) = Signal<Int>.make()
      let replayed = signal.share(replayingLatest: true)
      let keeper = replayed.subscribe { _ in }
      let heard = (0..<2).map { _ in Recorder<Int>() }
      let tokens = Lock<[SubscriptionToken]>([])
      try Threads.run(3) { thread in
        if thread == 2 {
          for value in 1...300 { source.send(value) }
        } else {
          let token = replayed.subscribe { heard[thread].record($0) }
          tokens.withLock { $0.append(token) }
        }
      }
      for recorder in heard {
        #expect(recorder.all.last == 300)
        #expect(recorder.all == Array((recorder.all.first ?? 0)...300))
      }
      withExtendedLifetime((keeper, tokens.withLock { $0 })) {}
    }
  }

  @Test func `with subscriptions of many threads, it is connected once at a time and ended at last`() throws {
    let (source, signal) = Signal<Int>.make()
    for shared in [signal.share(), signal.share(replayingLatest: true)] {
      try Threads.run(4) { thread in
        for value in 0..<100 {
          if thread == 0 { source.send(value) }
          shared.subscribe { _ in }.dispose()
        }
      }
      #expect(source.hub?.count == 0)
    }
  }
}

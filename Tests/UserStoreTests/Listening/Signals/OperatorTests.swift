import Testing

@testable import UserStore

/// The guarantees of every operator.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct OperatorTests {
  private let received = Recorder<String>()
  private let live = LiveTokens()

  /// Applies an operator to a signal, so that only the returned objects hold the two.
  private func listen(_ made: Operator) -> (source: SignalSource<Item>, token: SubscriptionToken) {
    let (source, signal) = Signal<Item>.make()
    return (source, received.events(of: made.apply(signal, live.make())))
  }

  private func item(_ number: Int) -> Item { Item(number: number, token: live.make()) }

  @Test(arguments: Operator.all) func `values, failures and the end pass through in order`(_ made: Operator) {
    let (source, token) = listen(made)
    // A second value would wait for the end of throttle's interval.
    source.send(item(1))
    source.fail(Refusal(reason: "no"))
    if made.testDescription != "throttle" { source.send(item(2)) }
    source.end()
    let failures = received.all.filter { $0 == "failed no" }
    #expect(!failures.isEmpty)
    let expected = made.testDescription == "throttle" ? ["1", "end"] : ["1", "2", "end"]
    #expect(received.all.filter { $0 != "failed no" } == expected)
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Operator.all) func `C7, nothing is left when its token is released`(_ made: Operator) {
    var (source, token): (SignalSource<Item>, SubscriptionToken?) = listen(made)
    for number in 1...3 { source.send(item(number)) }
    #expect(live.count > 0)
    token = nil
    #expect(live.count == 0 && source.hub.count == 0 && token == nil)
    source.send(item(4))
    source = Signal<Item>.make().source
    #expect(!received.all.contains("4") && !received.all.contains("end"))
  }

  @Test(arguments: Operator.all) func `C7, nothing is left when its source has ended`(_ made: Operator) {
    let (source, token) = listen(made)
    for number in 1...3 { source.send(item(number)) }
    source.end()
    #expect(received.all.last == "end")
    if made.testDescription.hasSuffix("share, replaying the latest") || made.testDescription == "several" {
      // The value is held for late subscribers.
      #expect(live.count == 1)
    } else {
      #expect(live.count == 0)
    }
    withExtendedLifetime(token) {}
  }

  @Test(arguments: Operator.all) func `a subscriber that another one disposes during a round receives nothing of it`(
    _ made: Operator
  ) {
    let (source, signal) = Signal<Item>.make()
    let bag = TokenBag()
    let first = signal.subscribe { if $0.number == 2 { bag.disposeAll() } }
    received.events(of: made.apply(signal, live.make())).disposed(by: bag)
    source.send(item(1))
    source.send(item(2))
    source.send(item(3))
    #expect(received.all == ["1"])
    withExtendedLifetime(first) {}
  }

  @Test(arguments: Operator.all) func `a subscriber that disposes its own token receives nothing more`(_ made: Operator)
  {
    let (source, signal) = Signal<Item>.make()
    let bag = TokenBag()
    made.apply(signal, live.make()).subscribeToEvents { event in
      received.events(event)
      bag.disposeAll()
    }.disposed(by: bag)
    source.send(item(1))
    source.send(item(2))
    source.end()
    #expect(received.all == ["1"])
    #expect(live.count == 0)
  }

  @Test(arguments: Operator.all)
  func `a subscriber may send and subscribe, and all subscribers receive all values in order`(
    _ made: Operator
  ) {
    let (source, signal) = Signal<Item>.make()
    let bag = TokenBag()
    let applied = made.apply(signal, live.make())
    applied.subscribe { value in
      received.record("first \(value)")
      guard value.number < 3 else { return }
      source.send(Item(number: value.number + 1))
      if value.number == 1 { applied.subscribe { received.record("late \($0)") }.disposed(by: bag) }
    }.disposed(by: bag)
    let second = applied.subscribe { received.record("second \($0)") }
    source.send(item(1))
    source.send(item(4))
    if made.testDescription == "throttle" { return withExtendedLifetime(second) {} }
    for name in ["first", "second"] {
      #expect(received.all.filter { $0.hasPrefix(name) } == (1...4).map { "\(name) \($0)" })
    }
    let late = received.all.filter { $0.hasPrefix("late") }
    #expect(late.suffix(3) == (2...4).map { "late \($0)" })
    withExtendedLifetime(second) {}
  }

  @Test(arguments: Operator.all) func `after disposing on another thread, at most the running call finishes`(
    _ made: Operator
  ) throws {
    for _ in 0..<10 {
      let (source, signal) = Signal<Item>.make()
      let isDisposed = Lock(false), late = Recorder<Item>(), some = Gate()
      let token = Lock<SubscriptionToken?>(nil)
      let subscribed = made.apply(signal, live.make()).subscribe { value in
        some.open()
        if isDisposed.withLock({ $0 }) { late.record(value) }
      }
      token.withLock { $0 = subscribed }
      try Threads.run(3) { thread in
        switch thread {
        case 0:
          some.wait()
          token.withLock { $0 }?.dispose()
          isDisposed.withLock { $0 = true }
        default:
          for number in 0..<100 { source.send(Item(number: thread * 1_000 + number)) }
        }
      }
      #expect(late.count <= 1)
    }
    #expect(live.count == 0)
  }
}

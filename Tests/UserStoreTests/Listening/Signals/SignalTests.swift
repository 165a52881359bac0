import Testing

@testable import UserStore

/// The core of signals: sources, subscriptions, order, end, lifetime.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SignalTests {
  @Test func `C1, values and failures reach every subscriber in order, and a failure does not end the signal`() {
    let (source, signal) = Signal<Int>.make()
    let first = Recorder<String>(), second = Recorder<String>()
    let tokens = [first, second].map { received in signal.subscribeToEvents({ received.record("\($0)") }) }
    source.send(1)
    source.fail(Refusal(reason: "no"))
    source.send(2)
    source.end()
    source.send(3)
    let expected = ["value(1)", "failure(\(Refusal(reason: "no")))", "value(2)", "end"]
    #expect(
      first.all.map { $0.replacing("UserStoreTests.", with: "") }
        == expected.map { $0.replacing("UserStoreTests.", with: "") })
    #expect(second.all == first.all)
    withExtendedLifetime(tokens) {}
  }

  @Test func `a failure that is sent to a listenable reaches subscribers of its signal, and changes no value`() {
    let received = Recorder<String>(), reported = Recorder<String>()
    let (source, listenable) = Listenable.make(1) { _, error in reported.record((error as? Refusal)?.reason ?? "other")
    }
    listenable.bind("named") { received.record("named \($0)") }
    let record = { @Sendable (event: Signal<Int>.Event) in
      switch event {
      case .value(let value): received.record("value \(value)")
      case .failure(let error): received.record("failure \((error as? Refusal)?.reason ?? "other")")
      case .end: received.record("end")
      }
    }
    let token = listenable.signal.subscribeToEvents(record)
    source.fail(Refusal(reason: "no"))
    #expect(listenable.value == 1)
    source.send(2)
    source.end()
    #expect(received.all == ["value 1", "failure no", "named 2", "value 2", "end"])
    #expect(reported.all == ["no"], "named listeners do not receive failures, so the error handler does")
    withExtendedLifetime(token) {}
  }

  @Test func `C2, the source does not hold its signal, and its release ends the signal`() {
    let received = Recorder<String>()
    var (source, signal): (SignalSource<Int>?, Signal<Int>?) = (nil, nil)
    weak var receiver: SignalReceiver?
    do {
      let held = SignalReceiver(reportingTo: nil)
      (source, signal, receiver) = (SignalSource(held), Signal(held, rank: 0), held)
    }
    var token: SubscriptionToken? = signal?.subscribeToEvents({ received.record("\($0)") })
    signal = nil
    source?.send(1)
    #expect(receiver != nil)
    token = nil
    #expect(receiver == nil)
    source?.send(2)
    (source, signal) = Signal<Int>.make()
    token = signal?.subscribeToEvents({ received.record("\($0)") })
    source = nil
    #expect(received.all == ["value(1)", "end"])
    let late = Recorder<String>()
    let lateToken = signal?.subscribeToEvents({ late.record("\($0)") })
    #expect(late.all == ["end"])
    withExtendedLifetime((token, lateToken)) {}
  }

  @Test func `C3, releasing the token unsubscribes, and so does disposing it, and a bag of them`() {
    let (source, signal) = Signal<Int>.make()
    let received = Recorder<String>()
    var token: SubscriptionToken? = signal.subscribe { received.record("released \($0)") }
    let disposed = signal.subscribe { received.record("disposed \($0)") }
    var bag: TokenBag? = TokenBag()
    signal.subscribe { received.record("bag \($0)") }.disposed(by: bag!)
    source.send(1)
    token = nil
    disposed.dispose()
    bag = nil
    source.send(2)
    #expect(received.all == ["released 1", "disposed 1", "bag 1"])
    #expect(token == nil && bag == nil)
  }

  @Test func `a signal whose subscriber holds the token is released with its source`() {
    let box = Lock<SubscriptionToken?>(nil)
    weak let hub: SignalHub?
    var source: SignalSource<Int>?
    do {
      let (made, signal) = Signal<Int>.make()
      source = made
      hub = made.hub
      let holder = Holder()
      holder.token.withLock { $0 = signal.subscribe { [holder] _ in _ = holder } }
    }
    source?.send(1)
    #expect(hub != nil)
    source = nil
    #expect(hub == nil)
    withExtendedLifetime(box) {}
  }

  private final class Holder: Sendable {
    let token = Lock<SubscriptionToken?>(nil)
  }

  @Test func `a value that a subscriber sends is delivered after all have received the present value`() {
    let (source, signal) = Signal<Int>.make()
    let received = Recorder<String>()
    let first = signal.subscribe { value in
      received.record("first \(value)")
      if value < 3 { source.send(value + 1) }
    }
    let second = signal.subscribe { received.record("second \($0)") }
    source.send(1)
    #expect(received.all == ["first 1", "second 1", "first 2", "second 2", "first 3", "second 3"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a subscriber that feeds itself forever is stopped, and named`() {
    let errors = Recorder<String>()
    let (source, signal) = Signal<Int>.make { errors.record("\($1)") }
    let received = Recorder<Int>()
    let token = signal.subscribe { value in
      received.record(value)
      source.send(value + 1)
    }
    source.send(0)
    #expect(received.all.count == 1_001)
    #expect(errors.all.count == 1 && errors.all[0].contains("keep triggering each other"))
    source.send(-1)
    #expect(received.all.count > 1_001)
    withExtendedLifetime(token) {}
  }

  @Test func `a subscriber that feeds itself through a combined signal is stopped too`() {
    let errors = Recorder<String>()
    let (source, signal) = Signal<Int>.make { errors.record("\($1)") }
    let received = Recorder<Int>()
    let token = signal.combineLatest(signal) { $0 + $1 }.subscribe { value in
      received.record(value)
      source.send(value)
    }
    source.send(0)
    #expect(received.all.count == 1_001)
    #expect(errors.all.count == 1)
    withExtendedLifetime(token) {}
  }
}

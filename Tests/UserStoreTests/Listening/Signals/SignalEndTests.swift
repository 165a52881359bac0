import Testing

@testable import UserStore

/// The end of a signal.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SignalEndTests {
  private let received = Recorder<String>()

  @Test func `a subscriber that is disposed while others receive the end does not receive it`() {
    let (source, signal) = Signal<Int>.make()
    let bag = TokenBag()
    let first = signal.subscribeToEvents { event in
      received.events(event)
      bag.disposeAll()
    }
    signal.subscribeToEvents { _ in received.record("disposed of") }.disposed(by: bag)
    source.end()
    #expect(received.all == ["end"])
    withExtendedLifetime(first) {}
  }

  @Test func `a subscriber that is disposed before the end reaches its actor does not receive it`() async {
    let place = Place()
    let (source, signal) = Signal<Int>.make()
    let gate = Gate()
    place.hold(until: gate)
    let token = signal.subscribeToEvents(on: .actor(place)) { _ in received.record("disposed of") }
    let last = signal.subscribeToEvents(on: .actor(place)) { _ in received.record("last") }
    source.end()
    token.dispose()
    gate.open()
    await received.reached(1)
    #expect(received.all == ["last"])
    withExtendedLifetime(last) {}
  }

  @Test func `the source of a signal is released when the signal ends, not with the token`() {
    let ended = Recorder<Int>()
    let (source, signal) = Signal<Int>.make()
    let made = Signal<Int> { inner in
      let token = signal.subscribe {
        inner.send($0)
        inner.end()
      }
      return SubscriptionToken {
        token.dispose()
        ended.record(1)
      }
    }
    let token = received.events(of: made)
    source.send(1)
    #expect(received.all == ["1", "end"])
    #expect(ended.count == 1 && source.hub.count == 0)
    token.dispose()
    #expect(ended.count == 1)
  }

  @Test func `a source that ends while it is being connected is released too`() {
    let ended = Recorder<Int>()
    // Somebody else holds the token, too, so that only `dispose` ends it.
    let upstream = SubscriptionToken { ended.record(1) }
    let made = Signal<Int> { source in
      source.send(1)
      source.end()
      return upstream
    }
    let token = received.events(of: made)
    #expect(received.all == ["1", "end"] && ended.count == 1)
    withExtendedLifetime((upstream, token)) {}
  }

  @Test func `given values and the end are delivered before subscribe returns, without values only the end`() {
    let tokens = [received.events(of: Signal(of: [1, 2])), received.events(of: Signal<Int>(of: []))]
    #expect(received.all == ["1", "2", "end", "end"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `no lock is held when a value is released whose deinitializer reads the present one`() {
    let (source, listenable) = Listenable<Asker?>.make(nil)
    let pair = listenable.signal.combineLatest(listenable.signal) { _, _ in 1 }
    let last = listenable.signal.share(replayingLatest: true)
    let tokens = [pair.subscribe { _ in }, last.subscribe { _ in }]
    for _ in 0..<3 { source.send(Asker { received.record("\(listenable.value == nil)") }) }
    source.send(nil)
    #expect(received.all == ["false", "false", "true"])
    withExtendedLifetime(tokens) {}
  }

  private final class Asker: Sendable {
    private let ask: @Sendable () -> Void

    init(_ ask: @escaping @Sendable () -> Void) {
      self.ask = ask
    }

    deinit { ask() }
  }
}

import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct TakeUntilTests {
  private let received = Recorder<String>()

  @Test func `values are emitted until the other signal has one, and then both are released`() {
    let (source, signal) = Signal<Int>.make()
    let (stop, other) = Signal<String>.make()
    let token = received.events(of: signal.take(until: other))
    source.send(1)
    stop.fail(Refusal(reason: "no"))
    source.send(2)
    stop.send("now")
    #expect(source.hub.count == 0)
    #expect(stop.hub.count == 0)
    source.send(3)
    #expect(received.all == ["1", "failed no", "2", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `the end of the other signal has no effect, and the end of this one is the end`() {
    let (source, signal) = Signal<Int>.make()
    let (stop, other) = Signal<String>.make()
    let token = received.events(of: signal.take(until: other))
    stop.end()
    source.send(1)
    source.end()
    #expect(received.all == ["1", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `a value in the round of the other signal's first value is emitted, whichever is first`() {
    let (source, signal) = Signal<Int>.make()
    let deep = signal.combineLatest(signal) { $0 + $1 }
    let tokens = [
      received.events(of: deep.take(until: signal.filter { $0 == 2 })),
      received.events(of: signal.take(until: deep.filter { $0 == 4 }).map { "second \($0)" }),
    ]
    for value in 1...3 { source.send(value) }
    #expect(received.all.filter { !$0.hasPrefix("second") } == ["2", "4", "end", "end"])
    #expect(received.all.filter { $0.hasPrefix("second") } == ["second 1", "second 2"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `if the other signal has a value immediately, this one is never subscribed to`() {
    let asked = Recorder<Int>()
    let signal = Signal<Int> { _ in
      asked.record(1)
      return SubscriptionToken {}
    }
    let (source, present) = Listenable.make(1)
    let token = received.events(of: signal.take(until: present.signal))
    let other = present.signal.subscribe { _ in
      received.events(of: Signal(of: [1]).take(until: present.signal)).dispose()
    }
    #expect(received.all == ["end"] && asked.count == 0)
    withExtendedLifetime((token, other, source)) {}
  }
}

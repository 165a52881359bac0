import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DebounceTests {
  private let received = Recorder<String>()
  private let clock = ManualClock()

  @Test func `debounce emits the last value of a burst, an interval after it`() async {
    let (source, signal) = Signal<Int>.make()
    let token = received.events(of: signal.debounce(for: .seconds(10), clock: clock))
    source.send(1)
    await clock.slept.reached(1)
    clock.advance(by: .seconds(5))
    source.send(2)
    clock.advance(by: .seconds(5))
    await clock.slept.reached(2)
    #expect(received.all.isEmpty)
    clock.advance(by: .seconds(5))
    await received.reached(1)
    source.send(3)
    await clock.slept.reached(3)
    clock.advance(by: .seconds(10))
    await received.reached(2)
    #expect(received.all == ["2", "3"])
    #expect(clock.slept.all == [.seconds(10), .seconds(15), .seconds(25)])
    withExtendedLifetime(token) {}
  }

  @Test func `a failure does not wait, and a value that waits is emitted before the end`() async {
    let (source, signal) = Signal<Int>.make()
    let token = received.events(of: signal.debounce(for: .seconds(10), clock: clock))
    source.send(1)
    await clock.slept.reached(1)
    source.fail(Refusal(reason: "no"))
    source.send(2)
    source.end()
    #expect(received.all == ["failed no", "2", "end"])
    await clock.woken.reached(1)
    #expect(clock.sleepers == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `throttle emits the first value immediately, then the latest of each interval`() async {
    let (source, signal) = Signal<Int>.make()
    let token = received.events(of: signal.throttle(for: .seconds(10), clock: clock))
    source.send(1)
    #expect(received.all == ["1"])
    source.send(2)
    source.send(3)
    await clock.slept.reached(1)
    #expect(received.all == ["1"])
    clock.advance(by: .seconds(10))
    await clock.slept.reached(2)
    #expect(received.all == ["1", "3"])
    source.send(4)
    clock.advance(by: .seconds(10))
    await clock.slept.reached(3)
    #expect(received.all == ["1", "3", "4"])
    // After an interval without a value, the next value is the first of an interval again.
    clock.advance(by: .seconds(20))
    source.send(5)
    source.end()
    // The thread that has slept may still be emitting, and then it emits these too.
    await received.reached(5)
    #expect(received.all == ["1", "3", "4", "5", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `a value that waits in throttle is emitted before the end`() {
    let (source, signal) = Signal<Int>.make()
    let token = received.events(of: signal.throttle(for: .seconds(10), clock: clock))
    for value in 1...3 { source.send(value) }
    source.end()
    #expect(received.all == ["1", "3", "end"])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [true, false]) func `C7, disposing while a value waits releases the value and cancels the sleep`(
    _ throttles: Bool
  ) async {
    let live = LiveTokens()
    let (source, signal) = Signal<Item>.make()
    var token: SubscriptionToken? = received.events(
      of: throttles
        ? signal.throttle(for: .seconds(10), clock: clock) : signal.debounce(for: .seconds(10), clock: clock))
    source.send(Item(number: 1, token: live.make()))
    source.send(Item(number: 2, token: live.make()))
    await clock.slept.reached(1)
    #expect(live.count == 1)
    token = nil
    #expect(live.count == 0 && token == nil)
    await clock.woken.reached(1)
    clock.advance(by: .seconds(10))
    #expect(received.all == (throttles ? ["1"] : []))
  }

  @Test func `on the real clock, values of two threads are emitted in order, and the last one always`() async throws {
    let (source, signal) = Signal<Int>.make()
    let values = Recorder<Int>()
    let throttled = signal.throttle(for: .milliseconds(1)).subscribe { values.record($0) }
    let last = Recorder<Int>()
    let debounced = signal.debounce(for: .milliseconds(1)).subscribe { last.record($0) }
    let next = Lock(0)
    try Threads.run(2) { _ in
      for _ in 0..<500 {
        next.withLock { next in
          next += 1
          source.send(next)
        }
      }
    }
    await values.reached { $0.last == 1_000 }
    await last.reached { $0.last == 1_000 }
    #expect(values.all == values.all.sorted() && last.all == last.all.sorted())
    withExtendedLifetime((throttled, debounced)) {}
  }
}

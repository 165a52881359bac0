import Dispatch
import Testing

@testable import UserStore

/// Listeners that receive only the latest value on an actor, and the turns of the actor's other work.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LatestPlaceTests {
  @Test func `a listener for the latest value misses those that were replaced while its actor was busy`() async {
    let (place, mayContinue) = (Place(), Gate())
    let (source, number) = Listenable.make(0)
    let (latest, all) = (Recorder<Int>(), Recorder<Int>())
    number.bind("latest", on: .latest(on: place)) { latest.record($0) }
    number.bind("all", on: .actor(place)) { all.record($0) }
    place.hold(until: mayContinue)
    for value in 1...100 { source.send(value) }
    mayContinue.open()
    await all.reached(100)
    #expect(latest.all == [100] && all.all == Array(1...100))
    source.send(101)
    await latest.reached(2)
    #expect(latest.all == [100, 101])
  }

  @Test func `a first value that waits is replaced too`() async {
    let (place, mayContinue) = (Place(), Gate())
    let (source, number) = Listenable.make(0)
    let latest = Recorder<Int>()
    place.hold(until: mayContinue)
    number.bindAndFire("latest", on: .latest(on: place)) { latest.record($0) }
    for value in 1...100 { source.send(value) }
    mayContinue.open()
    await latest.reached { $0.last == 100 }
    #expect(latest.all == [100])
  }

  @Test func `a listener that is unbound or bound again is not called with a value that waits`() async {
    let (place, mayContinue) = (Place(), Gate())
    let (source, number) = Listenable.make(0)
    let received = Recorder<String>()
    number.bind("unbound", on: .latest(on: place)) { received.record("unbound \($0)") }
    number.bind("bound again", on: .latest(on: place)) { received.record("old \($0)") }
    place.hold(until: mayContinue)
    source.send(1)
    number.unbind("unbound")
    number.bind("bound again", on: .latest(on: place)) { received.record("new \($0)") }
    source.send(2)
    mayContinue.open()
    await received.reached(1)
    #expect(received.all == ["new 2"])
  }

  @Test func `the end of a signal comes after the latest value`() async {
    let (place, mayContinue) = (Place(), Gate())
    let received = Recorder<String>()
    var source: SignalSource<Int>?
    let signal: Signal<Int>
    (source, signal) = Signal<Int>.make()
    let token = signal.subscribeToEvents(on: .latest(on: place)) { event in received.record("\(event)") }
    place.hold(until: mayContinue)
    for value in 1...3 { source?.send(value) }
    source = nil
    mayContinue.open()
    await received.reached(2)
    #expect(received.all == ["value(3)", "end"])
    withExtendedLifetime(token) {}
  }

  @MainActor @Test func `bound on the main actor, the first value is delivered before the method returns`() async {
    let (source, number) = Listenable.make(0)
    let received = Recorder<Int>()
    number.bindAndFire("latest", on: .latestOnMain) { received.record($0) }
    #expect(received.all == [0])
    for value in 1...3 { source.send(value) }
    await received.reached(2)
    #expect(received.all == [0, 3])
  }

  @Test func `what an operator drops, and a failure that is not received, replaces no value`() async {
    let (place, mayContinue) = (Place(), Gate())
    struct Refusal: Error {}
    let (source, number) = Listenable.make(0, onError: { _, _ in })
    let (even, values, sums, bound) = (Recorder<Int>(), Recorder<Int>(), Recorder<Int>(), Recorder<Int>())
    let tokens = [
      number.signal.filter { $0 % 2 == 0 }.subscribe(on: .latest(on: place)) { even.record($0) },
      number.signal.subscribe(on: .latest(on: place)) { values.record($0) },
      number.signal.scan(0, +).subscribe(on: .latest(on: place)) { sums.record($0) },
    ]
    number.bind("bound", on: .latest(on: place)) { bound.record($0) }
    place.hold(until: mayContinue)
    for value in 1...4 { source.send(value) }
    source.send(5)
    source.fail(Refusal())
    mayContinue.open()
    await bound.reached(1)
    await values.reached { $0.last == 5 }
    await even.reached { $0.last == 4 }
    await sums.reached { $0.last == 15 }
    #expect(bound.all == [5])
    withExtendedLifetime(tokens) {}
  }

  @MainActor @Test func `a replaced value is released under no lock`() async {
    let (source, value) = Listenable<ReentrantValue?>.make(nil)
    let received = Recorder<Int>()
    value.bind("latest", on: .latestOnMain) { value in if let value { received.record(value.number) } }
    for number in 1...3 { source.send(ReentrantValue(number) { _ = value.value }) }
    await received.reached(1)
    #expect(received.all == [3])
  }

  private final class ReentrantValue: Sendable {
    let number: Int
    private let onRelease: @Sendable () -> Void

    init(_ number: Int, onRelease: @escaping @Sendable () -> Void) {
      self.number = number
      self.onRelease = onRelease
    }

    deinit { onRelease() }
  }

  @MainActor @Test func `the main actor's other work gets a turn while many calls wait`() async throws {
    let (source, number) = Listenable.make(0)
    let received = Recorder<Int>()
    let others = OtherWork()
    others.begin()
    number.bind("slow", on: .main) { value in
      others.callsInARow += 1
      others.longest = max(others.longest, others.callsInARow)
      let start = ContinuousClock.now
      while ContinuousClock.now - start < .milliseconds(1) {}
      received.record(value)
    }
    for value in 1...200 { source.send(value) }
    await received.reached(200)
    others.isOver = true
    #expect(received.all == Array(1...200))
    // The calls take a millisecond each, and a turn four.
    #expect(others.longest <= 5 && others.turns >= 40)
  }
}

/// Work in the main queue, which has one block after another there: on a busy machine, a task that yields may return late.
@MainActor private final class OtherWork {
  var (turns, callsInARow, longest, isOver) = (0, 0, 0, false)

  func begin() {
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        if self.isOver { return }
        self.turns += 1
        self.callsInARow = 0
        self.begin()
      }
    }
  }
}

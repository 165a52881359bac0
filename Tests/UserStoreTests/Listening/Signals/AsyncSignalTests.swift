import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct AsyncSignalTests {
  private let received = Recorder<String>()

  @Test func `an asynchronous function is one value or failure, then the end, once for each subscription`() async {
    let runs = Recorder<Int>()
    let value = Signal {
      runs.record(1)
      return 7
    }
    let failing = Signal<Int> { throw Refusal(reason: "no") }
    let first = received.events(of: value)
    await received.reached(2)
    let second = received.events(of: failing)
    await received.reached(4)
    let third = received.events(of: value)
    await received.reached(6)
    #expect(received.all == ["7", "end", "failed no", "end", "7", "end"])
    #expect(runs.count == 2)
    withExtendedLifetime((first, second, third)) {}
  }

  @Test func `it is canceled when the subscription ends, and nothing of it is delivered`() async {
    let began = Recorder<Int>(), canceled = Recorder<Int>(), clock = ManualClock()
    var token: SubscriptionToken? = received.events(
      of: Signal<Int> {
        began.record(1)
        do { try await clock.sleep(for: .seconds(1)) } catch { canceled.record(1) }
        return 1
      })
    await clock.slept.reached(1)
    token = nil
    await canceled.reached(1)
    #expect(received.all.isEmpty && began.count == 1 && token == nil)
  }

  @Test func `C6, requests can be chained, such as one for the users and one for the detail of the first`() async {
    @Sendable func users() async throws -> [Int] { [3, 4] }
    @Sendable func detail(_ id: Int) async throws -> String { "detail of \(id)" }
    let chain = Signal { try await users() }
      .compactMap(\.first)
      .flatMapLatest { id in try await detail(id) }
    let token = received.events(of: chain)
    await received.reached(2)
    #expect(received.all == ["detail of 3", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `C6, a request that fails is a failure, and the next one is still sent`() async {
    let (source, ids) = Signal<Int>.make()
    let token = received.events(
      of: ids.flatMapLatest { id async throws -> String in
        if id == 1 { throw Refusal(reason: "not found") }
        return "detail of \(id)"
      })
    source.send(1)
    await received.reached(1)
    source.send(2)
    await received.reached(2)
    source.end()
    // The last request ends after its answer, and the signal with it.
    await received.reached(3)
    #expect(received.all == ["failed not found", "detail of 2", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `C6, a later value cancels the earlier request, whose answer is not delivered`() async {
    let clock = ManualClock()
    let (source, ids) = Signal<Int>.make()
    let token = received.events(
      of: ids.flatMapLatest { id async throws -> String in
        // Returns an answer even if it is canceled, as many requests do.
        try? await clock.sleep(for: .seconds(id))
        return "detail of \(id)"
      })
    source.send(1)
    await clock.slept.reached(1)
    source.send(2)
    await clock.slept.reached(2)
    #expect(clock.woken.all == [.seconds(1)])
    clock.advance(by: .seconds(2))
    await received.reached(1)
    #expect(received.all == ["detail of 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `flatMap sends all requests, and emits each answer as it arrives`() async {
    let clock = ManualClock()
    let token = received.events(
      of: Signal(of: [3, 1, 2]).flatMap { (id: Int) async throws -> Int in
        try await clock.sleep(for: .seconds(id))
        return id
      })
    await clock.slept.reached(3)
    for count in 1...3 {
      clock.advance(by: .seconds(1))
      await received.reached(count)
    }
    await received.reached(4)
    #expect(received.all == ["1", "2", "3", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `the answer reaches a subscriber on its actor`() async {
    let place = Place()
    let token = Signal { 1 }.subscribe(on: .actor(place)) { value in
      place.assumeIsolated { _ in received.record("\(value)") }
    }
    await received.reached(1)
    withExtendedLifetime(token) {}
  }

  @Test func `C7, objects that a canceled request held are released when it returns`() async {
    let clock = ManualClock(), gone = Recorder<String>()
    let (source, ids) = Signal<Int>.make()
    var token: SubscriptionToken?
    do {
      let recorder = ReleaseRecorder(gone)
      token = received.events(
        of: ids.flatMapLatest { [recorder] id async throws -> Int in
          try await clock.sleep(for: .seconds(1))
          return withExtendedLifetime(recorder) { id }
        })
    }
    source.send(1)
    await clock.slept.reached(1)
    #expect(gone.all.isEmpty)
    token = nil
    await gone.reached(1)
    #expect(received.all.isEmpty && token == nil && source.hub.count == 0)
  }
}

import Testing

@testable import UserStore

/// The operators that handle one value at a time.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct MapTests {
  private let received = Recorder<String>()

  @Test func `C5, map, filter and compactMap keep the order, and their errors are failures in place of the value`() {
    let (source, signal) = Signal<Int>.make()
    let tokens = [
      received.events(
        of: signal.map {
          if $0 == 2 { throw Refusal(reason: "two") }
          return "m\($0)"
        }),
      received.events(
        of: signal.filter {
          if $0 == 2 { throw Refusal(reason: "two") }
          return $0 != 3
        }),
      received.events(of: signal.compactMap { $0 == 1 ? nil : "c\($0)" }),
    ]
    for value in 1...3 { source.send(value) }
    source.fail(Refusal(reason: "no"))
    source.end()
    #expect(
      received.all == [
        "m1", "1", "failed two", "failed two", "c2", "m3", "c3", "failed no", "failed no", "failed no", "end", "end",
        "end",
      ])
    withExtendedLifetime(tokens) {}
  }

  @Test func `filter and map let optional values through that are nil, compactMap does not`() {
    let (source, signal) = Signal<Int?>.make()
    let tokens = [
      received.events(of: signal.filter { $0 != 1 }.map { $0 }.map { $0.map { "f\($0)" } ?? "nil" }),
      received.events(of: signal.compactMap { $0 }.map { "c\($0)" }),
    ]
    for value in [1, nil, 2] { source.send(value) }
    #expect(received.all == ["c1", "nil", "f2", "c2"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `an error of a subscriber is reported to the source's error handler, past any operator`() {
    let errors = Recorder<String>()
    let (source, signal) = Signal<Int>.make { errors.record("\(($1 as? Refusal)?.reason ?? "\($1)")") }
    let made: [Signal<Int>] = [
      signal.map { $0 }, signal.scan(0) { $1 }, signal.combineLatest(signal) { $0 + $1 }, signal.share(),
      signal.flatMapLatest { Signal(of: [$0]) }, signal.merge(signal), signal.share(replayingLatest: true),
      signal.reduce(0) { $1 },
      signal.take(until: Signal<Int>.make().signal), signal.throttle(for: .zero, clock: ManualClock()),
    ]
    for signal in made {
      let token = signal.subscribeToEvents { event in
        received.events(event)
        if case .value = event { throw Refusal(reason: "thrown") }
      }
      source.send(1)
      token.dispose()
    }
    // Each operator emits 1, except: the pair of the signal with itself emits 2, merge emits 1 twice, reduce emits nothing.
    #expect(errors.all == Array(repeating: "thrown", count: 10))
    #expect(received.all == ["1", "1", "2"] + Array(repeating: "1", count: 7))
  }

  @Test func `scan emits the results so far, each subscription from the beginning`() {
    let (source, signal) = Signal<String>.make()
    let lengths = signal.scan(0) { sum, word in
      if word.isEmpty { throw Refusal(reason: "empty") }
      return sum + word.count
    }
    let first = received.events(of: lengths)
    source.send("a")
    source.send("")
    let second = received.events(of: lengths.map { "second \($0)" })
    source.send("bc")
    source.end()
    #expect(received.all == ["1", "failed empty", "3", "second 2", "end", "end"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `C5, reduce emits one value, at the end`() {
    let (source, signal) = Signal<Int>.make()
    let token = received.events(of: signal.reduce(10) { $0 + $1 })
    source.send(1)
    source.fail(Refusal(reason: "no"))
    source.send(2)
    #expect(received.all == ["failed no"])
    source.end()
    #expect(received.all == ["failed no", "13", "end"])
    let late = received.events(of: signal.reduce(7) { $0 + $1 })
    #expect(received.all.suffix(2) == ["7", "end"])
    withExtendedLifetime((token, late)) {}
  }

  @Test func `a subscriber that disposes its token at the result of reduce receives no end`() {
    let (source, signal) = Signal<Int>.make()
    let bag = TokenBag()
    signal.reduce(0) { $0 + $1 }.subscribeToEvents { event in
      received.events(event)
      bag.disposeAll()
    }.disposed(by: bag)
    source.send(1)
    source.end()
    #expect(received.all == ["1"])
  }

  @Test func `withPrevious gives the old value with the new one, none for the first`() {
    let (source, signal) = Signal<Int>.make()
    let token = signal.withPrevious().subscribe { received.record("\($0.old.map { "\($0)" } ?? "-") → \($0.new)") }
    for value in 1...3 { source.send(value) }
    #expect(received.all == ["- → 1", "1 → 2", "2 → 3"])
    withExtendedLifetime(token) {}
  }

  @Test func `removeDuplicates leaves out values that equal the one before, also across a failure`() {
    let (source, signal) = Signal<Int?>.make()
    let token = received.events(of: signal.removeDuplicates().map { $0.map { "\($0)" } ?? "nil" })
    for value in [1, 1, nil, nil, 2] { source.send(value) }
    source.fail(Refusal(reason: "no"))
    for value in [2, 1] { source.send(value) }
    #expect(received.all == ["1", "nil", "2", "failed no", "1"])
    withExtendedLifetime(token) {}
  }

  @Test func `text is compared by its bytes, so that composed and decomposed text differ, optional text too`() {
    let composed = "\u{E9}", decomposed = "e\u{301}"
    #expect(composed == decomposed)
    let (source, signal) = Signal<String>.make()
    let tokens = [
      signal.removeDuplicates().subscribe { received.record("text \($0.utf8.count)") },
      signal.map { .some($0) }.removeDuplicates().subscribe { (text: String?) in
        received.record("optional \(text!.utf8.count)")
      },
      signal.removeDuplicates(by: \.self).subscribe { received.record("key \($0.utf8.count)") },
    ]
    for text in [composed, composed, decomposed, decomposed] { source.send(text) }
    #expect(received.all == ["text 2", "optional 2", "key 2", "text 3", "optional 3", "key 3"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `removeDuplicates by a key compares only the keys, and an error for a key is a failure`() {
    let (source, signal) = Signal<(id: Int, name: String)>.make()
    let tokens = [
      signal.removeDuplicates(by: \.id).subscribe { received.record($0.name) },
      signal.removeDuplicates(by: { value -> Int in
        if value.id == 2 { throw Refusal(reason: "two") }
        return value.id
      }).subscribeToEvents { event in
        if case .failure = event {
          received.record("failed")
        } else if case .value(let value) = event {
          received.record("\(value.id)")
        }
      },
    ]
    for value in [(1, "a"), (1, "b"), (2, "c"), (1, "d")] { source.send((id: value.0, name: value.1)) }
    #expect(received.all == ["a", "1", "c", "failed", "d"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `mapFailure changes only failures, catch replaces them with values or with other failures`() {
    let (source, signal) = Signal<Int>.make()
    let described = signal.mapFailure { Refusal(reason: "while fetching: \(($0 as? Refusal)?.reason ?? "")") }
    let value = signal.catch { error -> Int in
      if (error as? Refusal)?.reason == "no" { return 0 }
      throw error
    }
    let tokens = [received.events(of: described), received.events(of: value)]
    source.send(1)
    source.fail(Refusal(reason: "no"))
    source.fail(Refusal(reason: "other"))
    source.end()
    #expect(
      received.all == [
        "1", "1", "failed while fetching: no", "0", "failed while fetching: other", "failed other", "end", "end",
      ])
    withExtendedLifetime(tokens) {}
  }
}

import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FlatMapTests {
  private let received = Recorder<String>()

  @Test func `C5, a later outer value replaces the inner signal, which emits nothing more`() {
    let (outer, numbers) = Signal<Int>.make()
    let inner = [Signal<String>.make(), Signal<String>.make()]
    let token = received.events(of: numbers.flatMapLatest { number in inner[number].signal })
    inner[0].source.send("too early")
    outer.send(0)
    inner[0].source.send("a")
    outer.send(1)
    #expect(inner[0].source.hub.count == 0)
    inner[0].source.send("replaced")
    inner[0].source.fail(Refusal(reason: "replaced"))
    inner[1].source.send("b")
    inner[1].source.fail(Refusal(reason: "inner"))
    outer.fail(Refusal(reason: "outer"))
    inner[1].source.send("c")
    #expect(received.all == ["a", "b", "failed inner", "failed outer", "c"])
    withExtendedLifetime(token) {}
  }

  @Test func `it ends when the outer signal and the latest inner signal have ended, in any order`() {
    for outerFirst in [true, false] {
      let received = Recorder<String>()
      let (outer, numbers) = Signal<Int>.make()
      let (replaced, first) = Signal<Int>.make()
      let (present, second) = Signal<Int>.make()
      let token = received.events(of: numbers.flatMapLatest { number in number == 1 ? first : second })
      outer.send(1)
      outer.send(2)
      if outerFirst { outer.end() } else { present.end() }
      replaced.end()
      #expect(received.all.isEmpty)
      if outerFirst { present.end() } else { outer.end() }
      #expect(received.all == ["end"])
      withExtendedLifetime((token, replaced)) {}
    }
  }

  @Test func `an error of the closure is a failure, and replaces the inner signal too`() {
    let (outer, numbers) = Signal<Int>.make()
    let (inner, signal) = Signal<Int>.make()
    let token = received.events(
      of: numbers.flatMapLatest { number -> Signal<Int> in
        if number == 2 { throw Refusal(reason: "two") }
        return signal
      })
    outer.send(1)
    inner.send(10)
    outer.send(2)
    inner.send(11)
    outer.send(3)
    inner.send(12)
    #expect(received.all == ["10", "failed two", "12"])
    withExtendedLifetime(token) {}
  }

  @Test func `an attribute that leads to another of the same record gives one consistent value for each write`() throws
  {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "a", hairColor: Color("black")) }
    let color = try store.listenable(.hairColor, of: id)
    let names = try store.listenable(.name, of: id).signal
    let token = names.flatMapLatest { name in
      color.signal.map { "\(name ?? "-") \($0.map { "\($0)" } ?? "-")" }
    }.subscribe { received.record($0) }
    try store.write {
      try $0.rename(id, to: "b")
      try $0.set(.hairColor, of: id, to: Color("white"))
    }
    try store.write { try $0.set(.hairColor, of: id, to: nil) }
    try store.write { try $0.rename(id, to: "c") }
    #expect(received.all == ["a #000000", "b #ffffff", "b -", "c -"])
    withExtendedLifetime(token) {}
  }

  @Test func `a value from the replaced signal earlier in the same round is not delivered`() {
    let (source, signal) = Signal<Int>.make()
    // The combined outer signal waits for the end of the round, so that the inner one emits before it is replaced.
    let outer = signal.combineLatest(signal) { a, _ in a }
    let token = outer.flatMapLatest { outer in signal.map { "\(outer) \($0)" }.merge(Signal(of: ["new \(outer)"])) }
      .subscribe { received.record($0) }
    source.send(1)
    source.send(2)
    #expect(received.all == ["new 1", "new 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `a value that waits for the subscriber's actor is dropped when its signal is replaced`() async {
    let place = Place()
    let (outer, numbers) = Signal<Int>.make()
    let inner = [Signal<String>.make(), Signal<String>.make()]
    let gate = Gate()
    let token = numbers.flatMapLatest { inner[$0].signal }.subscribe(on: .actor(place)) { value in
      received.record(value)
      if value == "a" { gate.wait() }
    }
    outer.send(0)
    inner[0].source.send("a")
    await received.reached(1)
    inner[0].source.send("waits for the actor")
    outer.send(1)
    inner[1].source.send("b")
    gate.open()
    await received.reached(2)
    #expect(received.all == ["a", "b"])
    withExtendedLifetime(token) {}
  }

  @Test func `flatMap keeps all inner signals, the order of each, and ends after the last`() {
    let (outer, numbers) = Signal<Int>.make()
    let inner = (0..<3).map { _ in Signal<Int>.make() }
    let token = received.events(of: numbers.flatMap { number in inner[number].signal.map { "\(number):\($0)" } })
    for number in 0..<3 { outer.send(number) }
    for value in 1...2 { for number in [2, 0, 1] { inner[number].source.send(value) } }
    outer.end()
    for number in 0..<3 { inner[number].source.end() }
    #expect(received.all == ["2:1", "0:1", "1:1", "2:2", "0:2", "1:2", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `merge emits the values of all signals as they arrive, and ends with the last signal`() {
    let (a, first) = Signal<Int>.make()
    let (b, second) = Signal<Int>.make()
    let token = received.events(of: first.merge(second, Signal(of: [0])))
    a.send(1)
    b.send(2)
    b.fail(Refusal(reason: "no"))
    b.end()
    a.send(3)
    a.end()
    #expect(received.all == ["0", "1", "2", "failed no", "3", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `a merged signal that is combined again emits one value per round`() {
    let (source, signal) = Signal<Int>.make()
    let pair = signal.combineLatest(signal) { $0 + $1 }
    let merged = pair.merge(Signal(of: [0])).combineLatest(signal) { "\($0) \($1)" }
    let token = merged.subscribe { received.record($0) }
    source.send(1)
    source.send(2)
    #expect(received.all == ["2 1", "4 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `catch with a signal emits its values in place of the failure, and the source's later values`() {
    let (source, signal) = Signal<Int>.make()
    let (other, replacement) = Signal<Int>.make()
    let recovered = signal.catch { error -> Signal<Int> in
      if (error as? Refusal)?.reason == "fatal" { throw error }
      return replacement
    }
    let token = received.events(of: recovered)
    source.send(1)
    source.fail(Refusal(reason: "no"))
    other.send(10)
    source.send(2)
    source.fail(Refusal(reason: "fatal"))
    source.end()
    other.send(11)
    other.end()
    #expect(received.all == ["1", "10", "2", "failed fatal", "11", "end"])
    withExtendedLifetime(token) {}
  }

  @Test func `a subscriber that sends to the outer signal replaces the inner one after the round`() {
    let (outer, numbers) = Signal<Int>.make()
    let values = numbers.flatMapLatest { Signal(of: [$0 * 10, $0 * 10 + 1]) }
    let first = values.subscribe { value in
      received.record("first \(value)")
      if value == 10 { outer.send(2) }
    }
    let second = values.subscribe { received.record("second \($0)") }
    outer.send(1)
    #expect(received.all.filter { $0.hasPrefix("first") }.last == "first 21")
    #expect(received.all.filter { $0.hasPrefix("second") } == ["second 10", "second 11", "second 20", "second 21"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `the stack does not grow with five thousand inner signals one after another`() throws {
    let count = Lock((values: 0, ends: 0))
    try Threads.start {
      let all = Signal(of: Array(0..<5_000))
      let token = all.flatMapLatest { Signal(of: [$0]) }.flatMap { Signal(of: [$0]) }.subscribeToEvents { event in
        count.withLock { if case .end = event { $0.ends += 1 } else { $0.values += 1 } }
      }
      withExtendedLifetime(token) {}
    }.join()
    #expect(count.withLock { $0 } == (5_000, 1))
  }

  @Test func `thousands of inner signals that emit in one round emit in order`() {
    let board = Board()
    let topics = (0..<3_000).map { "topic \($0)" }
    let signals = topics.map { board.listenable($0).signal }
    let values = Recorder<Int>()
    let token = Signal(of: signals).flatMap { $0 }.subscribe { values.record($0) }
    board.post(Dictionary(uniqueKeysWithValues: topics.enumerated().map { ($1, $0 + 1) }))
    #expect(values.all == Array(repeating: 0, count: 3_000) + Array(1...3_000))
    withExtendedLifetime(token) {}
  }

  @Test func `with two threads that send, the last value is from the last inner signal`() throws {
    for _ in 0..<30 {
      let (outer, numbers) = Signal<Int>.make()
      let (inner, values) = Signal<Int>.make()
      let seen = Recorder<Int>()
      let token = numbers.flatMapLatest { number in values.map { _ in number } }.subscribe { seen.record($0) }
      try Threads.run(2) { thread in
        for value in 0..<200 { (thread == 0 ? outer : inner).send(value) }
      }
      inner.send(0)
      #expect(seen.all == seen.all.sorted())
      #expect(seen.all.last == 199)
      withExtendedLifetime(token) {}
    }
  }
}

import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LatestValuesTests {
  @Test func `an iteration delivers the present value, then the latest, then the end`() async {
    let (source, value) = Listenable.make(1)
    var iterator = value.values.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    source.send(2)
    #expect(await iterator.next() == 2)
    for number in 3...1_000 { source.send(number) }
    #expect(await iterator.next() == 1_000)
    source.send(1_001)
    source.end()
    #expect(await iterator.next() == 1_001)
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
  }

  @Test func `a value resumes a consumer that waits, and so does the end`() async {
    let (source, signal) = Signal<Int>.make()
    let received = Recorder<Int>()
    let values = signal.values
    let task = Task {
      var iterator = values.makeAsyncIterator()
      received.record(0)
      while let value = await iterator.next() { received.record(value) }
      received.record(-1)
    }
    for count in 1...100 {
      await received.reached(count)
      source.send(count)
    }
    await received.reached(101)
    source.end()
    await task.value
    #expect(received.all == Array(0...100) + [-1])
  }

  @Test func `nil as a value is not the end`() async {
    let (source, value) = Listenable<Int?>.make(nil)
    var iterator = value.values.makeAsyncIterator()
    #expect(await iterator.next() == .some(nil))
    source.send(1)
    #expect(await iterator.next() == .some(1))
    source.send(nil)
    #expect(await iterator.next() == .some(nil))
    source.end()
    #expect(await iterator.next() == .none)
  }

  @Test func `values leave out failures, results include them`() async throws {
    let (source, signal) = Signal<Int>.make()
    var values = signal.values.makeAsyncIterator()
    var results = signal.results.makeAsyncIterator()
    source.send(1)
    source.fail(Refusal(reason: "no"))
    #expect(await values.next() == 1)
    let failure = await results.next()
    #expect(throws: Refusal(reason: "no")) { try failure?.get() }
    source.send(2)
    #expect(await values.next() == 2)
    #expect(try await results.next()?.get() == 2)
    source.end()
    #expect(await values.next() == nil)
    #expect(await results.next() == nil)
  }

  @Test func `two iterations are independent, and each has a subscription while it lasts`() async {
    let (source, value) = Listenable.make(1)
    let values = value.values
    #expect(source.hub.count == 0)
    var first: LatestValues<Int>.Iterator? = values.makeAsyncIterator()
    var second = values.makeAsyncIterator()
    #expect(source.hub.count == 2)
    source.send(2)
    #expect(await first?.next() == 2)
    source.send(3)
    first = nil
    #expect(source.hub.count == 1)
    #expect(await second.next() == 3)
    source.send(4)
    #expect(await second.next() == 4)
  }

  @Test func `leaving a loop in the middle ends its subscription`() async {
    let (source, value) = Listenable.make(1)
    for await present in value.values {
      #expect(present == 1)
      #expect(source.hub.count == 1)
      break
    }
    #expect(source.hub.count == 0)
  }

  @Test func `C4, the values of an attribute are a sequence until the store is closed`() async throws {
    let store = try UserStore.forTests()
    let id = try await store.write { try $0.add(name: "NIX") }
    var iterator = try await store.listenable(.name, of: id).values.makeAsyncIterator()
    #expect(await iterator.next() == "NIX")
    try await store.write { try $0.rename(id, to: "Zoë") }
    #expect(await iterator.next() == "Zoë")
    try await store.write { _ = try $0.remove(id) }
    #expect(await iterator.next() == .some(nil))
    await store.close()
    #expect(await iterator.next() == .none)
  }

  @Test func `an iteration does not hold the store, and ends with it`() async throws {
    var store: UserStore? = try UserStore.forTests()
    weak let kept = store
    let id = try await store?.write { try $0.add(name: "NIX") } ?? User.ID(0)
    var iterator = try await store?.listenable(.name, of: id).values.makeAsyncIterator()
    #expect(await iterator?.next() == "NIX")
    store = nil
    #expect(kept == nil)
    #expect(await iterator?.next() == .none)
  }

  @Test func `the main actor iterates on the main actor`() async {
    let (source, value) = Listenable.make(1)
    let received = Recorder<Int>()
    let task = Task { @MainActor in
      for await value in value.values {
        MainActor.assertIsolated()
        received.record(value)
      }
    }
    await received.reached(1)
    source.send(2)
    await received.reached(2)
    source.end()
    await task.value
    #expect(received.all == [1, 2])
  }

  @Test func `missed values, the source and everything that operators hold are released`() async {
    var (source, signal): (SignalSource<Token>?, Signal<Token>?) = Signal<Token>.make()
    weak let hub = source?.hub
    var held: Token? = Token()
    weak let weakHeld = held
    weak var missed: Token?, last: Token?
    do {
      var iterator = signal?.map { [held] value in withExtendedLifetime(held) { value } }.values.makeAsyncIterator()
      let tokens = (Token(), Token())
      (missed, last) = tokens
      source?.send(tokens.0)
      source?.send(tokens.1)
      #expect(await iterator?.next() === tokens.1)
      #expect(weakHeld != nil || held == nil)
    }
    (source, signal, held) = (nil, nil, nil)
    #expect(missed == nil && last == nil && weakHeld == nil && hub == nil)
  }

  @Test func `with several senders a consumer receives an ascending part of the values, and the last one`() async throws
  {
    for _ in 0..<20 {
      let (source, value) = Listenable.make(0)
      let values = value.values
      let consumer = Task {
        var received: [Int] = []
        for await value in values { received.append(value) }
        return received
      }
      let next = Lock(0)
      let senders = try (0..<2).map { _ in
        try Threads.start {
          for _ in 0..<500 {
            let number = next.withLock { next in
              next += 1
              return next
            }
            source.send(number)
          }
        }
      }
      for sender in senders { try await sender.joined() }
      source.send(10_000)
      source.end()
      let received = await consumer.value
      #expect(received.last == 10_000 || received.isEmpty)
      #expect(Set(received).count == received.count)
    }
  }
}

import Testing

@testable import UserStore

/// Guarantee 7 of the article “Listening”: errors of listeners.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ListenerErrorTests {
  @Test func `when a listener throws, the others are called, and its error goes to the handler with its name`() {
    let board = Board()
    let received = Recorder<Int>()
    board.hub.bind("bad", to: "x") { _ in throw Refusal(reason: "no") }
    board.hub.bind("good", to: "x") { received.record($0.values["x"]!) }
    let nameless = board.hub.bind(to: "x") { _ in throw Refusal(reason: "nameless") }
    board.post("x", 1)
    board.post("x", 2)
    #expect(received.all == [1, 2])
    #expect(board.errors.all.map(\.listener) == ["bad", nil, "bad", nil])
    #expect(board.errors.all.compactMap { $0.error as? Refusal }.map(\.reason) == ["no", "nameless", "no", "nameless"])
    withExtendedLifetime(nameless) {}
  }

  @Test func `an error at the first value goes to the handler, and the listener stays`() {
    let board = Board()
    let received = Recorder<Int>()
    board.listenable("x").bindAndFire("a") { value in
      received.record(value)
      if value == 0 { throw Refusal() }
    }
    board.post("x", 1)
    #expect(received.all == [0, 1])
    #expect(board.errors.all.map(\.listener) == ["a"])
  }

  @Test func `the error of a listener that unbinds itself has its name, although another listener has its slot`() {
    let board = Board()
    board.hub.bind("gone", to: "x") { _ in
      board.hub.unbind("gone", from: "x")
      board.hub.bind("next", to: "x") { _ in }
      throw Refusal()
    }
    board.post("x", 1)
    #expect(board.errors.all.map(\.listener) == ["gone"])
  }

  @Test func `a value that cannot be decoded is reported once per round, and listeners receive the fallback`() {
    let received = Recorder<Int>()
    let errors = Recorder<String?>()
    let hub = ListenerHub<Note> { listener, _ in errors.record(listener) }
    let listenable = Listenable<Int>(
      HubValue(
        hub: hub, topic: "x", fallback: ValueBox(-1),
        decode: { note, _ in
          guard let value = note.values["x"], value < 10 else { throw Refusal() }
          return .init(value: ValueBox(value), through: note.position)
        }, read: { .init(value: ValueBox(0), through: 0) }
      ).backing)
    for name in ["a", "b"] { listenable.bind(name) { received.record($0) } }
    for (position, value) in [(1, 5), (2, 50), (3, 6)] as [(Int128, Int)] {
      hub.deliver(through: hub.append(Note(position: position, values: ["x": value]), cascade: nil))
    }
    #expect(received.all == [5, 5, -1, -1, 6, 6])
    #expect(errors.count == 1)
  }

  @Test func `a value that cannot be decoded is reported once per round after its listenable is released too`() {
    let received = Recorder<Int>()
    let errors = Recorder<String?>()
    let hub = ListenerHub<Note> { listener, _ in errors.record(listener) }
    var listenable: Listenable<Int>? = Listenable<Int>(
      HubValue(
        hub: hub, topic: "x", fallback: ValueBox(-1),
        decode: { note, _ in
          guard let value = note.values["x"], value < 10 else { throw Refusal() }
          return .init(value: ValueBox(value), through: note.position)
        }, read: { .init(value: ValueBox(0), through: 0) }
      ).backing)
    for name in ["a", "b"] { listenable?.bind(name) { received.record($0) } }
    listenable = nil
    for (position, value) in [(1, 5), (2, 50), (3, 51), (4, 6)] as [(Int128, Int)] {
      hub.deliver(through: hub.append(Note(position: position, values: ["x": value]), cascade: nil))
    }
    #expect(received.all == [5, 5, -1, -1, -1, -1, 6, 6])
    #expect(errors.all == [nil, nil])
  }

  @Test func `the handler may bind and post`() {
    let received = Recorder<Int>()
    let bound = Recorder<Void>()
    let hub = Lock<ListenerHub<Note>?>(nil)
    let own = ListenerHub<Note> { _, _ in
      guard received.count == 0 else { return }
      hub.withLock { $0 }?.bind("late \(bound.count)", to: "x") { received.record(Int($0.position)) }
      bound.record(())
    }
    hub.withLock { $0 = own }
    own.bind("bad", to: "x") { _ in throw Refusal() }
    for position in 1...2 as ClosedRange<Int128> {
      own.deliver(through: own.append(Note(position: position, values: ["x": 0]), cascade: nil))
    }
    hub.withLock { $0 = nil }
    #expect(received.all == [2])
    #expect(bound.count == 2)
  }
}

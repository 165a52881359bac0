import Testing

@testable import UserStore

/// Guarantees 1 and 2 of the article “Listening”: rounds and their order.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct OrderTests {
  let board = Board()
  let received = Recorder<String>()

  private func bind(_ name: String, to topic: String) {
    board.hub.bind(name, to: topic) { [received] note in received.record("\(name):\(note.values[topic] ?? -1)") }
  }

  @Test func `listeners are called in the order of their first registration, across topics`() {
    for (name, topic) in [("a", "x"), ("b", "y"), ("c", "z"), ("d", "y"), ("e", "x"), ("f", "z")] {
      bind(name, to: topic)
    }
    board.post(["x": 1, "y": 2, "z": 3])
    #expect(received.all == ["a:1", "b:2", "c:3", "d:2", "e:1", "f:3"])
  }

  @Test func `binding a name again keeps its place`() {
    for name in ["a", "b", "c"] { bind(name, to: "x") }
    bind("a", to: "x")
    board.post("x", 1)
    #expect(received.all == ["a:1", "b:1", "c:1"])
    #expect(board.hub.names == ["a", "b", "c"])
  }

  @Test func `a listener that is unbound and bound again is called last, also in a slot that was used before`() {
    for name in ["a", "b", "c"] { bind(name, to: "x") }
    board.hub.unbind("a", from: "x")
    bind("d", to: "x")
    bind("a", to: "x")
    board.post("x", 1)
    #expect(received.all == ["b:1", "c:1", "d:1", "a:1"])
  }

  @Test func `a round calls a listener once, with exactly the part of its topic`() {
    let parts = Recorder<[String: Int]>()
    board.hub.bind("a", to: "x") { parts.record($0.values) }
    board.post(["x": 1, "y": 2])
    board.post("y", 3)
    #expect(parts.all == [["x": 1]])
  }

  @Test func `a name belongs to its topic`() {
    bind("same", to: "x")
    bind("same", to: "y")
    board.post(["x": 1, "y": 2])
    #expect(received.all == ["same:1", "same:2"])
    board.hub.unbind("same", from: "x")
    #expect(board.hub.all.map(\.topic) == ["y"])
  }

  @Test func `a listener that is bound during a round is not called in it`() {
    let board = board
    let received = received
    board.hub.bind("a", to: "x") { note in
      if note.position == 1 { board.hub.bind("late", to: "x") { received.record("late:\($0.position)") } }
      received.record("a:\(note.position)")
    }
    board.post("x", 1)
    #expect(received.all == ["a:1"])
    board.post("x", 2)
    #expect(received.all == ["a:1", "a:2", "late:2"])
  }

  @Test func `rounds of several writers are delivered one after another in the order of their positions`() throws {
    let board = board
    let positions = Recorder<Int128>()
    board.hub.bind("a", to: "x") { positions.record($0.position) }
    try Threads.run(8) { thread in
      for step in 0..<200 { board.post("x", thread * 1_000 + step) }
    }
    #expect(positions.all == Array(1...1_600))
  }

  @Test func `when a write returns, its round has been delivered, whichever thread delivered it`() throws {
    let board = board
    let last = Lock([String: Int]())
    for thread in 0..<8 {
      board.hub.bind("l", to: "t\(thread)") { note in
        last.withLock { $0.merge(note.values) { $1 } }
      }
    }
    try Threads.run(8) { thread in
      for step in 0..<200 {
        board.post("t\(thread)", step)
        let seen = last.withLock { $0["t\(thread)"] }
        try #require(seen == step)
      }
    }
  }
}

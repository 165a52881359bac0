import Testing

@testable import UserStore

/// Stress tests of the registry: many names, frequent changes, and several threads.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ManyListenersTests {
  @Test func `threads that bind one name while others write leave one listener, and rounds in order`() throws {
    let board = Board()
    let received = Recorder<Int128>()
    try Threads.run(34) { thread in
      for step in 0..<200 {
        if thread < 32 {
          board.hub.bind("screen", to: "x") { received.record($0.position) }
        } else {
          board.post("x", step)
        }
      }
    }
    #expect(board.hub.count == 1)
    #expect(zip(received.all, received.all.dropFirst()).allSatisfy { $0 < $1 })
    let before = received.count
    board.post("x", 0)
    #expect(received.count == before + 1)
  }

  @Test func `threads that bind, unbind and dispose names of their own do not disturb each other`() throws {
    let board = Board()
    let received = Lock([String: Int]())
    board.hub.bind("first", to: "x") { _ in }
    let writer = try Threads.start { for value in 1...1_000 { board.post("x", value) } }
    try Threads.run(8) { thread in
      for step in 0..<200 {
        let token = board.hub.bind("\(thread)", to: "x") { _ in received.withLock { $0["\(thread)", default: 0] += 1 } }
        if step % 3 == 0 { board.hub.unbind("\(thread)", from: "x") } else if step % 3 == 1 { token.dispose() }
      }
    }
    try writer.join()
    #expect(board.hub.names.sorted() == ["first"])
  }

  @Test func `a hundred thousand listeners on one topic are called in order, and can be removed`() {
    let board = Board()
    let last = Lock((count: 0, isOrdered: true, number: -1))
    for number in 0..<100_000 {
      board.hub.bind("\(number)", to: "x") { _ in
        last.withLock { $0 = ($0.count + 1, $0.isOrdered && number > $0.number, number) }
      }
    }
    board.post("x", 1)
    #expect(last.withLock { $0.count } == 100_000)
    #expect(last.withLock { $0.isOrdered })
    for number in 0..<100_000 where number % 2 == 0 { board.hub.unbind("\(number)", from: "x") }
    last.withLock { $0 = (0, true, -1) }
    board.post("x", 2)
    #expect(last.withLock { $0.count } == 50_000)
    #expect(last.withLock { $0.isOrdered })
    board.hub.removeAll()
    #expect(board.hub.count == 0 && !board.hub.hasListeners)
  }

  @Test func `binding and unbinding at random neither loses nor duplicates a listener`() {
    let board = Board()
    let received = Lock(Set<Int>())
    var bound: Set<Int> = []
    var random = SystemRandomNumberGenerator()
    for step in 0..<20_000 {
      let number = Int.random(in: 0..<500, using: &random)
      if bound.contains(number) {
        board.hub.unbind("\(number)", from: "t\(number % 3)")
        bound.remove(number)
      } else {
        board.hub.bind("\(number)", to: "t\(number % 3)") { _ in _ = received.withLock { $0.insert(number) } }
        bound.insert(number)
      }
      guard step % 1_000 == 0 else { continue }
      received.withLock { $0 = [] }
      board.post(["t0": step, "t1": step, "t2": step])
      #expect(received.withLock { $0 } == bound, "step \(step)")
    }
    #expect(board.hub.count == bound.count)
  }

  @Test func `a dump has names, topics, calls and rounds in the order of calls`() {
    let board = Board()
    board.hub.bind("a", to: "x") { _ in }
    let token = board.hub.bind(to: "y") { _ in }
    board.hub.bind("b", to: "y") { _ in }
    let value = board.listenable("x")
    board.post("y", 1)
    board.post(["x": 2, "y": 2])
    board.hub.bind("a", to: "x") { _ in }
    let all = board.hub.all
    #expect(all.map(\.name) == ["a", nil, "b"])
    #expect(all.map(\.topic) == ["x", "y", "y"])
    #expect(all.map(\.calls) == [1, 2, 2])
    #expect(board.hub.count == 3 && board.hub.names == ["a", "b"])
    #expect(board.hub.names(of: "y") == ["b"] && value.names == ["a"])
    withExtendedLifetime(token) {}
  }
}

import TestSupport
import Testing

@testable import UserStore

/// The article “Listening”: the present value, then each new value, without gap or duplicate.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct BindAndFireTests {
  let board = Board()
  let received = Recorder<Int>()

  @Test func `bindAndFire calls once with the present value before it returns, then with each change`() {
    let received = received
    board.post("x", 1)
    board.listenable("x").bindAndFire("a") { received.record($0) }
    #expect(received.all == [1])
    board.post("x", 2)
    board.post("y", 9)
    #expect(received.all == [1, 2])
  }

  @Test func `bind is called from the next change on`() {
    let received = received
    board.post("x", 1)
    board.listenable("x").bind("a") { received.record($0) }
    #expect(received.all == [])
    board.post("x", 2)
    #expect(received.all == [2])
  }

  @Test func `inside a listener, bindAndFire delivers the value of the present round, which skips the new listener`() {
    let (board, received) = (board, received)
    let listenable = board.listenable("x")
    board.hub.bind("first", to: "x") { note in
      guard note.position == 1 else { return }
      board.post("x", 2)
      listenable.bindAndFire("late") { received.record($0) }
      #expect(received.all == [1])
    }
    board.post("x", 1)
    #expect(received.all == [1, 2])
  }

  @Test func `a value that is read before its round is delivered once, because the round skips it`() {
    let (board, received) = (board, received)
    board.hub.bind("first", to: "x") { note in
      guard note.position == 1 else { return }
      board.post("x", 2)
      board.listenable("x").bindAndFire("late") { received.record($0) }
      #expect(received.all == [2])
    }
    board.post("x", 1)
    #expect(received.all == [2])
    board.post("x", 3)
    #expect(received.all == [2, 3])
  }

  @Test func `inside a listener, a value is that of the round being delivered, although later ones are committed`() {
    let (board, received) = (board, received)
    let listenable = board.listenable("x")
    board.hub.bind("writes", to: "x") { note in
      if note.position == 1 { board.post("x", 2) }
      received.record(listenable.value)
    }
    board.post("x", 1)
    #expect(received.all == [1, 2])
    #expect(listenable.value == 2)
  }

  @Test func `a listener finds the new value stored, although it was bound before the value was first read`() {
    let (board, received) = (board, received)
    let later = Lock<Listenable<Int>?>(nil)
    board.hub.bind("early", to: "x") { _ in received.record(later.withLock { $0 }?.value ?? -1) }
    let listenable = board.listenable("x")
    later.withLock { $0 = listenable }
    board.post("x", 1)
    #expect(received.all == [1])
  }

  @Test func `when a listener runs, every value of its round is stored already`() {
    let received = received
    let (x, y) = (board.listenable("x"), board.listenable("y"))
    x.bind("both") { _ in received.record(x.value * 10 + y.value) }
    y.bind("both") { _ in received.record(x.value * 10 + y.value) }
    let late = board.listenable("x")
    x.bind("late") { _ in received.record(late.value) }
    board.post(["x": 1, "y": 2])
    #expect(received.all == [12, 12, 1])
  }

  @Test func `the first value is a round of its own, which waits for the present round`() throws {
    let (board, received) = (board, received)
    let listenable = board.listenable("x")
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { note in
      guard note.position == 1 else { return }
      inside.open()
      mayContinue.wait()
      received.record(-1)
    }
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    let binder = try Threads.start {
      listenable.bindAndFire("late") { received.record($0) }
      received.record(-2)
    }
    while listenable.names.isEmpty {}
    mayContinue.open()
    try writer.join()
    try binder.join()
    #expect(received.all == [-1, 1, -2])
  }

  @MainActor @Test func `on the main actor, bindAndFire delivers the first value before it returns`()
    async
  {
    let received = received
    board.post("x", 1)
    let listenable = board.listenable("x")
    listenable.bindAndFire("a", on: .main) { received.record($0) }
    #expect(received.all == [1])
    board.post("x", 2)
    await received.reached(2)
    #expect(received.all == [1, 2])
  }

  @MainActor @Test func `on the main actor, no value is duplicated or reversed while others write`() async throws {
    let (board, received) = (board, received)
    let listenable = board.listenable("x")
    let writer = try Threads.start { for value in 1...2_000 { board.post("x", value) } }
    for step in 0..<50 {
      let own = Recorder<Int>()
      listenable.bindAndFire("a", on: .main) { value in
        own.record(value)
        received.record(value)
      }
      #expect(own.count == 1, "step \(step)")
      await Task.yield()
    }
    try await writer.joined()
    await received.reached { $0.last == 2_000 }
    let rebound = received.all
    #expect(zip(rebound, rebound.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test(arguments: [1, 4])
  func `no gap, duplicate or reversal while threads write and bind`(_ writers: Int) throws {
    let board = board
    let listenable = board.listenable("x")
    let next = Lock(0)
    let writing = try (0..<writers).map { _ in
      try Threads.start {
        for _ in 0..<1_000 {
          // Posting under the lock would wait for a delivery while the lock is held, so the positions are compared instead.
          next.withLock { $0 += 1 }
          board.post("x", 0)
        }
      }
    }
    try Threads.run(4) { thread in
      for step in 0..<100 {
        let positions = Recorder<Int128>()
        let token = board.hub.bind("plain \(thread)", to: "x") { positions.record($0.position) }
        let first = Lock(Int128?.none)
        listenable.bindAndFire("fire \(thread)") { _ in
          first.withLock { if $0 == nil { $0 = positions.all.last ?? 0 } }
        }
        token.dispose()
        let all = positions.all
        try #require(all.isEmpty || all == Array(all[0]...all[all.count - 1]), "step \(step)")
      }
    }
    for writer in writing { try writer.join() }
    #expect(listenable.names.count == 4)
  }

  @Test func `the values that a new listener receives have no gap, duplicate or reversal`() throws {
    let board = board
    let listenable = board.listenable("x")
    let writer = try Threads.start { for value in 1...5_000 { board.post("x", value) } }
    try Threads.run(3) { thread in
      for step in 0..<300 {
        let received = Recorder<Int>()
        listenable.bindAndFire("l\(thread)") { received.record($0) }
        let after = received.all
        try #require(!after.isEmpty, "bindAndFire returns after the first call")
        if received.all.last! < 5_000, step % 3 == 0 { received.wait { $0.count >= 3 || $0.last == 5_000 } }
        let token = listenable.bind("l\(thread)") { _ in }
        let all = received.all
        try #require(all == Array(all[0]...all[all.count - 1]), "thread \(thread), step \(step)")
        token.dispose()
      }
    }
    try writer.join()
  }
}

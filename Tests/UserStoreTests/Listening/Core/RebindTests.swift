import Testing

@testable import UserStore

/// Guarantee 3 of the article “Listening”: binding a name again.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct RebindTests {
  let board = Board()
  let received = Recorder<String>()

  @Test func `the same name replaces a listener, whose token does not remove the new one`() {
    let received = received
    let old = board.hub.bind("a", to: "x") { _ in received.record("old") }
    let new = board.hub.bind("a", to: "x") { _ in received.record("new") }
    old.dispose()
    board.post("x", 1)
    #expect(received.all == ["new"])
    #expect(board.hub.count == 1)
    new.dispose()
    #expect(board.hub.count == 0)
  }

  @Test func `a token whose slot another listener has now has no effect`() {
    let received = received
    let old = board.hub.bind("a", to: "x") { _ in }
    board.hub.unbind("a", from: "x")
    board.hub.bind("b", to: "x") { _ in received.record("b") }
    old.dispose()
    board.post("x", 1)
    #expect(received.all == ["b"])
  }

  @Test func `the old closure is not called again, not even in the round that is being delivered`() {
    let (board, received) = (board, received)
    board.hub.bind("first", to: "x") { note in
      if note.position == 1 { board.hub.bind("second", to: "x") { received.record("new:\($0.position)") } }
    }
    board.hub.bind("second", to: "x") { received.record("old:\($0.position)") }
    board.post("x", 1)
    #expect(received.all == [])
    board.post("x", 2)
    #expect(received.all == ["new:2"])
  }

  @Test func `binding again while another thread delivers a round takes effect in that round`() throws {
    let (board, received) = (board, received)
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { _ in
      inside.open()
      mayContinue.wait()
    }
    board.hub.bind("second", to: "x") { _ in received.record("old") }
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    board.hub.bind("second", to: "x") { _ in received.record("new") }
    mayContinue.open()
    try writer.join()
    #expect(received.all == [])
  }

  @Test(arguments: ["bind", "bindAndFire", "unbind", "dispose"])
  func `the old closure is released before the call returns`(_ how: String) {
    let listenable = board.listenable("x")
    var token: Token? = Token()
    weak let weakToken = token
    let disposable = listenable.bind("a") { [token] _ in withExtendedLifetime(token) {} }
    token = nil
    #expect(weakToken != nil)
    switch how {
    case "bind": listenable.bind("a") { _ in }
    case "bindAndFire": listenable.bindAndFire("a") { _ in }
    case "unbind": listenable.unbind("a")
    default: disposable.dispose()
    }
    #expect(weakToken == nil)
  }

  @Test func `the old closure is released before bind returns, also while another thread delivers a round`()
    throws
  {
    let board = board
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { _ in
      inside.open()
      mayContinue.wait()
    }
    var token: Token? = Token()
    weak let weakToken = token
    board.hub.bind("second", to: "x") { [token] _ in withExtendedLifetime(token) {} }
    token = nil
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    board.hub.bind("second", to: "x") { _ in }
    #expect(weakToken == nil)
    mayContinue.open()
    try writer.join()
  }

  @Test func `a first value that waits is not delivered to a closure that was replaced`() throws {
    let (board, received) = (board, received)
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("busy", to: "y") { _ in
      inside.open()
      mayContinue.wait()
    }
    let writer = try Threads.start { board.post("y", 1) }
    inside.wait()
    let listenable = board.listenable("x")
    let binder = try Threads.start { listenable.bindAndFire("a") { _ in received.record("old") } }
    while listenable.names.isEmpty {}
    listenable.bind("a") { _ in received.record("new") }
    mayContinue.open()
    try writer.join()
    try binder.join()
    board.post("x", 1)
    #expect(received.all == ["new"])
  }

  @Test func `ten thousand bindings of one name leave one listener, called once`() {
    let received = received
    for number in 0..<10_000 { board.hub.bind("screen", to: "x") { _ in received.record("\(number)") } }
    #expect(board.hub.count == 1)
    board.post("x", 1)
    #expect(received.all == ["9999"])
  }

  @Test func `bind starts after the present round`() throws {
    let (board, received) = (board, received)
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { note in
      guard note.position == 1 else { return }
      inside.open()
      mayContinue.wait()
    }
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    board.hub.bind("second", to: "x") { received.record("\($0.position)") }
    board.listenable("x").bind("third") { received.record("value \($0)") }
    mayContinue.open()
    try writer.join()
    #expect(received.all == [])
    board.post("x", 7)
    #expect(received.all == ["2", "value 7"])
  }
}

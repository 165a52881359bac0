import Testing

@testable import UserStore

/// Guarantee 4 of the article “Listening”: owners.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct OwnerTests {
  let board = Board()

  private final class Screen: Sendable {
    let received = Recorder<Int>()
  }

  @Test func `a listener ends with its owner, which it holds weakly`() {
    var screen: Screen? = Screen()
    weak let weakScreen = screen
    let other = Recorder<Int>()
    board.listenable("x").bindAndFire("screen", owner: screen!) { screen, value in screen.received.record(value) }
    board.hub.bind("hub", to: "x", owner: screen!) { screen, note in screen.received.record(Int(note.position) * 100) }
    board.listenable("x").bind("other") { other.record($0) }
    board.post("x", 1)
    #expect(screen?.received.all == [0, 1, 100])
    screen = nil
    #expect(weakScreen == nil)
    #expect(board.hub.names == ["other"])
    board.post("x", 2)
    #expect(other.all == [1, 2])
  }

  @Test func `an owner that is released during a round is not called any more in it`() {
    let received = Recorder<Int>()
    let screen = Lock<Screen?>(Screen())
    board.hub.bind("first", to: "x") { _ in screen.withLock { $0 = nil } }
    board.hub.bind("second", to: "x", owner: screen.withLock { $0! }) { _, _ in received.record(1) }
    board.post("x", 1)
    #expect(received.all == [])
    #expect(board.hub.count == 1)
  }

  @Test func `objects that an ended listener held are released at the next round`() {
    let board = board
    var token: Token? = Token()
    weak let weakToken = token
    var screen: Screen? = Screen()
    board.hub.bind("screen", to: "x", owner: screen!) { [token] _, _ in withExtendedLifetime(token) {} }
    (token, screen) = (nil, nil)
    board.post("x", 1)
    #expect(weakToken == nil)
  }

  @Test func `the same name with a new owner replaces the listener`() {
    let (old, new) = (Screen(), Screen())
    board.listenable("x").bind("screen", owner: old) { screen, value in screen.received.record(value) }
    board.listenable("x").bind("screen", owner: new) { screen, value in screen.received.record(value) }
    board.post("x", 1)
    #expect(old.received.all == [] && new.received.all == [1])
  }

  @Test func `an actor that owns its listener is held weakly by it`() async {
    let received = Recorder<Int>()
    actor Model {}
    var model: Model? = Model()
    weak let weakModel = model
    board.listenable("x").bind("model", on: .actor(model!), owner: model!) { _, value in received.record(value) }
    board.post("x", 1)
    await received.reached(1)
    model = nil
    // The actor may still be running its last call.
    while weakModel != nil, !Task.isCancelled { await Task.yield() }
    #expect(weakModel == nil)
    board.post("x", 2)
    #expect(board.hub.count == 0)
    #expect(received.all == [1])
  }
}

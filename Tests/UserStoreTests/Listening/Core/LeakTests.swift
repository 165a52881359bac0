import Testing

@testable import UserStore

/// What is released leaves nothing behind.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LeakTests {
  @Test func `a hub is released with its owner and with all that listeners hold, although tokens remain`() {
    var board: Board? = Board()
    weak let weakBoard = board
    weak let hub = board?.hub
    var held: Token? = Token()
    weak let weakHeld = held
    let token = board?.hub.bind("a", to: "x") { [held] _ in withExtendedLifetime(held) {} }
    board?.post("x", 1)
    (board, held) = (nil, nil)
    #expect(weakBoard == nil && hub == nil && weakHeld == nil)
    token?.dispose()
  }

  @Test func `releasing a listenable removes it from its hub`() {
    let board = Board()
    var listenable: Listenable<Int>? = board.listenable("x")
    weak let weakListenable = listenable
    #expect(board.hub.hasListeners)
    listenable = nil
    #expect(weakListenable == nil)
    #expect(!board.hub.hasListeners)
  }

  @Test func `a listenable that its own listener holds is released when that is unbound`() {
    let board = Board()
    var listenable: Listenable<Int>? = board.listenable("x")
    weak let weakListenable = listenable
    listenable?.bindAndFire("a") { [listenable] _ in withExtendedLifetime(listenable) {} }
    listenable = nil
    board.post("x", 1)
    #expect(weakListenable != nil)
    board.hub.unbind("a", from: "x")
    #expect(weakListenable == nil)
  }

  @Test func `calls leave no rounds, mailboxes or threads behind`() async {
    let received = Recorder<Int>()
    actor Place {}
    weak var weakPlace: Place?
    weak var weakHub: ListenerHub<Note>?
    do {
      let board = Board()
      let place = Place()
      (weakPlace, weakHub) = (place, board.hub)
      board.listenable("x").bindAndFire("a", on: .actor(place)) { received.record($0) }
      for value in 1...10 { board.post("x", value) }
      await received.reached { $0.last == 10 }
    }
    while weakPlace != nil || weakHub != nil, !Task.isCancelled { await Task.yield() }
    #expect(weakPlace == nil && weakHub == nil)
  }

  @Test func `the mailbox of an actor goes with the actor's last listener`() {
    actor Place {}
    let (board, place) = (Board(), Place())
    func mailboxes() -> Int { board.hub.state.withLock { $0.registry.mailboxes.count } }
    for name in ["a", "b", "c"] { board.hub.bind(name, to: "x", on: .actor(place)) { _ in } }
    for name in ["a", "b"] {
      board.hub.unbind(name, from: "x")
      #expect(mailboxes() == 1)
    }
    board.hub.unbind("c", from: "x")
    #expect(mailboxes() == 0)
  }

  @Test func `a listener that holds its store keeps it alive, and one that holds it weakly does not`() throws {
    weak var weakStore: UserStore?
    do {
      let store = try UserStore.forTests()
      weakStore = store
      store.listeners.bind("count", to: .everything) { _ in _ = try store.read { try $0.count() } }
    }
    #expect(weakStore != nil)
    weakStore?.listeners.bind("count", to: .everything) { [weak weakStore] _ in
      _ = try weakStore?.read { try $0.count() }
    }
    #expect(weakStore == nil)
  }
}

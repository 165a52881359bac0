import Testing

@testable import UserStore

/// Guarantees 4 and 6 of the article “Listening”: unbinding, and no lock during calls.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct UnbindTests {
  let board = Board()
  let received = Recorder<String>()

  @Test func `unbinding takes effect immediately, also for the round that is being delivered`() {
    let (board, received) = (board, received)
    let third = Lock<ListenerToken?>(nil)
    board.hub.bind("first", to: "x") { _ in
      board.hub.unbind("second", from: "x")
      third.withLock { $0 }?.dispose()
    }
    board.hub.bind("second", to: "x") { _ in received.record("second") }
    let token = board.hub.bind("third", to: "x") { _ in received.record("third") }
    third.withLock { $0 = token }
    board.post("x", 1)
    #expect(received.all == [])
    #expect(board.hub.names == ["first"])
  }

  @Test func `disposing on another thread takes effect for the round that is being delivered`() throws {
    let (board, received) = (board, received)
    let (inside, mayContinue) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { _ in
      inside.open()
      mayContinue.wait()
    }
    let token = board.hub.bind("second", to: "x") { _ in received.record("second") }
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    token.dispose()
    mayContinue.open()
    try writer.join()
    #expect(received.all == [])
  }

  @Test func `a listener may unbind itself`() {
    let (board, received) = (board, received)
    board.hub.bind("once", to: "x") { note in
      board.hub.unbind("once", from: "x")
      received.record("\(note.position)")
    }
    board.post("x", 1)
    board.post("x", 2)
    #expect(received.all == ["1"])
  }

  @Test func `a token may dispose others, and itself`() {
    let received = received
    let own = Lock<SubscriptionToken?>(nil)
    let inner = SubscriptionToken { received.record("inner") }
    let outer = SubscriptionToken {
      inner.dispose()
      own.withLock { $0 }?.dispose()
      received.record("outer")
    }
    own.withLock { $0 = outer }
    outer.dispose()
    outer.dispose()
    inner.dispose()
    own.withLock { $0 = nil }
    #expect(received.all == ["inner", "outer"])
  }

  @Test func `releasing a closure may dispose, bind and post, because no lock is held`() {
    let (board, received) = (board, received)
    let victim = board.hub.bind("victim", to: "x") { _ in received.record("victim") }
    let onRelease = OnRelease {
      victim.dispose()
      board.hub.bind("heir", to: "x") { _ in received.record("heir") }
      board.post("x", 1)
    }
    board.hub.bind("owner", to: "x") { [onRelease] _ in withExtendedLifetime(onRelease) {} }
    onRelease.arm()
    board.hub.unbind("owner", from: "x")
    withExtendedLifetime(onRelease) {}
    #expect(board.hub.names.contains("owner") == false)
  }

  @Test func `the last reference to an object that a closure holds is released under no lock`() {
    let (board, received) = (board, received)
    do {
      let onRelease = OnRelease { board.hub.bind("heir", to: "x") { _ in received.record("heir") } }
      onRelease.arm()
      board.hub.bind("owner", to: "x") { [onRelease] _ in withExtendedLifetime(onRelease) {} }
    }
    board.hub.bind("owner", to: "x") { _ in }
    #expect(board.hub.names == ["owner", "heir"])
  }

  @Test func `a token that its own listener stores is released with it`() {
    final class Holder: Sendable {
      let token = Lock<ListenerToken?>(nil)
    }
    weak var weakHolder: Holder?
    do {
      let holder = Holder()
      weakHolder = holder
      let token = board.hub.bind("a", to: "x") { _ in withExtendedLifetime(holder) {} }
      holder.token.withLock { $0 = token }
    }
    #expect(weakHolder != nil)
    board.hub.unbind("a", from: "x")
    #expect(weakHolder == nil)
  }

  @Test func `a listener without a name lives as long as its token`() {
    let received = received
    var token: SubscriptionToken? = board.hub.bind(to: "x") { _ in received.record("bag") }
    board.post("x", 1)
    #expect(board.hub.count == 1)
    token = nil
    withExtendedLifetime(token) {}
    board.post("x", 2)
    #expect(received.all == ["bag"])
    #expect(board.hub.count == 0)
  }

  @Test func `a named listener outlives its token and its listenable`() {
    let received = received
    do {
      let token = board.listenable("x").bind("a") { received.record("\($0)") }
      withExtendedLifetime(token) {}
    }
    board.post("x", 1)
    #expect(received.all == ["1"])
  }

  @Test func `a bag disposes its tokens in order, and can be used again`() {
    let received = received
    var bag: TokenBag? = TokenBag()
    for name in ["a", "b"] { bag.map { SubscriptionToken { received.record(name) }.disposed(by: $0) } }
    bag?.disposeAll()
    #expect(received.all == ["a", "b"])
    bag.map { board.hub.bind(to: "x") { _ in received.record("received") }.disposed(by: $0) }
    board.post("x", 1)
    bag = nil
    board.post("x", 2)
    #expect(received.all == ["a", "b", "received"])
  }

  @Test func `unbinding a name that is not bound, and removing all twice, have no effect`() {
    board.hub.unbind("nobody", from: "x")
    board.hub.bind("a", to: "x") { _ in }
    board.hub.bind("b", to: "y") { _ in }
    board.hub.removeAll()
    board.hub.removeAll()
    #expect(board.hub.count == 0)
    #expect(!board.hub.hasListeners)
  }

  /// Runs an action when it is released.
  private final class OnRelease: Sendable {
    private let isArmed = Lock(false)
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    func arm() { isArmed.withLock { $0 = true } }
    deinit { if isArmed.withLock({ $0 }) { action() } }
  }
}

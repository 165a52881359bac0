import Testing

@testable import UserStore

/// Guarantees 4 and 6 of the article “Listening”: unbinding, and no lock.
@Suite(.timeLimit(.minutes(5))) struct UnbindTests {
  let board = Board()
  let heard = Recorder<String>()

  @Test func `unbinding takes effect immediately, also for the round that is being delivered`() {
    let (board, heard) = (board, heard)
    let third = Lock<ListenerToken?>(nil)
    board.hub.bind("first", to: "x") { _ in
      board.hub.unbind("second", from: "x")
      third.withLock { $0 }?.dispose()
    }
    board.hub.bind("second", to: "x") { _ in heard.record("second") }
    let token = board.hub.bind("third", to: "x") { _ in heard.record("third") }
    third.withLock { $0 = token }
    board.post("x", 1)
    #expect(heard.all == [])
    #expect(board.hub.names == ["first"])
  }

  @Test func `disposing on another thread takes effect for the round that is being delivered`() throws {
    let (board, heard) = (board, heard)
    let (inside, goOn) = (Gate(), Gate())
    board.hub.bind("first", to: "x") { _ in
      inside.open()
      goOn.wait()
    }
    let token = board.hub.bind("second", to: "x") { _ in heard.record("second") }
    let writer = try Threads.start { board.post("x", 1) }
    inside.wait()
    token.dispose()
    goOn.open()
    try writer.join()
    #expect(heard.all == [])
  }

  @Test func `a listener may end itself`() {
    let (board, heard) = (board, heard)
    board.hub.bind("once", to: "x") { note in
      board.hub.unbind("once", from: "x")
      heard.record("\(note.position)")
    }
    board.post("x", 1)
    board.post("x", 2)
    #expect(heard.all == ["1"])
  }

  @Test func `a token may dispose others, and itself`() {
    let heard = heard
    let own = Lock<SubscriptionToken?>(nil)
    let inner = SubscriptionToken { heard.record("inner") }
    let outer = SubscriptionToken {
      inner.dispose()
      own.withLock { $0 }?.dispose()
      heard.record("outer")
    }
    own.withLock { $0 = outer }
    outer.dispose()
    outer.dispose()
    inner.dispose()
    own.withLock { $0 = nil }
    #expect(heard.all == ["inner", "outer"])
  }

  @Test func `releasing a closure may dispose, bind and post: no lock is held`() {
    let (board, heard) = (board, heard)
    let victim = board.hub.bind("victim", to: "x") { _ in heard.record("victim") }
    let onRelease = OnRelease {
      victim.dispose()
      board.hub.bind("heir", to: "x") { _ in heard.record("heir") }
      board.post("x", 1)
    }
    board.hub.bind("owner", to: "x") { [onRelease] _ in withExtendedLifetime(onRelease) {} }
    onRelease.arm()
    board.hub.unbind("owner", from: "x")
    withExtendedLifetime(onRelease) {}
    #expect(board.hub.names.contains("owner") == false)
  }

  @Test func `the last reference to an object that a closure holds is released under no lock`() {
    let (board, heard) = (board, heard)
    do {
      let onRelease = OnRelease { board.hub.bind("heir", to: "x") { _ in heard.record("heir") } }
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
    let heard = heard
    var token: SubscriptionToken? = board.hub.bind(to: "x") { _ in heard.record("bag") }
    board.post("x", 1)
    #expect(board.hub.count == 1)
    token = nil
    withExtendedLifetime(token) {}
    board.post("x", 2)
    #expect(heard.all == ["bag"])
    #expect(board.hub.count == 0)
  }

  @Test func `a named listener outlives its token and its listenable`() {
    let heard = heard
    do {
      let token = board.listenable("x").bind("a") { heard.record("\($0)") }
      withExtendedLifetime(token) {}
    }
    board.post("x", 1)
    #expect(heard.all == ["1"])
  }

  @Test func `a bag disposes its tokens in order, and can be used again`() {
    let heard = heard
    var bag: TokenBag? = TokenBag()
    for name in ["a", "b"] { bag.map { SubscriptionToken { heard.record(name) }.disposed(by: $0) } }
    bag?.disposeAll()
    #expect(heard.all == ["a", "b"])
    bag.map { board.hub.bind(to: "x") { _ in heard.record("heard") }.disposed(by: $0) }
    board.post("x", 1)
    bag = nil
    board.post("x", 2)
    #expect(heard.all == ["a", "b", "heard"])
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

  /// Does something when it is released.
  private final class OnRelease: Sendable {
    private let isArmed = Lock(false)
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    func arm() { isArmed.withLock { $0 = true } }
    deinit { if isArmed.withLock({ $0 }) { action() } }
  }
}

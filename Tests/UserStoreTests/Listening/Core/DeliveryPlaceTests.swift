import Testing

@testable import UserStore

/// Guarantee 8 of the article “Listening”: the order holds in each place.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DeliveryPlaceTests {
  let board = Board()
  let received = Recorder<String>()

  @Test func `all listeners on an actor are called in commit order, on the actor`() async {
    let received = received
    let place = Place()
    for name in ["a", "b"] {
      board.hub.bind(name, to: "x", on: .actor(place)) { note in
        place.assumeIsolated { _ in received.record("\(name)\(note.position)") }
      }
    }
    for value in 1...500 { board.post("x", value) }
    await received.reached(1_000)
    #expect(received.all == (1...500).flatMap { ["a\($0)", "b\($0)"] })
  }

  @Test func `the writer does not wait for an actor`() async throws {
    let (board, received) = (board, received)
    let place = Place()
    let mayContinue = Gate()
    board.hub.bind("a", to: "x", on: .actor(place)) { received.record("\($0.position)") }
    place.hold(until: mayContinue)
    board.post("x", 1)
    #expect(received.all == [])
    mayContinue.open()
    await received.reached(1)
  }

  @Test(arguments: ["bind", "bindAndFire", "unbind", "dispose", "owner"])
  func `a call that waits for its actor is dropped when its listener has ended`(_ how: String) async throws {
    let (board, received) = (board, received)
    let place = Place()
    let mayContinue = Gate()
    let listenable = board.listenable("x")
    var owner: Token? = Token()
    let token =
      how == "owner"
      ? listenable.bind("a", on: .actor(place), owner: owner!) { _, value in received.record("old \(value)") }
      : listenable.bind("a", on: .actor(place)) { received.record("old \($0)") }
    place.hold(until: mayContinue)
    board.post("x", 1)
    switch how {
    case "bind": listenable.bind("a", on: .actor(place)) { received.record("new \($0)") }
    case "bindAndFire": listenable.bindAndFire("a", on: .actor(place)) { received.record("new \($0)") }
    case "unbind": listenable.unbind("a")
    case "dispose": token.dispose()
    default: owner = nil
    }
    withExtendedLifetime(owner) {}
    mayContinue.open()
    listenable.bind("end", on: .actor(place)) { received.record("end \($0)") }
    board.post("x", 2)
    await received.reached { $0.last == "end 2" }
    let expected: [String: [String]] = ["bind": ["new 2", "end 2"], "bindAndFire": ["new 1", "new 2", "end 2"]]
    #expect(received.all == expected[how, default: ["end 2"]])
  }

  @Test func `a first value that waits for its actor does not hold a closure that was replaced`() async throws {
    let (board, received) = (board, received)
    let place = Place()
    let mayContinue = Gate()
    let listenable = board.listenable("x")
    place.hold(until: mayContinue)
    var token: Token? = Token()
    weak let weakToken = token
    listenable.bindAndFire("a", on: .actor(place)) { [token] _ in withExtendedLifetime(token) {} }
    token = nil
    listenable.bindAndFire("a", on: .actor(place)) { received.record("new \($0)") }
    #expect(weakToken == nil)
    mayContinue.open()
    board.post("x", 1)
    await received.reached { $0.last == "new 1" }
    #expect(received.all == ["new 0", "new 1"] || received.all == ["new 1"])
  }

  @Test func `on an actor, a first value and the rounds after it have no gap, duplicate or reversal`() async throws {
    let board = board
    let place = Place()
    let listenable = board.listenable("x")
    let writer = try Threads.start { for value in 1...3_000 { board.post("x", value) } }
    let received = Recorder<Int>()
    for step in 0..<100 {
      let own = Recorder<Int>()
      listenable.bindAndFire("a", on: .actor(place)) { value in
        own.record(value)
        received.record(value)
      }
      await own.reached { !$0.isEmpty }
      if step % 10 == 0 { await own.reached { $0.count > 3 || $0.last == 3_000 } }
      let all = own.all
      try #require(all == Array(all[0]...all[all.count - 1]), "step \(step)")
    }
    await received.reached { $0.last == 3_000 }
    try await writer.joined()
    let all = received.all
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `a listener on the main actor runs there`() async {
    let received = received
    board.hub.bind("a", to: "x", on: .main) { note in
      MainActor.assertIsolated()
      received.record("hub \(note.position)")
    }
    board.listenable("x").bind("b", on: .main) { value in
      MainActor.assertIsolated()
      received.record("value \(value)")
    }
    board.post("x", 7)
    await received.reached(2)
    #expect(received.all == ["hub 1", "value 7"])
  }

  @Test func `a round that a listener on an actor posts is delivered, in the listener's cascade`() async {
    let (board, received) = (board, received)
    let place = Place()
    board.hub.bind("answers", to: "x", on: .actor(place)) { note in
      let value = note.values["x"]!
      if value < 50 { board.post("x", value + 1) }
    }
    board.hub.bind("counts", to: "x") { received.record("\($0.values["x"]!)") }
    board.post("x", 1)
    await received.reached(50)
    #expect(received.all == (1...50).map { "\($0)" })
  }

  @Test func `a task that a listener starts does not count as the listener`() async {
    let (board, received) = (board, received)
    board.hub.bind("starts", to: "x") { note in
      guard note.position == 1 else { return }
      Task.detached {
        received.record("busy: \(DeliveryThread.current.calling != nil)")
        board.post("x", 2)
      }
    }
    board.post("x", 1)
    await received.reached(1)
    #expect(received.all == ["busy: false"])
  }

  @MainActor @Test func `a first value on the main actor is not followed by the same value that waits`() async {
    let hub = SignalHub(onError: ListenerErrors.print)
    hub.keep(ValueBox(0))
    let numbers = Recorder<Int?>()
    let terms = ListeningTerms(place: .latest(on: MainActor.shared), isOnPlace: true, fires: true)
    _ = hub.bind(
      "label", to: .all, terms,
      reading: {
        // Between the registration and the first value, another thread sends.
        _ = try? Threads.start { hub.send(.success(ValueBox(1))) }.join()
        return hub.kept
      }, { numbers.record(ValueBox<Int>.unbox($0.content)) }, onRound: SignalRound.Action.init)
    await turns()
    #expect(numbers.all == [1])
    hub.send(.success(ValueBox(2)))
    await numbers.reached(2)
    await turns()
    #expect(numbers.all == [1, 2])
  }

  @MainActor private final class Screen {
    var shown: [Int] = []
  }

  @MainActor @Test func `a screen on the main actor is called until it is released, and is held weakly`() async {
    let board = Board()
    let received = Recorder<Int>()
    var screen: Screen? = Screen()
    weak let kept = screen
    let value = board.listenable("x")
    value.bindAndFire("screen", on: .main, owner: screen!) { screen, value in screen.shown.append(value) }
    #expect(screen?.shown == [0])
    value.bind("next", on: .main, owner: screen!) { screen, value in
      screen.shown.append(value * 10)
      received.record(value)
    }
    board.post("x", 1)
    await received.reached(1)
    #expect(screen?.shown == [0, 1, 10])
    screen = nil
    #expect(kept == nil)
    #expect(board.hub.count == 0)
  }
}

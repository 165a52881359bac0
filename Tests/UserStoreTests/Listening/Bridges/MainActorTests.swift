import Testing

@testable import UserStore

/// Every kind of listener can be called on the main actor.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct MainActorTests {
  @MainActor private final class Screen {
    var shown: [Int] = []
  }

  @MainActor @Test func `a listener with an owner is called on the main actor until the owner is released`() async {
    let board = Board()
    let received = Recorder<Int>()
    var screen: Screen? = Screen()
    board.hub.bind("screen", to: "x", on: .main, owner: screen!) { screen, note in
      screen.shown.append(note.values["x"]!)
    }
    board.hub.bind("fence", to: "x", on: .main) { received.record($0.values["x"]!) }
    board.post("x", 1)
    #expect(screen?.shown == [])
    await received.reached(1)
    #expect(screen?.shown == [1])
    screen = nil
    #expect(board.hub.names == ["fence"])
  }

  @Test func `a listener without a name is called on the main actor until its token is released`() async {
    let board = Board()
    let received = Recorder<Int>()
    var token: SubscriptionToken? = board.hub.bind(to: "x", on: .main) { note in
      MainActor.assertIsolated()
      received.record(note.values["x"]!)
    }
    board.post("x", 1)
    await received.reached(1)
    token?.dispose()
    token = nil
    #expect(board.hub.count == 0)
  }

  @MainActor @Test func `a signal's events arrive on the main actor, the present value before subscribe returns`() async
  {
    let (source, value) = Listenable.make(1)
    let received = Recorder<String>()
    let token = value.signal.subscribeToEvents(on: .main) { event in
      MainActor.assertIsolated()
      received.record("\(event)")
    }
    #expect(received.all == ["value(1)"])
    source.send(2)
    source.end()
    await received.reached(3)
    #expect(received.all == ["value(1)", "value(2)", "end"])
    withExtendedLifetime(token) {}
  }
}

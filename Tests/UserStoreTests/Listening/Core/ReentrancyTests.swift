import Foundation
import Testing

@testable import UserStore

/// Guarantee 5 of the article “Listening”: writes by listeners.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ReentrancyTests {
  @Test func `a write by a listener is delivered after the present round has reached all listeners`() {
    let board = Board()
    let received = Recorder<String>()
    board.hub.bind("a", to: "x") { note in
      received.record("a\(note.values["x"]!)")
      if note.values["x"] == 1 {
        board.post("x", 2)
        received.record("written")
      }
    }
    board.hub.bind("b", to: "x") { received.record("b\($0.values["x"]!)") }
    board.post("x", 1)
    #expect(received.all == ["a1", "written", "b1", "a2", "b2"])
  }

  @Test func `a write returns after the answers of its listeners were delivered`() {
    let board = Board()
    let received = Recorder<Int>()
    board.hub.bind("counts", to: "x") { note in
      let value = note.values["x"]!
      received.record(value)
      if value < 100 { board.post("x", value + 1) }
    }
    board.post("x", 1)
    #expect(received.all == Array(1...100))
  }

  @Test func `the stack does not grow with ten thousand answers`() {
    let board = Board()
    let depths = Recorder<Int>()
    board.hub.bind("counts", to: "x") { note in
      let value = note.values["x"]!
      if value == 2 || value == 9_999 { depths.record(Thread.callStackReturnAddresses.count) }
      if value < 10_000 { board.post("x", value + 1) }
    }
    board.post("x", 1)
    #expect(board.listenable("x").value == 10_000)
    #expect(depths.count == 2 && depths.all[0] == depths.all[1])
  }

  @Test func `the stack does not grow when two hubs answer each other`() {
    let (left, right) = (Board(), Board())
    let depths = Recorder<Int>()
    left.hub.bind("to right", to: "x") { note in
      let value = note.values["x"]!
      if value == 10 || value == 9_000 { depths.record(Thread.callStackReturnAddresses.count) }
      if value < 10_000 { right.post("x", value + 1) }
    }
    right.hub.bind("to left", to: "x") { note in left.post("x", note.values["x"]! + 1) }
    left.post("x", 0)
    #expect(left.listenable("x").value == 10_000)
    #expect(depths.count == 2 && depths.all[0] == depths.all[1])
  }

  @Test func `a round that is posted inside a listener of another hub is delivered after that listener returns`() {
    let (left, right) = (Board(), Board())
    let received = Recorder<String>()
    left.hub.bind("first", to: "x") { _ in
      right.post("y", 1)
      received.record("written")
    }
    left.hub.bind("second", to: "x") { _ in received.record("second") }
    right.hub.bind("other", to: "y") { _ in received.record("other") }
    left.post("x", 1)
    #expect(received.all == ["written", "second", "other"])
  }

  @Test func `a limit is for one cascade, and its error names the listeners`() {
    let cascade = Cascade()
    #expect(cascade.admit(by: "ping", limit: 2) == nil)
    #expect(cascade.admit(by: "pong", limit: 2) == nil)
    #expect(cascade.admit(by: nil, limit: 2) == ["ping", "pong", "a listener without a name"])
    #expect(Cascade().admit(by: "ping", limit: 1) == nil)
  }
}

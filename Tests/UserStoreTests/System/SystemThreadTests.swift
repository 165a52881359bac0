import Foundation
import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SystemThreadTests {
  @Test func `every join waits for the end of the body, and not for the work after it`() throws {
    let (mayEnd, mayClose, isClosed) = (Gate(), Gate(), Gate())
    let steps = Recorder<String>()
    let thread = try SystemThread.start(
      named: "test",
      afterEnd: {
        mayClose.wait()
        isClosed.open()
      },
      {
        mayEnd.wait()
        steps.record("body")
      })
    let joining = try (0..<3).map { _ in
      try Threads.start {
        thread.join()
        steps.record("joined")
      }
    }
    mayEnd.open()
    for thread in joining { try thread.join() }
    #expect(steps.all == ["body", "joined", "joined", "joined"])
    mayClose.open()
    isClosed.wait()
  }

  #if os(Linux)
    @Test func `a thread has its name, which debuggers show`() throws {
      let name = Lock("")
      let thread = try SystemThread.start(named: "a name") {
        let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        name.withLock { $0 = text ?? "" }
      }
      thread.join()
      #expect(name.withLock { $0 } == "a name\n")
    }
  #endif

  @Test func `a thread that joins itself is not blocked`() throws {
    let own = Lock<SystemThread?>(nil)
    let (isKnown, hasJoined) = (Gate(), Gate())
    let thread = try SystemThread.start(named: "test") {
      isKnown.wait()
      own.withLock { $0 }?.join()
      hasJoined.open()
    }
    own.withLock { $0 = thread }
    isKnown.open()
    hasJoined.wait()
    thread.join()
  }
}

import Foundation
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Signals` {
  @Test func `a second signal ends the process at once, unless it arrives together with the first`() {
    var ending = EndingSchedule()
    #expect(!ending.endsAtOnce(at: 0))
    ending.begin(at: 0)
    #expect(!ending.endsAtOnce(at: 300))
    #expect(ending.endsAtOnce(at: 301))
    // The time counts from the first reason; later ones do not postpone the end.
    ending.begin(at: 301)
    #expect(ending.endsAtOnce(at: 301))
  }

  @Test func `the first signal ends a process at once that is already ending for another reason`() {
    var ending = EndingSchedule()
    ending.begin(at: 10_000)
    #expect(ending.endsAtOnce(at: 20_000))
  }

  /// The default action of these signals is to do nothing, so that one that arrives too early is lost.
  @Test(arguments: [SIGURG, SIGWINCH, SIGCONT])
  func `a signal that arrives as soon as it is observed is not lost`(_ number: Int32) {
    let received = DispatchSemaphore(value: 0)
    UserToolCommands.Signals.shared.observe(number) { received.signal() }
    kill(getpid(), number)
    #expect(received.wait(timeout: .now() + 60) == .success)
  }
}

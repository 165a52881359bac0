import Testing

@testable import UserToolCommands

@Suite(.bounded) struct `Signals` {
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
}

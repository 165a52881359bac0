import Testing

@testable import usertool

@Suite struct `Signals` {
  @Test func `a second signal ends the process at once, unless it comes with the first`() {
    var ending = EndingSchedule()
    #expect(!ending.endsAtOnce(at: 0))
    ending.begin(at: 0)
    #expect(!ending.endsAtOnce(at: 300))
    #expect(ending.endsAtOnce(at: 301))
    // The first reason counts: those that follow put nothing off.
    ending.begin(at: 301)
    #expect(ending.endsAtOnce(at: 301))
  }

  @Test func `what has begun to end because of something else ends at once with the first signal`() {
    var ending = EndingSchedule()
    ending.begin(at: 10_000)
    #expect(ending.endsAtOnce(at: 20_000))
  }
}

import Testing

@testable import usertool

@Suite struct `Progress` {
  @Test func `what is short has no line, and what is long one five times a second`() {
    var progress = ProgressSchedule(verb: "imported", start: 10_000)
    #expect(progress.line(900, 0.5, at: 10_999) == nil && !progress.hasShown)
    #expect(progress.line(1_000, 0.5, at: 11_000) == "50 %  imported 1000 users, 1000 a second")
    #expect(progress.line(1_100, 0.55, at: 11_199) == nil)
    #expect(progress.line(3_000, nil, at: 12_000) == "imported 3000 users, 1500 a second")
    #expect(progress.hasShown)
  }

  @Test func `what tells rarely how far it is has a line that a clock moves`() {
    var line = TickerLine(verb: "checking", start: 10_000)
    #expect(line.text(at: 10_999) == nil && !line.hasShown)
    #expect(line.text(at: 11_000) == "checking, 1 s" && line.hasShown)
    line.fraction = 0.304
    #expect(line.text(at: 19_900) == "30 %  checking, 9 s")
  }
}

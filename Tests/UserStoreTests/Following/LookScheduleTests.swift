import Testing

@testable import UserStore

@Suite struct LookScheduleTests {
  @Test func `without anything happening it looks twice a second at most`() {
    var schedule = LookSchedule(hasEvents: true)
    for _ in 0..<10 {
      #expect(schedule.wait >= 250_000)
      schedule.looked(found: false)
    }
  }

  @Test func `after a write it looks soon, ever more rarely, for a tenth of a second, then rests`() {
    var schedule = LookSchedule(hasEvents: true)
    schedule.written()
    var waits: [Int] = []
    while schedule.wait < 250_000, waits.count < 1_000 {
      waits.append(schedule.wait)
      schedule.looked(found: false)
    }
    #expect(waits.prefix(4) == [50, 100, 200, 400])
    #expect(waits.max() == 5_000)
    #expect((95_000...110_000).contains(waits.reduce(0, +)))
  }

  @Test func `a write in the middle begins the looks anew`() {
    var schedule = LookSchedule(hasEvents: true)
    schedule.written()
    for _ in 0..<10 { schedule.looked(found: false) }
    schedule.written()
    #expect(schedule.wait == 50)
  }

  @Test func `a look after a touch is final`() {
    var schedule = LookSchedule(hasEvents: true)
    schedule.looked(found: true)
    #expect(schedule.wait == LookSchedule.idle)
  }

  @Test func `while the store itself writes without end it rests longer and longer, a millisecond at most`() {
    var schedule = LookSchedule(hasEvents: true)
    #expect(
      (0..<6).map { _ in schedule.rest(ownCommits: 9, found: false) } == [125, 250, 500, 1_000, 1_000, 1_000])
    #expect(schedule.rest(ownCommits: 0, found: false) == nil)
    #expect(schedule.rest(ownCommits: 2, found: false) == 125)
  }

  @Test func `a look for every own write is a load too, whoever is quick enough for it`() {
    var schedule = LookSchedule(hasEvents: true)
    #expect((0..<4).map { _ in schedule.rest(ownCommits: 1, found: false) } == [nil, 125, 250, 500])
  }

  @Test func `one own write is an answer after what others wrote; nor is there a rest while it polls`() {
    var schedule = LookSchedule(hasEvents: true)
    for _ in 0..<5 {
      #expect(schedule.rest(ownCommits: 1, found: false) == nil)
      #expect(schedule.rest(ownCommits: 0, found: true) == nil)
    }
    for _ in 0..<5 { #expect(schedule.rest(ownCommits: 1, found: true) == nil) }
    schedule = LookSchedule(hasEvents: false)
    #expect(schedule.rest(ownCommits: 100, found: false) == nil)
  }

  @Test func `under a load that lasts it wants no events, and again when that is over`() {
    var schedule = LookSchedule(hasEvents: true)
    func isUnderLoad(after ownCommits: Int) -> Bool {
      _ = schedule.rest(ownCommits: ownCommits, found: false)
      return schedule.isUnderLoad
    }
    #expect((0..<5).map { _ in isUnderLoad(after: 9) } == [false, false, false, true, true])
    #expect(!isUnderLoad(after: 0))
    #expect(!isUnderLoad(after: 9))
  }

  @Test func `without events it polls, ever more rarely, four times a second at most when nothing happens`() {
    var schedule = LookSchedule(hasEvents: false)
    #expect(schedule.wait <= 1_000)
    for _ in 0..<20 { schedule.looked(found: false) }
    #expect(schedule.wait == 250_000)
    schedule.looked(found: true)
    #expect(schedule.wait <= 1_000)
  }
}

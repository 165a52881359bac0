import Testing

@testable import UserStore

/// When the watcher reads the log.
@Suite(.bounded, .serialized) struct LookScheduleTests {
  private static let idleLook = 500_000

  /// A schedule after the looks for writes that began before it.
  private func idle() -> LookSchedule {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    while schedule.wait < Self.idleLook { schedule.looked(found: false) }
    return schedule
  }

  @Test func `it looks for a tenth of a second for writes that began before there were events, but not at once`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    var waits: [Int] = []
    while schedule.wait < Self.idleLook, waits.count < 1_000 {
      waits.append(schedule.wait)
      schedule.looked(found: false)
    }
    #expect(waits == Array(repeating: 5_000, count: 20))
  }

  @Test func `an idle watcher looks at the log at most twice a second`() {
    var schedule = idle()
    for _ in 0..<10 {
      #expect(schedule.wait >= 250_000)
      schedule.looked(found: false)
    }
  }

  @Test func `after a write it looks soon, then ever more rarely, and is idle again after a tenth of a second`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
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

  @Test func `another write restarts the looks`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    schedule.written()
    for _ in 0..<10 { schedule.looked(found: false) }
    schedule.written()
    #expect(schedule.wait == 50)
  }

  @Test func `one look is enough after a touch`() {
    var schedule = idle()
    schedule.looked(found: true)
    #expect(schedule.wait == Self.idleLook)
  }

  @Test func `while the store itself writes continuously, rests grow up to a millisecond`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    #expect(
      (0..<6).map { _ in schedule.rest(ownCommits: 9, found: false) } == [125, 250, 500, 1_000, 1_000, 1_000])
    #expect(schedule.rest(ownCommits: 0, found: false) == nil)
    #expect(schedule.rest(ownCommits: 2, found: false) == 125)
  }

  @Test func `one write of the store per look is a load as well`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    #expect((0..<4).map { _ in schedule.rest(ownCommits: 1, found: false) } == [nil, 125, 250, 500])
  }

  @Test func `there is no rest after one write that answers another process, nor while polling`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    for _ in 0..<5 {
      #expect(schedule.rest(ownCommits: 1, found: false) == nil)
      #expect(schedule.rest(ownCommits: 0, found: true) == nil)
    }
    for _ in 0..<5 { #expect(schedule.rest(ownCommits: 1, found: true) == nil) }
    schedule = LookSchedule(hasEvents: false, idle: Self.idleLook)
    #expect(schedule.rest(ownCommits: 100, found: false) == nil)
  }

  @Test func `during a lasting load it needs no events, and after the load it needs them again`() {
    var schedule = LookSchedule(hasEvents: true, idle: Self.idleLook)
    func isUnderLoad(after ownCommits: Int) -> Bool {
      _ = schedule.rest(ownCommits: ownCommits, found: false)
      return schedule.isUnderLoad
    }
    #expect((0..<5).map { _ in isUnderLoad(after: 9) } == [false, false, false, true, true])
    #expect(!isUnderLoad(after: 0))
    #expect(!isUnderLoad(after: 9))
  }

  @Test func `without events it polls ever more rarely, down to every 250 ms`() {
    var schedule = LookSchedule(hasEvents: false, idle: Self.idleLook)
    #expect(schedule.wait <= 1_000)
    for _ in 0..<20 { schedule.looked(found: false) }
    #expect(schedule.wait == 250_000)
    schedule.looked(found: true)
    #expect(schedule.wait <= 1_000)
  }
}

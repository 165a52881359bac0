import Testing

@testable import UserStore

/// When a write looks whether the log is too long.
@Suite(.bounded, .serialized) struct CompactionScheduleTests {
  private var schedule = CompactionSchedule()

  init() {
    // The first look, which finds nothing to delete.
    _ = schedule.begin(at: 0)
    schedule.end(isMore: false)
  }

  @Test func `the first write looks`() {
    var schedule = CompactionSchedule()
    #expect(schedule.begin(at: .max) == 1_000)
  }

  @Test mutating func `the next look is due after a thousand rows, a thousand pages, or an hour`() {
    schedule.wrote(rows: 999, logPages: 999)
    #expect(schedule.begin(at: 3_599_999) == nil)
    schedule.wrote(rows: 1, logPages: 999)
    #expect(schedule.begin(at: 3_599_999) == 2_000, "as many rows as were written, and one step more")
    schedule.end(isMore: false)
    schedule.wrote(rows: 1, logPages: 1_998)
    #expect(schedule.begin(at: 3_600_000) == nil)
    schedule.wrote(rows: 1, logPages: 1)
    #expect(schedule.begin(at: 3_600_000) == 1_002, "the -wal file was restarted")
    schedule.end(isMore: false)
    #expect(schedule.begin(at: 7_199_998) == nil)
    #expect(schedule.begin(at: 7_200_000) == 1_000)
    schedule.end(isMore: false)
    #expect(schedule.begin(at: 7_199_999) == 1_000, "the clock was set back")
  }

  @Test mutating func `there is one look at a time, and the next write continues if there is more to delete`() {
    schedule.wrote(rows: 1_000, logPages: 0)
    #expect(schedule.begin(at: 0) != nil)
    schedule.wrote(rows: 5_000, logPages: 0)
    #expect(schedule.begin(at: 0) == nil)
    schedule.end(isMore: true)
    #expect(schedule.begin(at: 0) == 6_000)
    schedule.end(isMore: false)
    #expect(schedule.begin(at: 0) == nil)
  }

  @Test func `the standard policy is that of the documentation`() {
    let policy = RetentionPolicy.standard
    #expect(policy.limits == .init(age: .seconds(2_592_000), changes: 1_000_000, bytes: 268_435_456))
    #expect(policy.consumerLimits == .init(age: .seconds(10_368_000), changes: 4_000_000, bytes: 1_073_741_824))
    #expect(policy.minimumChanges == 10_000)
  }
}

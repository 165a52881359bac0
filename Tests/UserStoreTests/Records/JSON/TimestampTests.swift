import Testing

@testable import UserStore

/// Times of the log as text.
@Suite struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (1_795_238_411_482, "2026-11-21T05:20:11.482Z"),
    (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
    // Another program can store these.
    (.min, "-292275055-05-16T16:47:04.192Z"), (.max, "292278994-08-17T07:12:55.807Z"),
  ])
  func `times are in the Gregorian calendar, also before 1970 and on leap days`(_ milliseconds: Int64, _ text: String) {
    #expect(Timestamp(milliseconds: milliseconds).utc == text)
  }
}

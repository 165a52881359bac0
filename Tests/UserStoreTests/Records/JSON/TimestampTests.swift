import Testing

@testable import UserStore

/// Times of the log as text.
@Suite(.bounded, .serialized) struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (1_795_238_411_482, "2026-11-21T05:20:11.482Z"),
    (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
    // Another program can store these.
    (.min, "-292275055-05-16T16:47:04.192Z"), (.max, "292278994-08-17T07:12:55.807Z"),
  ])
  func `times are in the Gregorian calendar, also before 1970 and on leap days`(_ milliseconds: Int64, _ text: String) {
    #expect(Timestamp(milliseconds: milliseconds).utc == text)
    #expect(Timestamp(utc: text)?.milliseconds == milliseconds)
  }

  @Test func `each day of four hundred years follows the one before`() {
    var (year, month, day) = (1970, 1, 1)
    func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    // After 400 years the calendar repeats itself.
    for number in 0..<Int64(146_097) {
      let date = Timestamp(milliseconds: number * 86_400_000).parts(offset: 0).date
      if date != "\(year)-\(pad(month))-\(pad(day))" {
        Issue.record("\(date) instead of \(year)-\(month)-\(day)")
        return
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect((year, month, day) == (2370, 1, 1))
  }

  @Test func `the text of any time reads back as that time`() {
    for _ in 0..<1_000 {
      let time = Timestamp(milliseconds: .random(in: .min ... .max) >> Int64.random(in: 0...40))
      #expect(Timestamp(utc: time.utc)?.milliseconds == time.milliseconds, "\(time.milliseconds)")
    }
  }

  @Test(arguments: [
    "", "Z", "yesterday", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.00Z", "1970-01-01T00:00:00.0000Z",
    "1970-01-01T00:00:00.000", "1970-01-01t00:00:00.000z", "1970-01-01 00:00:00.000Z", "1970-01-01T00:00:00.000+00:00",
    "1970-02-29T00:00:00.000Z", "1970-13-01T00:00:00.000Z", "1970-00-01T00:00:00.000Z", "1970-01-00T00:00:00.000Z",
    "1970-01-32T00:00:00.000Z", "1970-01-01T24:00:00.000Z", "1970-01-01T00:60:00.000Z", "1970-01-01T00:00:60.000Z",
    "970-01-01T00:00:00.000Z", "01970-01-01T00:00:00.000Z", "+1970-01-01T00:00:00.000Z", "1970-+1-01T00:00:00.000Z",
    "-0000-01-01T00:00:00.000Z", "1970--1-01T00:00:00.000Z", "１970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z\n",
    "292278994-08-17T07:12:55.808Z", "-292275055-05-16T16:47:04.191Z", "9223372036854775807-01-01T00:00:00.000Z",
    "-9223372036854775808-01-01T00:00:00.000Z", "1970-01-99999999999.000Z", "1970\r\n-01T00:00:00.000Z",
  ])
  func `other text is not a time`(_ text: String) {
    #expect(Timestamp(utc: text) == nil)
  }
}

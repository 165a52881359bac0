import Foundation
import TestSupport
import Testing
import UserStore
import UserStoreFoundation

/// Days in the calendar as attribute values.
@Suite(.bounded, .serialized) struct CalendarDayTests {
  private static let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  private func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  @Test func `exactly the days of the Gregorian calendar exist`() {
    for year in [1, 4, 100, 400, 1582, 1700, 1900, 1999, 2000, 2001, 2004, 9996, 9999] {
      for month in -1...14 {
        for day in -1...33 {
          let length = 1...12 ~= month ? Self.lengths[month - 1] + (month == 2 && isLeap(year) ? 1 : 0) : 0
          let exists = day >= 1 && day <= length
          #expect((CalendarDay(year: year, month: month, day: day) != nil) == exists, "\(year)-\(month)-\(day)")
        }
      }
    }
    for year in [Int.min, -1, 0, 10_000, .max] { #expect(CalendarDay(year: year, month: 1, day: 1) == nil) }
  }

  @Test func `the text is the one that was read, and sorts as the days do`() {
    var texts: [String] = []
    for year in [1, 9, 10, 99, 100, 999, 1000, 1582, 1969, 2000, 2001, 9999] {
      for month in 1...12 {
        for day in [1, 9, 10, 28] {
          guard let day = CalendarDay(year: year, month: month, day: day) else { Issue.record("no day"); return }
          #expect(CalendarDay(day.description) == day && CalendarDay(storedValue: day.storedValue) == day)
          texts.append(day.description)
        }
      }
    }
    #expect(texts == texts.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    let days = texts.compactMap { CalendarDay($0) }
    #expect(days.shuffled().sorted() == days)
    #expect(texts.first == "0001-01-01" && texts.allSatisfy { $0.utf8.count == 10 })
  }

  @Test(arguments: [
    "", "2001", "2001-05", "2001-5-17", "2001-05-17 ", " 2001-05-17", "2001-05-17Z", "01-05-2001", "2001/05/17",
    "20010517",
    "2001-02-29", "2001-13-01", "2001-00-10", "0000-01-01", "-001-01-01", "+001-01-01", "2001--5-17", "２００１-05-17",
    "2001-05-1７", "2001-05-17\u{0}", "2001-05-17T00:00:00Z", "10000-01-01", "2001-05-17-", "\u{301}001-05-17",
  ])
  func `any other text is not a day`(text: String) {
    #expect(CalendarDay(text) == nil)
    #expect(CalendarDay(storedValue: .text(text)) == nil)
  }

  @Test func `other values are not days`() {
    for value in [StoredValue.null, .integer(20_010_517), .real(1), .blob(Array("2001-05-17".utf8))] {
      #expect(CalendarDay(storedValue: value) == nil)
    }
  }

  @Test func `the day of a date depends on the time zone, before 1582 too`() throws {
    let utc = try #require(TimeZone(secondsFromGMT: 0))
    // Every first and last day of a month, counted without the calendar of Foundation.
    var days = -719_162
    for year in 1...9_999 where year < 1_600 || year % 7 == 0 || year > 9_990 {
      days = -719_162 + (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400
      for month in 1...12 {
        let length = Self.lengths[month - 1] + (month == 2 && isLeap(year) ? 1 : 0)
        for day in [1, length] {
          let date = Date(timeIntervalSince1970: Double(days + day - 1) * 86_400)
          let found = CalendarDay(date, in: utc)
          if found != CalendarDay(year: year, month: month, day: day) {
            Issue.record("\(year)-\(month)-\(day): \(found as Any)")
          }
        }
        days += length
      }
    }
    let moment = Date(timeIntervalSince1970: 990_057_600)  // 2001-05-17T00:00:00Z
    #expect(CalendarDay(moment, in: utc)?.description == "2001-05-17")
    #expect(CalendarDay(moment - 0.001, in: utc)?.description == "2001-05-16")
    #expect(CalendarDay(moment, in: try #require(TimeZone(secondsFromGMT: -3_600)))?.description == "2001-05-16")
    #expect(
      CalendarDay(moment + 82_800, in: try #require(TimeZone(secondsFromGMT: 3_600)))?.description == "2001-05-18")
    for seconds in [
      -62_135_596_801, 253_402_300_800, -1e30, 1e30, 7.968_993_439_842_525e23, -7.968_993_439_842_525e23, .infinity,
      .nan,
    ] {
      #expect(CalendarDay(Date(timeIntervalSince1970: seconds), in: utc) == nil)
    }
    #expect(CalendarDay(Date(timeIntervalSince1970: 253_402_300_799.9), in: utc)?.description == "9999-12-31")
  }

  @Test func `as JSON, a day is its text`() throws {
    let days = [CalendarDay(year: 2001, month: 5, day: 17)]
    let data = try JSONEncoder().encode(days)
    #expect(String(decoding: data, as: UTF8.self) == #"["2001-05-17"]"#)
    #expect(try JSONDecoder().decode([CalendarDay?].self, from: data) == days)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CalendarDay].self, from: Data(#"["2001-02-29"]"#.utf8))
    }
  }

  @Test func `queries compare and sort days`() throws {
    let birthday = Attribute<CalendarDay>("birthday")
    let store = try UserStore.inMemory()
    let texts = ["2001-05-17", "0987-12-31", "1969-07-20", "2001-05-16"]
    try store.write { users in
      for text in texts { try users.set(birthday, of: users.add(name: text), to: CalendarDay(text)) }
    }
    let limit = try #require(CalendarDay(year: 1969, month: 7, day: 20))
    let names = try store.read { users in
      try users.users(matching: .init(where: birthday >= limit, sortedBy: [.ascending(birthday)])).map { try $0.name }
    }
    #expect(names == ["1969-07-20", "2001-05-16", "2001-05-17"])
  }
}

import Fuzzing
import UserStore
import UserStoreFoundation

@testable import UserToolCommands

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Dates as values, and the times of the log.
enum Dates {
  static func test(_ input: [UInt8]) {
    if let date = Date(storedValue: .text(String(decoding: input, as: UTF8.self))) { check(date) }
    var parts = Parts(input)
    let number = parts.integer()
    checkTimes(number)
    let seconds = Double(bitPattern: UInt64(bitPattern: number))
    if seconds.isFinite { check(Date(timeIntervalSince1970: seconds)) }
  }

  private static func check(_ date: Date) {
    let stored = date.storedValue
    guard let again = Date(storedValue: stored) else {
      // ISO 8601 has no form for years of five digits.
      return expect(!years.contains(date), "\(date.timeIntervalSince1970) is stored as \(stored), which is not a date")
    }
    if years.contains(date) {
      expect(abs(again.timeIntervalSince(date)) < 0.001, "\(date.timeIntervalSince1970) is read as \(again)")
      expect(again.storedValue == stored, "\(stored) becomes \(again.storedValue)")
    }
  }

  private static let years = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_799)

  private static func checkTimes(_ milliseconds: Int64) {
    let time = Timestamp(milliseconds: milliseconds)
    for text in [time.utc, time.local, time.localTime] { Readable.check(text, "the time \(milliseconds)") }
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    // Before 1582 Foundation uses another calendar.
    if years.contains(date), milliseconds > -12_000_000_000_000, let again = Date(storedValue: .text(time.utc)) {
      expect(abs(again.timeIntervalSince(date)) < 0.001, "\(milliseconds) is printed as \(time.utc)")
    }
  }
}

public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A day in the calendar, without a time and a time zone, such as a birthday or the day of a contract.
///
///     extension Attribute where Value == CalendarDay {
///       static var birthday: Attribute { Attribute("birthday") }
///     }
///     try users.set(.birthday, of: zoe, to: CalendarDay(year: 2001, month: 5, day: 17))
///
/// It is stored as text such as `2001-05-17`, which sorts as the days do, also in queries and in the `sqlite3` shell. The
/// calendar is the Gregorian one, even for the time before its introduction, with the years 1 to 9999. A `Date`, in contrast, is
/// a moment, and its day depends on the time zone.
public struct CalendarDay: Hashable, Sendable {
  /// The year, from 1 to 9999.
  public let year: Int
  /// The month, from 1 to 12.
  public let month: Int
  /// The day of the month, from 1.
  public let day: Int

  /// Creates a day; nil if the calendar has no such day, such as February 29 in 2001.
  public init?(year: Int, month: Int, day: Int) {
    guard Self.years.contains(year), 1...12 ~= month, day >= 1, day <= Self.length(of: month, in: year) else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Creates the day of a date in a time zone; nil if its year is not from 1 to 9999.
  public init?(_ date: Date, in timeZone: TimeZone) {
    let seconds = date.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: date))
    guard let days = Int(exactly: (seconds / 86_400).rounded(.down)) else { return nil }
    self.init(daysSince1970: days)
  }

  private static let years = 1...9_999

  private static func length(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Counts in years from March to February: their last day is the leap day, and their lengths repeat every 400 years.
  private init?(daysSince1970 days: Int) {
    guard -719_468...2_932_896 ~= days else { return nil }
    // Days since the first of March in the year 0.
    let count = days + 719_468
    let (period, inPeriod) = count.quotientAndRemainder(dividingBy: 146_097)
    let years = (inPeriod - inPeriod / 1_460 + inPeriod / 36_524 - inPeriod / 146_096) / 365
    let inYear = inPeriod - (365 * years + years / 4 - years / 100)
    // From March on, the months have 31, 30, 31, 30 and 31 days, and again.
    let months = (5 * inYear + 2) / 153
    let month = months < 10 ? months + 3 : months - 9
    self.init(
      year: 400 * period + years + (month <= 2 ? 1 : 0), month: month, day: inYear - (153 * months + 2) / 5 + 1)
  }
}

extension CalendarDay: Comparable {
  /// Whether the left day is before the right one.
  public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

extension CalendarDay: LosslessStringConvertible {
  /// Creates a day from text such as `2001-05-17`; nil for anything else, such as `2001-5-17`.
  public init?(_ text: String) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.map(\.utf8.count) == [4, 2, 2], text.utf8.allSatisfy({ $0 == 0x2D || 0x30...0x39 ~= $0 }) else {
      return nil
    }
    let numbers = fields.compactMap { Int($0) }
    self.init(year: numbers[0], month: numbers[1], day: numbers[2])
  }

  /// The day as text such as `2001-05-17`.
  public var description: String {
    func padded(_ number: Int, to width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: width - digits.utf8.count) + digits
    }
    return padded(year, to: 4) + "-" + padded(month, to: 2) + "-" + padded(day, to: 2)
  }
}

extension CalendarDay: AttributeValue {
  /// The day as text.
  public var storedValue: StoredValue { .text(description) }

  /// Creates a day from a stored value; nil if it is not text such as `2001-05-17`.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self.init(text)
  }
}

extension CalendarDay: Codable {
  /// Decodes text such as `2001-05-17`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let day = CalendarDay(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "“\(text.prefix(40))” is not a day such as 2001-05-17")
    }
    self = day
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

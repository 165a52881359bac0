/// A time in milliseconds since 1970, and its text.
package struct Timestamp {
  package let milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// UTC as in RFC 3339: `2026-11-21T05:20:11.482Z`.
  package var utc: String {
    let (date, time) = parts(offset: 0)
    return "\(date)T\(time).\(Self.pad(Self.divide(milliseconds, 1_000).rest, 3))Z"
  }

  /// Reads the text of `utc`; nil for any other text.
  package init?(utc text: String) {
    // The year may have a sign and more than four digits; the rest has a fixed length.
    let rest = "-MM-DDTHH:MM:SS.mmmZ".utf8.count
    guard text.utf8.count > rest, text.utf8.allSatisfy({ $0 < 0x80 }), let year = Int64(text.dropLast(rest)) else {
      return nil
    }
    let fields = text.suffix(rest).dropFirst().split { "-T:.Z".contains($0) }.map { Int64($0) ?? -1 }
    // No time of 64 bits has a larger year: beyond it the numbers of days could overflow.
    guard fields.count == 6, year.magnitude < 1_000_000_000 else { return nil }
    let day = Self.day(year: year, month: fields[0], day: fields[1])
    let second = Int128(day) * 86_400 + Int128(fields[2] * 3_600 + fields[3] * 60 + fields[4])
    guard let milliseconds = Int64(exactly: second * 1_000 + Int128(fields[5])) else { return nil }
    self.init(milliseconds: milliseconds)
    // Each time has one text, so that a day or an hour that does not exist is refused too.
    if !utc.hasSameBytes(as: text) { return nil }
  }

  /// The time in seconds, rounded down, also before 1970.
  package var second: Int64 { Self.divide(milliseconds, 1_000).quotient }

  /// The date and the time of day, which is `offset` seconds ahead of UTC.
  package func parts(offset: Int64) -> (date: String, time: String) {
    let (day, rest) = Self.divide(second + offset, 86_400)
    let time = [rest / 3_600, rest / 60 % 60, rest % 60].map { Self.pad($0, 2) }.joined(separator: ":")
    return (Self.date(ofDay: day), time)
  }

  /// The Gregorian date of a day counted from 1970-01-01; years start in March, so that the leap day is the last day.
  private static func date(ofDay day: Int64) -> String {
    let shifted = day + 719_468
    let (era, dayOfEra) = divide(shifted, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return [pad(year, 4), pad(month, 2), pad(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2)].joined(separator: "-")
  }

  /// The day of a Gregorian date, counted from 1970-01-01.
  private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = divide(month <= 2 ? year - 1 : year, 400)
    let shiftedMonth = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Divides and rounds down, without overflow for the smallest number, which another program may have stored in the log.
  private static func divide(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  private static func pad(_ number: Int64, _ length: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, length - digits.count)) + digits
  }
}

import Foundation
import Testing
import UserStore
import UserStoreFoundation

/// Dates as attribute values.
@Suite(.bounded) struct DateTests {
  @Test func `every millisecond is stored and read back exactly`() {
    for second in [-62_135_596_800, -1, 0, 16_437_987, 1_795_238_411, 253_402_300_798] {
      for millisecond in 0..<1_000 {
        let date = Date(timeIntervalSince1970: Double(second) + Double(millisecond) / 1_000)
        let stored = date.storedValue
        guard case .text(let text) = stored else { Issue.record("\(stored)"); return }
        let digits = String(1_000 + millisecond).dropFirst()
        #expect(text.hasSuffix(".\(digits)Z"), "\(second) and \(millisecond) ms: \(text)")
        #expect(Date(storedValue: stored)?.storedValue == stored)
      }
    }
  }

  @Test func `a date is rounded to milliseconds`() {
    #expect(Date(timeIntervalSince1970: 0.000_6).storedValue == .text("1970-01-01T00:00:00.001Z"))
    #expect(Date(timeIntervalSince1970: 0.000_4).storedValue == .text("1970-01-01T00:00:00.000Z"))
    #expect(Date(timeIntervalSince1970: 0.999_9).storedValue == .text("1970-01-01T00:00:01.000Z"))
  }

  @Test func `text without a fraction is a date, other values are not`() {
    #expect(Date(storedValue: .text("1970-01-01T00:00:07Z")) == Date(timeIntervalSince1970: 7))
    for value in [StoredValue.null, .integer(7), .text("yesterday"), .text(""), .blob([])] {
      #expect(Date(storedValue: value) == nil)
    }
  }
}

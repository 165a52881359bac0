import Foundation
import TestSupport
import Testing
import UserStore
import UserStoreFoundation

/// Dates as attribute values.
@Suite(.bounded, .serialized) struct DateTests {
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

  @Test func `a storable date is the one that is read back, and differs by at most half a millisecond`() throws {
    var random = SplitMix64(seed: Seed.base)
    let birth = Attribute<Date>("birth")
    let store = try UserStore.inMemory()
    let id = try store.write { try $0.add(name: "Zoë") }
    for number in 0..<3_000 {
      // From the year 1 to the year 9999, and around today, where most dates are.
      let seconds =
        number % 2 == 0
        ? Double.random(in: -62_135_596_800...253_402_300_799, using: &random)
        : Double.random(in: 1e9...2e9, using: &random)
      let date = Date(timeIntervalSince1970: seconds)
      let storable = date.storable
      #expect(Date(storedValue: date.storedValue) == storable && storable.storable == storable, "\(seconds)")
      #expect(storable.storedValue == date.storedValue)
      #expect(abs(storable.timeIntervalSince(date)) <= 0.000_5 + 0.000_1, "\(seconds)")
      if number % 100 != 0 { continue }
      try store.write { try $0.set(birth, of: id, to: date) }
      #expect(try store.read { try $0.value(birth, of: id) } == storable)
    }
    #expect(
      Date(timeIntervalSince1970: 1_000_000_000.123_4) != Date(timeIntervalSince1970: 1_000_000_000.123_4).storable)
  }

  @Test func `text without a fraction is a date, other values are not`() {
    #expect(Date(storedValue: .text("1970-01-01T00:00:07Z")) == Date(timeIntervalSince1970: 7))
    for value in [StoredValue.null, .integer(7), .text("yesterday"), .text(""), .blob([])] {
      #expect(Date(storedValue: value) == nil)
    }
  }

  @Test func `a change and a consumer have the date of their timestamp`() async throws {
    let store = try UserStore.forTests()
    _ = try await store.consumer("mailer")
    try await store.write { try $0.add(name: "NIX") }
    let change = try #require(try await store.page(after: nil).first?.changes.first)
    let consumer = try #require(try await store.read { try $0.consumers() }.first)
    for (date, timestamp) in [(change.date, change.timestamp), (consumer.date, consumer.timestamp)] {
      #expect(Int64((date.timeIntervalSince1970 * 1_000).rounded()) == timestamp)
      #expect(timestamp > 1_700_000_000_000)
    }
  }
}

import TestSupport
import Testing
import UserStore
import UserStoreText

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Numbers in CSV` {
  private func value(_ text: String) throws -> StoredValue { try CSVField.decode(text, of: "k").value }

  @Test func `a field is a number only if the number is written as the same text`() throws {
    for (text, number) in [
      ("41", .integer(41)), ("-7", .integer(-7)), ("0", .integer(0)), ("1.5", .real(1.5)), ("1.0", .real(1)),
      (" 41\u{A0}", .integer(41)), ("1e999", .real(.infinity)), ("9223372036854775807", .integer(.max)),
      ("1e+16", .real(1e16)),
    ] as [(String, StoredValue)] { #expect(try value(text) == number, "\(text)") }
    for text in [
      "01067", "0612345678", "+49", "12e5", "0e12345", "1.50", "-0", "-0.0", "1E5", "1.", ".5", "1,5", "1 000",
      "12345678901234567890", "9223372036854775808", "0.1000000000000000055", "1e400", "true", "false", "TRUE", "NaN",
      "inf", "0x10", "2024-01-01", " x ", "  ", "4 1", "٤١",
    ] { #expect(try value(text) == .text(text), "\(text)") }
  }

  @Test func `random digits and signs keep their spelling`() throws {
    for seed in (0..<20_000).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        random.choose("0", "1", "9", "5", "-", ".", "e", "+", "E")
      }.joined()
      let read = try value(text)
      #expect(read == .text(text) || read.bare == text, "seed \(seed): \(text)")
      // An export writes it so that it is read as the same value.
      for stored in [read, .text(text)] {
        let field = String(decoding: CSVField.encode(stored, of: "k"), as: UTF8.self)
        #expect(try value(field) == stored, "seed \(seed): \(field)")
      }
    }
  }

  @Test func `a column with a type has values of this type, or is an error that suggests another`() throws {
    let good: [(CSVType, String, StoredValue)] = [
      (.text, ":=x", .text(":=x")), (.text, " 41", .text(" 41")),
      (.text, "{\"base64\":\"AA==\"}", .text("{\"base64\":\"AA==\"}")),
      (.integer, "007", .integer(7)), (.integer, " +5 ", .integer(5)), (.real, "12e5", .real(1_200_000)),
      (.real, "1", .real(1)), (.real, ".5", .real(0.5)), (.real, "1e999", .real(.infinity)), (.real, "-0", .real(0)),
      (.decimalComma, "1,5", .real(1.5)), (.decimalComma, "-12", .real(-12)),
      (.decimalComma, "1\u{202F}234,50", .real(1234.5)), (.decimalComma, "-1\u{A0}234\u{A0}567", .real(-1_234_567)),
      (.decimalComma, "1 234,5", .real(1234.5)), (.decimalComma, "1'234,5", .real(1234.5)),
      (.decimalComma, "1.234,56", .real(1234.56)), (.decimalComma, "-1.234.567", .real(-1_234_567)),
      (.decimalComma, "+12.345", .real(12_345)), (.boolean, "WAHR", .integer(1)),
      (.boolean, "FAUX", .integer(0)), (.boolean, "yes", .integer(1)), (.boolean, "0", .integer(0)),
    ]
    for (type, text, expected) in good { #expect(try type.value(of: text) == expected, "\(type) \(text)") }
    let bad: [(CSVType, String, String)] = [
      (.integer, "x", "\"x\" is not an integer of 64 bits"), (.integer, "1.5", "of the type real"),
      (.integer, "99999999999999999999", "of the type real"), (.real, "1,5", "of the type decimal-comma"),
      (.real, "nan", "is not a real number"), (.real, "inf", "is not"), (.real, "0x1p3", "is not"),
      (.real, "1e400", "is not"), (.real, "", "is not"), (.decimalComma, "1.5", "of the type real"),
      (.decimalComma, "1.23,5", "is not"), (.decimalComma, "1234.567", "is not"),
      (.decimalComma, "0.123", "of the type real"),
      (.decimalComma, "1.234.56", "is not"), (.decimalComma, ".123", "is not"), (.decimalComma, "1,234.567", "is not"),
      (.decimalComma, "1..234", "is not"), (.decimalComma, "1.234,", "is not"), (.decimalComma, "1.234e5", "is not"),
      (.decimalComma, "1.234,5e1", "is not"), (.decimalComma, "1.234,5,6", "is not"),
      (.decimalComma, "--1.234", "is not"), (.decimalComma, "1.-23", "is not"), (.boolean, "2", "true or false"),
    ]
    for (type, text, words) in bad {
      let error = #expect(throws: (any Error).self, "\(type) \(text)") { try type.value(of: text) }
      #expect(String(describing: error).contains(words), "\(type) \(text): \(String(describing: error))")
    }
  }
}

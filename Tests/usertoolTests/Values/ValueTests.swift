import Testing
import UserStore

@testable import usertool

@Suite struct `Values of the tool` {
  @Test func `times are in the Gregorian calendar, also before 1970 and on leap days`() {
    let cases: [(Int64, String)] = [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (1_795_238_411_482, "2026-11-21T05:20:11.482Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
      // Another program can store these; they must not crash the tool.
      (.min, "-292275055-05-16T16:47:04.192Z"), (.max, "292278994-08-17T07:12:55.807Z"),
    ]
    for (milliseconds, text) in cases { #expect(Timestamp(milliseconds: milliseconds).utc == text) }
  }

  @Test func `bytes survive base64, and invalid base64 is rejected`() {
    for count in 0..<20 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 77) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
    #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy")
    for text in ["A", "AB", "AB=", "A===", "AA=A", "AB==", "*AAA", "AAAA="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }

  @Test func `numbers follow the JSON grammar`() {
    for text in ["0", "-0", "10", "-7", "1.5", "0.5", "1e9", "1E+9", "-1.5e-3"] {
      #expect(TypedText.isNumber(text), "\(text)")
    }
    for text in ["", "-", "+1", "01", "-01", "1.", ".5", "1e", "0x1", "1 ", "NaN", "inf", "1_0", "١"] {
      #expect(!TypedText.isNumber(text), "\(text)")
    }
  }

  @Test func `real numbers read back as themselves`() {
    for _ in 0..<1_000 {
      let real = Double(bitPattern: .random(in: .min ... .max))
      if real.isNaN { continue }
      #expect(Double(JSON.text(of: real)) == real)
    }
  }

  @Test func `JSON escapes control characters, and keeps the order of members`() {
    let json = JSON.object([
      ("b", .text("\"\\\n\u{1}\u{7F}\u{85}é\u{1F600}")), ("a", .list([.null, .bool(true), .real(0.1)])),
    ])
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == "{\"b\":\"\\\"\\\\\\n\\u0001\\u007f\\u0085é\u{1F600}\",\"a\":[null,true,0.1]}")
  }

  @Test func `only similar words are suggested`() {
    let commands = ["rename", "remove", "get", "set"]
    #expect(Suggestion.nearest(to: "renmae", among: commands) == "rename")
    #expect(Suggestion.nearest(to: "GET", among: commands) == "get")
    #expect(Suggestion.nearest(to: "frobnicate", among: commands) == nil)
    #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
    #expect(Suggestion.distance([], Array("abc")) == 3)
  }

  @Test func `characters that disguise a name are escaped, emoji variations are not`() {
    #expect("Zoë 日本 e\u{301}".shown == "Zoë 日本 e\u{301}")
    #expect("❤\u{FE0F}".shown == "❤\u{FE0F}")
    #expect("a\u{FE0F}".shown == "a\\u{FE0F}")
    #expect("\u{2028}\u{AD}\u{3164}\u{FEFF}".shown == "\\u{2028}\\u{AD}\\u{3164}\\u{FEFF}")
    #expect(Shown.text(ofInvalid: [0x61, 0xC3, 0xA9, 0xC3, 0x0A, 0xFF]) == "aé\\xc3\\n\\xff")
  }

  @Test func `the width of text is counted in columns of a terminal`() {
    #expect("日本".columns == 4)
    #expect("e\u{301}x".columns == 2)
    #expect("😀".columns == 2)
  }

  @Test func `a sign before a combining accent is still the sign`() throws {
    for text in ["\u{301}", "\u{301}41", ":=\u{301}"] {
      #expect(try Assignment(argument: "k=" + text)?.value() == .text(text))
      #expect(try Assignment(argument: "k:=" + text)?.value() == .text(text))
      #expect(try CSVField.decode(":=" + text, of: "k") == .text(text))
      #expect(UserReference(argument: "name:" + text).name.unicodeScalars.elementsEqual(text.unicodeScalars))
      #expect(StandIn(argument: "A=" + text)?.attribute == AttributeName(text))
    }
  }

  @Test func `names with different bytes are different columns`() {
    var printed = Record(fields: [("caf\u{E9}", .integer(1)), ("cafe\u{301}", .integer(2))])
    #expect(printed.csv(["cafe\u{301}", "caf\u{E9}"]) == "2,1")
    printed.fields.removeFirst()
    #expect(printed.csv(["cafe\u{301}", "caf\u{E9}"]) == "2,")
  }

  @Test func `durations have units, and are seconds without one`() {
    #expect(Timespan(argument: "30s")?.duration == .seconds(30))
    #expect(Timespan(argument: "500ms")?.duration == .milliseconds(500))
    #expect(Timespan(argument: "1.5m")?.duration == .seconds(90))
    #expect(Timespan(argument: "2")?.duration == .seconds(2))
    #expect(Timespan(argument: "30d")?.duration == .seconds(30 * 86_400))
    for text in ["", "s", "-1s", "nan", "1w", "inf"] { #expect(Timespan(argument: text) == nil, "\(text)") }
  }

  @Test func `error codes of the store have their exit codes`() {
    #expect(ExitStatus(.busy) == .busy)
    #expect(ExitStatus(.schemaTooNew) == .badData)
    #expect(ExitStatus(.compacted) == .history)
    #expect(ExitStatus(.diskFull) == .failure)
  }
}

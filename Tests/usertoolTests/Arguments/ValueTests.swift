import Testing
import UserStore
import UserStoreText

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Values of the tool` {
  @Test func `numbers follow the JSON grammar`() {
    for text in ["0", "-0", "10", "-7", "1.5", "0.5", "1e9", "1E+9", "-1.5e-3"] {
      #expect(JSON.isNumber(text), "\(text)")
    }
    for text in ["", "-", "+1", "01", "-01", "1.", ".5", "1e", "0x1", "1 ", "NaN", "inf", "1_0", "١"] {
      #expect(!JSON.isNumber(text), "\(text)")
    }
  }

  @Test func `only similar words are suggested`() {
    let commands = ["rename", "remove", "get", "set"]
    #expect(Suggestion.nearest(to: "renmae", among: commands) == "rename")
    #expect(Suggestion.nearest(to: "GET", among: commands) == "get")
    #expect(Suggestion.nearest(to: "frobnicate", among: commands) == nil)
    #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
    #expect(Suggestion.distance([], Array("abc")) == 3)
    for (left, right, count) in [
      ("age", "aeg", 1), ("age", "page", 1), ("ab", "bx", 2), ("ab", "xa", 2), ("ca", "abc", 3),
    ] {
      #expect(Suggestion.distance(Array(left), Array(right)) == count, "\(left), \(right)")
      #expect(Suggestion.distance(Array(right), Array(left)) == count, "\(right), \(left)")
    }
  }

  @Test func `characters that disguise a name are escaped, emoji variations are not`() {
    #expect("Zoë 日本 e\u{301}".shown == "Zoë 日本 e\u{301}")
    #expect("❤\u{FE0F}".shown == "❤\u{FE0F}")
    for emoji in ["👨\u{200D}👩\u{200D}👧", "❤\u{FE0F}\u{200D}🔥", "👩🏽\u{200D}⚕\u{FE0F}"] { #expect(emoji.shown == emoji) }
    #expect("a\u{200D}b👩\u{200D}c\u{200D}👩".shown == "a\\u{200D}b👩\\u{200D}c\\u{200D}👩")
    #expect("👨\u{200D}\u{200D}👩👨\u{200D}".shown == "👨\\u{200D}\\u{200D}👩👨\\u{200D}")
    #expect("a\u{FE0F}".shown == "a\\u{FE0F}")
    #expect("\u{2028}\u{AD}\u{3164}\u{FEFF}".shown == "\\u{2028}\\u{AD}\\u{3164}\\u{FEFF}")
    #expect(Shown.text(ofInvalid: [0x61, 0xC3, 0xA9, 0xC3, 0x0A, 0xFF]) == "aé\\xc3\\n\\xff")
  }

  @Test func `as plain text, only control characters and the backslash are escaped`() throws {
    for value in UInt32(0)...0x300 {
      let text = "a\(try #require(Unicode.Scalar(value)))"
      let isEscaped = value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x5C
      #expect((Shown.plain(text) != text) == isEscaped, "\(value)")
    }
    #expect(Shown.plain("\u{7F}\u{85}\n\t\\é") == "\\u{7F}\\u{85}\\n\\t\\\\é")
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
      #expect(try CSVField.decode(":=" + text, of: "k").value == .text(text))
      #expect(UserReference(argument: "name:" + text).name.unicodeScalars.elementsEqual(text.unicodeScalars))
      #expect(StandIn(argument: "A=" + text)?.attribute == AttributeName(text))
    }
  }

  @Test func `names with different bytes are different columns`() {
    var printed = Record(fields: [("caf\u{E9}", .integer(1)), ("cafe\u{301}", .integer(2))])
    #expect(printed.csv(["cafe\u{301}", "caf\u{E9}"], isTerminal: false) == "2,1")
    printed.fields.removeFirst()
    #expect(printed.csv(["cafe\u{301}", "caf\u{E9}"], isTerminal: false) == "2,")
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

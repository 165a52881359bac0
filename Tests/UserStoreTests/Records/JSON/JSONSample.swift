import Testing
import UserStore

/// A value, its JSON text, and the value after Foundation has encoded and decoded it.
struct JSONSample: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let value: StoredValue
  let json: String
  /// The value after encoding and decoding; nil if Foundation refuses it.
  let decoded: StoredValue?

  /// A value that is decoded unchanged.
  init(_ testDescription: String, _ value: StoredValue, _ json: String) {
    self.init(testDescription, value, json, decodedAs: value)
  }

  private init(_ testDescription: String, _ value: StoredValue, _ json: String, decodedAs decoded: StoredValue?) {
    self.testDescription = testDescription
    self.value = value
    self.json = json
    self.decoded = decoded
  }

  static let all: [JSONSample] =
    exact + [
      JSONSample("1.0", .real(1), "1.0", decodedAs: .integer(1)),
      JSONSample("-0.0", .real(-0.0), "-0.0", decodedAs: .integer(0)),
      JSONSample("2^53 as a real number", .real(0x1p53), "9007199254740992.0", decodedAs: .integer(1 << 53)),
      JSONSample(
        "2^60 as a real number", .real(0x1p60), "1.152921504606847e+18", decodedAs: .integer(1_152_921_504_606_847_000)),
      JSONSample("∞", .real(.infinity), "1e999", decodedAs: nil),
      JSONSample("-∞", .real(-.infinity), "-1e999", decodedAs: nil),
      JSONSample("text that is not UTF-8", .invalidText([0x61, 0xFF, 0x62]), #"{"text_base64":"Yf9i"}"#),
      JSONSample("half a control character", .invalidText([0xC2]), #"{"text_base64":"wg=="}"#),
    ]

  private static let exact: [JSONSample] = [
    JSONSample("null", .null, "null"),
    JSONSample("the largest integer", .integer(.max), "9223372036854775807"),
    JSONSample("the smallest integer", .integer(.min), "-9223372036854775808"),
    JSONSample("an integer that is no Double", .integer(1 << 53 + 1), "9007199254740993"),
    JSONSample("0.1", .real(0.1), "0.1"),
    JSONSample("the smallest real number", .real(.leastNonzeroMagnitude), "5e-324"),
    JSONSample("the largest real number", .real(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
    JSONSample("2^63 as a real number", .real(0x1p63), "9.223372036854776e+18"),
    JSONSample("-2^64 as a real number", .real(-0x1p64), "-1.8446744073709552e+19"),
    JSONSample("no text", .text(""), "\"\""),
    JSONSample("quotes and slashes", .text("\"\\/"), #""\"\\/""#),
    JSONSample("NUL", .text("a\u{0}b"), #""a\u0000b""#),
    JSONSample(
      "control characters", .text("\u{1}\u{8}\t\n\u{B}\u{C}\r\n\u{1F}\u{7F}"),
      #""\u0001\u0008\t\n\u000b\u000c\r\n\u001f\u007f""#),
    JSONSample(
      "C1 control characters", .text("\u{7F}\u{80}\u{85}\u{9F}\u{A0}"), "\"\\u007f\\u0080\\u0085\\u009f\u{A0}\""),
    JSONSample(
      "bidi controls", .text("\u{61C}\u{200E}\u{200F}\u{202A}\u{202E}\u{2066}\u{2069}"),
      #""\u061c\u200e\u200f\u202a\u202e\u2066\u2069""#),
    JSONSample(
      "neighbors of bidi controls", .text("\u{61B}\u{61D}\u{200D}\u{2010}\u{2029}\u{202F}\u{2065}\u{206A}\u{69C}"),
      "\"\u{61B}\u{61D}\u{200D}\u{2010}\u{2029}\u{202F}\u{2065}\u{206A}\u{69C}\""),
    JSONSample("line separators", .text("\u{2028}\u{2029}"), "\"\u{2028}\u{2029}\""),
    JSONSample("accents after a quote and a backslash", .text("\"\u{301}\\\u{301}"), "\"\\\"\u{301}\\\\\u{301}\""),
    JSONSample("an accent first", .text("\u{301}"), "\"\u{301}\""),
    JSONSample("a composed letter", .text("\u{E9}"), "\"\u{E9}\""),
    JSONSample("a decomposed letter", .text("e\u{301}"), "\"e\u{301}\""),
    JSONSample(
      "emoji", .text("\u{1F9D1}\u{200D}\u{1F680}\u{1F1E9}\u{1F1EA}"), "\"\u{1F9D1}\u{200D}\u{1F680}\u{1F1E9}\u{1F1EA}\""
    ),
    JSONSample("the last scalars", .text("\u{FFFF}\u{10FFFF}"), "\"\u{FFFF}\u{10FFFF}\""),
    JSONSample("text that looks like data", .text(#"{"base64":"AA=="}"#), #""{\"base64\":\"AA==\"}""#),
    JSONSample("no bytes", .blob([]), #"{"base64":""}"#),
    JSONSample("bytes", .blob([0, 0xFF]), #"{"base64":"AP8="}"#),
  ]
}

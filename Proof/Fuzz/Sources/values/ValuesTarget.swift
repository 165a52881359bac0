import Fuzzing
import UserStore

@testable import UserToolCommands

/// Values stay the same when they are typed, stored, printed, exported, and read again.
@main struct ValuesTarget: FuzzTarget {
  /// The kinds of input, by the first byte.
  private static let kinds: [@Sendable ([UInt8]) -> Void] = [
    TypedValues.test, Colors.test, Numbers.test, Base64Text.test, Dates.test, JSONRecords.test, CSVRecords.test,
    RecordTexts.test, QueryTexts.test,
  ]

  static var seeds: [[UInt8]] {
    let texts: [(UInt8, [String])] = [
      (
        0, ["age=41", "x:=41", "ratio=-0.0", "e=1e308", "big=9223372036854775807", "d={\"base64\":\"AP8=\"}", "t=true"]
      ),
      (1, ["#a52a2a", "AUBURN", "#A52a2A", "#ａ52a2a", "grey\u{301}"]),
      (3, ["AP8=", "AA==", "AB==", "A===", "QUJD"]),
      (4, ["2026-11-21T05:20:11.482Z", "2026-11-21T05:20:11Z", "\u{1}\u{2}\u{3}\u{4}"]),
      (
        5,
        [
          #"{"name":"Zoë","hair_color":"auburn","age":41,"w":1.0,"b":{"base64":"AP8="}}"#,
          #"{"id":7,"name":"\u00e9\ud83d\ude00","x":null,"i":{"text_base64":"/w=="}}"# + "\n{}\n",
        ]
      ),
      (
        6,
        ["id,name,hair_color,age\n1,Zoë,#a52a2a,41\n2,\"a\"\"b\n,c\",,:=41\n", "name\n{\"base64\":\"AP8=\"}\n:=\r\n"]
      ),
      (7, [#"{"id":7,"name":"\u00e9\ud83d\ude00","hair_color":"auburn","w":1.0,"i":{"text_base64":"/w=="}}"#, "{\n}"]),
      (
        8,
        [
          "age>=18 and age<30", "room:=007", "age=>18", "18<age<30", "hair_color=aubrun", "age!>18", "\nage,name:desc",
          "\nage\n{\"age:asc\":41,\"id\":7}", "\n\n20",
        ]
      ),
    ]
    return texts.flatMap { kind, texts in texts.map { [kind] + Array($0.utf8) } }
      + [[2, 0, 0, 0, 0, 0, 0, 0, 0x80], [2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xEF, 0x7F]]
  }

  static let words = [
    "name", "hair_color", "hair-color", "id", "{\"base64\":\"", "{\"text_base64\":\"", "\"}", ":=", "1e999", "-1e999",
    "1e-400", "9223372036854775808", "true", "null", "\\u0000", "\\ud800", "\\udc00", "\r\n", "\"\"", "\u{FEFF}",
    "\u{301}",
  ]

  static func test(_ input: [UInt8]) {
    guard let kind = input.first, Int(kind) < kinds.count else { return }
    kinds[Int(kind)](Array(input.dropFirst()))
  }
}

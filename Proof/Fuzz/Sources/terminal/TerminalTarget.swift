import Fuzzing
import UserStore

@testable import UserToolCommands

/// Names and values that another program may have stored, in every layout of the tool.
@main struct TerminalTarget: FuzzTarget {
  static var seeds: [[UInt8]] {
    let texts = [
      "Zoë", "a\u{1B}[2Jb", "\u{202E}evil", "z\u{200B}w", "\u{1F468}\u{200D}\u{1F469}", "❤\u{FE0F}",
      "tab\tline\nreturn\r",
      "\u{9B}31m", "quote\"comma,", "\u{0}", "日本語", "e\u{301}\u{301}", "=1+1", "{\"base64\":\"AP8=\"}", "#a52a2a",
    ]
    return (0...5).flatMap { (layout: UInt8) -> [[UInt8]] in
      texts.map { text -> [UInt8] in
        let field = [UInt8(text.utf8.count)] + Array(text.utf8)
        let others: [[UInt8]] = [
          [layout], field, [3], field, field, [4, 3, 0xFF, 0xC2, 0x41], field, [1, 1, 2, 3, 4, 5, 6, 7, 8],
        ]
        return Array(others.joined())
      }
    }
  }

  static let words = [
    "\u{1B}[", "\u{1B}]0;", "\u{7}", "\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{FE0F}", "\u{E0001}", "\u{AD}",
    "\u{9B}", "\u{85}", "\u{2028}", "\u{3164}", "\u{FFF9}", "1️⃣", "hair_color", "name", "id", "invalid", "purged",
  ]

  static func test(_ input: [UInt8]) {
    var parts = Parts(input)
    let layout = parts.byte()
    let fields = Self.fields(&parts)
    if Int(layout) < OutputFormat.allCases.count {
      Layouts.check(fields, OutputFormat.allCases[Int(layout)])
    } else {
      Updates.check(fields)
    }
  }

  /// Decodes names and values in turn.
  private static func fields(_ parts: inout Parts) -> [Field] {
    var fields: [Field] = []
    while !parts.rest.isEmpty, fields.count < 8 { fields.append((parts.text(), value(&parts))) }
    return fields
  }

  private static func value(_ parts: inout Parts) -> StoredValue {
    switch parts.byte() % 6 {
    case 0: .null
    case 1: .integer(parts.integer())
    case 2: .real(real(Double(bitPattern: UInt64(bitPattern: parts.integer()))))
    case 3: .text(parts.text())
    case 4: .text(ofBytes: parts.bytes())
    default: .blob(parts.bytes())
    }
  }

  /// SQLite does not store NaN.
  private static func real(_ number: Double) -> Double { number.isNaN ? 0 : number }
}

/// An attribute and its value.
typealias Field = (name: String, value: StoredValue)

/// A JSON value, which the library and usertool print, and which the library's `Codable` types encode.
///
/// The text is not Foundation's, whose encoder keeps neither the order of members nor the difference between `1` and `1.0`.
package enum JSON {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([JSON])
  case object([(name: String, value: JSON)])
}

extension JSON: CustomStringConvertible {
  /// The JSON text, on one line.
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let bool): bytes += (bool ? "true" : "false").utf8
    case .integer(let integer): bytes += String(integer).utf8
    case .real(let real): bytes += Self.text(of: real).utf8
    case .text(let text): Self.append(text, to: &bytes)
    case .list(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// The shortest text that reads back as the same number; JSON has no infinity, but nearly every parser reads 1e999 as one.
  package static func text(of real: Double) -> String {
    if real.isInfinite { return real < 0 ? "-1e999" : "1e999" }
    return real.isNaN ? "null" : "\(real)"
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = [UInt8](text.utf8)
    bytes.append(UInt8(ascii: "\""))
    // Runs without escapes are copied at once.
    var copied = 0
    var index = 0
    while index < utf8.count {
      let byte = utf8[index]
      if byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C,
        let (escape, length) = escape(endingAt: index, of: utf8)
      {
        bytes += utf8[copied..<index + 1 - length]
        bytes += escape.utf8
        copied = index + 1
      }
      index += 1
    }
    bytes += utf8[copied...]
    bytes.append(UInt8(ascii: "\""))
  }

  /// The escape of the character that ends with this byte, and its length in UTF-8; nil if it needs none.
  private static func escape(endingAt index: Int, of utf8: [UInt8]) -> (text: String, length: Int)? {
    let byte = utf8[index]
    let before = (index > 1 ? utf8[index - 2] : 0, index > 0 ? utf8[index - 1] : 0)
    return switch byte {
    case 0x22: (#"\""#, 1)
    case 0x5C: (#"\\"#, 1)
    case 0x0A: (#"\n"#, 1)
    case 0x0D: (#"\r"#, 1)
    case 0x09: (#"\t"#, 1)
    case 0x00..<0x20, 0x7F: (escape(of: UInt16(byte)), 1)
    // C1 control characters may also act on a terminal.
    case 0x80..<0xA0 where before.1 == 0xC2: (escape(of: UInt16(byte)), 2)
    // Bidi controls make text look like another one: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
    case 0x9C where before.1 == 0xD8: (escape(of: 0x061C), 2)
    case 0x8E...0x8F where before == (0xE2, 0x80): (escape(of: 0x1F80 + UInt16(byte)), 3)
    case 0xAA...0xAE where before == (0xE2, 0x80): (escape(of: 0x1F80 + UInt16(byte)), 3)
    case 0xA6...0xA9 where before == (0xE2, 0x81): (escape(of: 0x1FC0 + UInt16(byte)), 3)
    default: nil
    }
  }

  private static func escape(of character: UInt16) -> String {
    let digits = String(character, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

extension JSON: Encodable {
  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let bool): try bool.encode(to: encoder)
    case .integer(let integer): try integer.encode(to: encoder)
    case .real(let real): try real.encode(to: encoder)
    case .text(let text): try text.encode(to: encoder)
    case .list(let values): try values.encode(to: encoder)
    case .object(let members):
      var container = encoder.container(keyedBy: TextKey.self)
      for member in members { try container.encode(member.value, forKey: TextKey(member.name)) }
    }
  }
}

struct TextKey: CodingKey {
  let stringValue: String

  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.init(stringValue) }

  var intValue: Int? { nil }
  init?(intValue: Int) { nil }
}

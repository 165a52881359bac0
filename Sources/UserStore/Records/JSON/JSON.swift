/// A JSON value, which the library and usertool print, and which the library's `Codable` types encode.
///
/// The text is not Foundation's, whose encoder keeps neither the order of members nor the difference between `1` and `1.0`.
package indirect enum JSON {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case object([(name: String, value: JSON)])
}

extension JSON: CustomStringConvertible {
  /// The JSON text, on one line.
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  /// The UTF-8 bytes of the text.
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

  /// The shortest text that reads back as the same number.
  ///
  /// JSON has no infinity, but nearly every parser reads 1e999 as one.
  package static func text(of real: Double) -> String {
    if real.isInfinite { return real < 0 ? "-1e999" : "1e999" }
    return real.isNaN ? "null" : "\(real)"
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var before: (UInt8, UInt8) = (0, 0)
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5C: bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case 0x00..<0x20, 0x7F: appendEscape(UInt16(byte), to: &bytes)
      // C1 control characters may also act on a terminal.
      case 0x80..<0xA0 where before.1 == 0xC2: replaceLast(1, by: UInt16(byte), in: &bytes)
      // Bidi controls make text look like another one: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
      case 0x9C where before.1 == 0xD8: replaceLast(1, by: 0x061C, in: &bytes)
      case 0x8E...0x8F where before == (0xE2, 0x80): replaceLast(2, by: 0x1F80 + UInt16(byte), in: &bytes)
      case 0xAA...0xAE where before == (0xE2, 0x80): replaceLast(2, by: 0x1F80 + UInt16(byte), in: &bytes)
      case 0xA6...0xA9 where before == (0xE2, 0x81): replaceLast(2, by: 0x1FC0 + UInt16(byte), in: &bytes)
      default: bytes.append(byte)
      }
      before = (before.1, byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Replaces the last bytes, with which the character begins, by its escape.
  private static func replaceLast(_ count: Int, by character: UInt16, in bytes: inout [UInt8]) {
    bytes.removeLast(count)
    appendEscape(character, to: &bytes)
  }

  private static func appendEscape(_ character: UInt16, to bytes: inout [UInt8]) {
    let digits = String(character, radix: 16)
    bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
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
    case .object(let members):
      var container = encoder.container(keyedBy: TextKey.self)
      for member in members { try container.encode(member.value, forKey: TextKey(member.name)) }
    }
  }
}

/// The name of a member.
struct TextKey: CodingKey {
  let stringValue: String

  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.init(stringValue) }

  var intValue: Int? { nil }
  init?(intValue: Int) { nil }
}

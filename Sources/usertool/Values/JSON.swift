import UserStore

/// A JSON value to print.
///
/// The tool promises the order of members, which Foundation's encoder does not preserve.
indirect enum JSON {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([JSON])
  case object([(name: String, value: JSON)])
}

extension JSON {
  /// The JSON text, on one line.
  var bytes: [UInt8] {
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
    case .list(let items): Self.append(items, between: "[]", to: &bytes) { $0.append(to: &$1) }
    case .object(let members):
      Self.append(members, between: "{}", to: &bytes) { member, bytes in
        append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
    }
  }

  private static func append<Item>(
    _ items: [Item], between brackets: String, to bytes: inout [UInt8], _ body: (Item, inout [UInt8]) -> Void
  ) {
    bytes.append(brackets.utf8.first!)
    for (index, item) in items.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      body(item, &bytes)
    }
    bytes.append(brackets.utf8.last!)
  }

  /// The shortest text that reads back as the same number.
  ///
  /// JSON has no infinity, but nearly every parser reads 1e999 as one.
  static func text(of real: Double) -> String {
    if real.isInfinite { return real < 0 ? "-1e999" : "1e999" }
    return real.isNaN ? "null" : "\(real)"
  }

  private func append(_ text: String, to bytes: inout [UInt8]) {
    Self.append(text, to: &bytes)
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var before: UInt8 = 0
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5C: bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case 0x00..<0x20, 0x7F: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      // C1 control characters, C2 and a byte in UTF-8, may also act on a terminal.
      case 0x80..<0xA0 where before == 0xC2:
        bytes.removeLast()
        bytes += "\\u00\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
      before = byte
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

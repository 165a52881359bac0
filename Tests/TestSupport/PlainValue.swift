/// A value as it is stored in a file: storage class and bytes, so that different values are never equal.
///
/// This is not the library's `StoredValue`, because the check of the log must not share a mistake with the code that
/// writes and reads the log.
package enum PlainValue: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  /// The bytes of a text; nil for other classes.
  package var utf8: [UInt8]? {
    if case .text(let bytes) = self { bytes } else { nil }
  }
}

extension PlainValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral text: String) { self = .text(Array(text.utf8)) }
  package init(integerLiteral integer: Int64) { self = .integer(integer) }
}

extension PlainValue: CustomStringConvertible {
  /// The value as SQL, so that you can paste a failing run into the sqlite3 shell.
  package var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): String(integer)
    case .real(.infinity): "9e999"
    case .real(let real): String(real)
    case .text(let bytes) where bytes.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x27 }:
      "'\(String(decoding: bytes, as: UTF8.self))'"
    case .text(let bytes): "CAST(\(Self.hexadecimal(bytes)) AS TEXT)"
    case .blob(let bytes): Self.hexadecimal(bytes)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return "X'\(digits.joined())'"
  }
}

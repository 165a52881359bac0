/// Decodes an input from its start.
///
/// After its end, values are empty or 0.
public struct Parts {
  /// The bytes that were not decoded yet.
  public private(set) var rest: ArraySlice<UInt8>

  /// Starts with all bytes.
  public init(_ input: [UInt8]) {
    rest = input[...]
  }

  /// The next byte.
  public mutating func byte() -> UInt8 {
    rest.popFirst() ?? 0
  }

  /// The next eight bytes, as a little-endian integer.
  public mutating func integer() -> Int64 {
    Int64(bitPattern: (0..<8).reduce(UInt64(0)) { number, place in number | UInt64(byte()) << UInt64(8 * place) })
  }

  /// The next bytes, whose count is in the byte before them.
  public mutating func bytes() -> [UInt8] {
    let count = Int(byte())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// The next bytes as text, with U+FFFD for invalid UTF-8.
  public mutating func text() -> String {
    String(decoding: bytes(), as: UTF8.self)
  }

  /// All remaining bytes.
  public mutating func all() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}

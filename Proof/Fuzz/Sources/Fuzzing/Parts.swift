/// An input, taken apart from its start; what is missing at its end is nothing, or 0.
public struct Parts {
  /// What was not taken yet.
  public private(set) var rest: ArraySlice<UInt8>

  /// Begins with all of it.
  public init(_ input: [UInt8]) {
    rest = input[...]
  }

  /// The next byte.
  public mutating func byte() -> UInt8 {
    rest.popFirst() ?? 0
  }

  /// The next eight bytes, the least first.
  public mutating func integer() -> Int64 {
    Int64(bitPattern: (0..<8).reduce(UInt64(0)) { number, place in number | UInt64(byte()) << UInt64(8 * place) })
  }

  /// The next bytes: their number comes first, in one byte.
  public mutating func bytes() -> [UInt8] {
    let count = Int(byte())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// The same as text, with U+FFFD for what is no UTF-8.
  public mutating func text() -> String {
    String(decoding: bytes(), as: UTF8.self)
  }

  /// All that is left.
  public mutating func all() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}

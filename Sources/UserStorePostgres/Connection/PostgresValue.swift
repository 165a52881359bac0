/// A parameter of a statement, sent in PostgreSQL's binary format.
enum PostgresValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case int4(Int32)
  case int8(Int64)
  case float8(Double)
  case text(String)
  case bytea([UInt8])

  /// The parameter's type; nil for null, which fits every type.
  var type: PostgresType? {
    switch self {
    case .null: nil
    case .bool: .bool
    case .int4: .int4
    case .int8: .int8
    case .float8: .float8
    case .text: .text
    case .bytea: .bytea
    }
  }
}

/// A type of PostgreSQL; the raw value is its fixed catalog number (`pg_type.dat`).
enum PostgresType: UInt32, Sendable {
  case bool = 16
  case bytea = 17
  case int8 = 20
  case int2 = 21
  case int4 = 23
  case text = 25
  case float8 = 701
  case timestamptz = 1184

  /// Whether to read columns of the type `number` as this type: `name` and `varchar` have the format of `text`.
  @inline(__always) func accepts(_ number: UInt32) -> Bool {
    number == rawValue || self == .text && (number == 19 || number == 1043)
  }

  /// The microseconds from 1970 to 2000, the start of PostgreSQL's time.
  static let epoch: Int64 = 946_684_800_000_000
}

/// The parameters of a batch's statements in order, in libpq's form.
struct ParameterBuffer {
  /// The bytes of all values after an unused first byte, which gives an empty value an address.
  private(set) var bytes: [UInt8] = [0]
  /// The start of each value; -1 for null.
  private(set) var offsets: [Int] = []
  private(set) var lengths: [Int32] = []

  /// Appends a value; returns the reason if PostgreSQL cannot store it.
  mutating func append(_ value: PostgresValue) -> String? {
    let start = bytes.count
    switch value {
    case .null:
      offsets.append(-1)
      lengths.append(0)
      return nil
    case .bool(let bool): bytes.append(bool ? 1 : 0)
    case .int4(let integer): append(integer)
    case .int8(let integer): append(integer)
    case .float8(let number): append(number.bitPattern)
    case .text(let text):
      let utf8 = text.utf8
      if utf8.contains(0) { return "PostgreSQL cannot store text with the character U+0000" }
      bytes.append(contentsOf: utf8)
    case .bytea(let array): bytes.append(contentsOf: array)
    }
    guard let length = Int32(exactly: bytes.count - start), length < 1 << 30 else {
      return "the value is larger than 1 GiB"
    }
    offsets.append(start)
    lengths.append(length)
    return nil
  }

  private mutating func append(_ integer: some FixedWidthInteger) {
    var big = integer.bigEndian
    unsafe withUnsafeBytes(of: &big) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Calls `body` with libpq's three lists: the start of each value, its length, and its format.
  @unsafe func withPointers<Value>(
    _ body: (
      _ values: UnsafePointer<UnsafePointer<CChar>?>, _ lengths: UnsafePointer<Int32>, _ formats: UnsafePointer<Int32>
    ) -> Value
  ) -> Value {
    unsafe bytes.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values = unsafe offsets.map { offset in unsafe offset < 0 ? nil : start.map { unsafe $0 + offset } }
      // 1 is the binary format.
      let formats = [Int32](repeating: 1, count: offsets.count)
      return unsafe body(values, lengths, formats)
    }
  }
}

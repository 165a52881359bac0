/// A value as SQLite stores it, without loss.
///
/// Text is compared by its UTF-8 bytes, as in SQLite. Swift's `==` treats the composed and the decomposed form of an accented
/// letter as equal, and would miss a change from one to the other.
public enum StoredValue: Sendable {
  /// The attribute is not set.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A 64-bit floating-point number; never NaN, which SQLite cannot store.
  case real(Double)
  /// Text, with every character in it, including NUL.
  case text(String)
  /// Bytes, possibly none.
  case blob([UInt8])
  /// The bytes of text that is not valid UTF-8, which a foreign writer may store.
  case invalidText([UInt8])

  /// Whether the value is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The size of a text or a blob in bytes; 8 for a number.
  package var byteCount: Int {
    switch self {
    case .null: 0
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let bytes), .invalidText(let bytes): bytes.count
    }
  }

  /// About how much memory the value takes in a record.
  var memory: Int { byteCount + Self.overhead }

  /// The approximate memory that a value or a record takes in addition to its content.
  static let overhead = 64
}

extension StoredValue: Hashable {
  /// Whether both are the same value of the same storage class.
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
    case (.blob(let left), .blob(let right)): left == right
    case (.invalidText(let left), .invalidText(let right)): left == right
    default: false
    }
  }

  /// Hashes the bytes of text, and other values as they are.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let integer): hasher.combine(integer)
    case .real(let real): hasher.combine(real)
    case .text(let text): text.hashBytes(into: &hasher)
    case .blob(let bytes), .invalidText(let bytes): hasher.combine(bytes)
    }
  }
}

/// A value as SQLite stores it: one of its five storage classes, without loss.
///
/// Text is compared by its UTF-8 bytes, as SQLite compares it: Swift's `==` on strings holds the composed and the
/// decomposed form of an accented letter for equal, and a change from one to the other would go unseen.
public enum StoredValue: Sendable {
  /// Nothing: an attribute that is not set.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A 64-bit floating-point number; never not-a-number, which SQLite cannot store.
  case real(Double)
  /// Text, with every character that it holds, NUL included.
  case text(String)
  /// Bytes, possibly none.
  case blob([UInt8])
  /// Text that is no UTF-8, as a foreign writer may store it: its bytes.
  case invalidText([UInt8])

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension StoredValue: Hashable {
  /// Whether both are the same value, of the same storage class.
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

  /// Hashes what `==` compares.
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

extension StoredValue {
  /// How many bytes a text or a blob has; 8 for a number.
  var byteCount: Int {
    switch self {
    case .null: 0
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let bytes), .invalidText(let bytes): bytes.count
    }
  }
}

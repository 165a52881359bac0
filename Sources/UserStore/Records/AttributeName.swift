/// The name of an attribute: 1 to 200 Unicode scalars without control characters, and not `id`.
///
/// Two names are equal when their UTF-8 bytes are, as in SQLite. Strings compare differently in Swift: the composed and the
/// decomposed form of an accented letter are equal strings, but two names. The store checks a name when it writes it.
public struct AttributeName: Hashable, Comparable, Sendable {
  /// The name as text.
  public let text: String

  /// Creates a name from text.
  public init(_ text: String) {
    self.text = text
  }

  /// The user's name.
  public static var name: AttributeName { "name" }
  /// The color of the user's hair.
  public static var hairColor: AttributeName { "hair_color" }

  /// Whether both have the same UTF-8 bytes.
  public static func == (left: AttributeName, right: AttributeName) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Compares UTF-8 bytes, like `ORDER BY` in SQLite.
  public static func < (left: AttributeName, right: AttributeName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension AttributeName: ExpressibleByStringInterpolation, CustomStringConvertible {
  /// Creates a name from a literal.
  public init(stringLiteral text: String) { self.init(text) }

  /// The name as text.
  public var description: String { text }
}

/// Tests whether two values are equal, and so whether a value has changed; the test is chosen once for each type.
///
/// Values and objects of `Equatable` types are compared by `==`, with two exceptions: text is compared by its UTF-8 bytes, as
/// everywhere in this library, and a value that does not equal itself (NaN) equals another one that does not. Objects of
/// other types are equal when they are identical. For all other types the result is nil.
enum ValueEquality {
  typealias Test<Value> = (Value, Value) -> Bool?

  static func test<Value>(of type: Value.Type) -> Test<Value> {
    if isText(type) { return { isSameText($0, $1) } }
    if let type = type as? any Equatable.Type { return comparison(type) }
    if type is AnyObject.Type { return { ($0 as AnyObject) === ($1 as AnyObject) } }
    return { _, _ in nil }
  }

  /// Returns a test for any thread: by UTF-8 bytes for text, and by `==` for all other types.
  static func equality<Value: Equatable & Sendable>(of type: Value.Type) -> @Sendable (Value, Value) -> Bool {
    guard isText(type) else { return { $0 == $1 } }
    return { isSameText($0, $1) }
  }

  private static func isText<Value>(_ type: Value.Type) -> Bool { type == String.self || type == String?.self }

  private static func isSameText<Value>(_ left: Value, _ right: Value) -> Bool {
    guard let left = unwrapped(left) as? String, let right = unwrapped(right) as? String else {
      return unwrapped(left) == nil && unwrapped(right) == nil
    }
    return left.hasSameBytes(as: right)
  }

  private static func comparison<Comparable: Equatable, Value>(_ type: Comparable.Type) -> Test<Value> {
    { left, right in
      guard let left = left as? Comparable, let right = right as? Comparable else { return nil }
      return left == right || (left != left && right != right)
    }
  }
}

protocol OptionalValue {
  static var none: Self { get }
  static var wrappedType: Any.Type { get }
  var content: Any? { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  var content: Any? { map { $0 as Any } }
}

/// Returns the value inside of all optionals around it, or nil.
func unwrapped(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.content.flatMap { unwrapped($0) }
}

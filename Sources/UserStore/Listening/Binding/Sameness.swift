/// Whether two values are the same to a chain, found out once for each type.
///
/// What is `Equatable` is compared by `==`: two objects that are equal are the same, though they are not identical.
/// Exceptions: text is compared by its UTF-8 bytes, as everywhere in this library, and a value that does not equal itself
/// (not-a-number) is the same as another such. Objects that are not `Equatable` are the same when they are identical.
/// Of all else nobody can tell.
enum Sameness {
  typealias Test<Value> = (Value, Value) -> Bool?

  static func test<Value>(of type: Value.Type) -> Test<Value> {
    if type == String.self || type == String?.self {
      return { left, right in
        guard let left = unwrapped(left) as? String, let right = unwrapped(right) as? String else {
          return unwrapped(left) == nil && unwrapped(right) == nil
        }
        return left.utf8.elementsEqual(right.utf8)
      }
    }
    if let type = type as? any Equatable.Type { return equality(type) }
    if type is AnyObject.Type { return { ($0 as AnyObject) === ($1 as AnyObject) } }
    return { _, _ in nil }
  }

  private static func equality<Comparable: Equatable, Value>(_ type: Comparable.Type) -> Test<Value> {
    { left, right in
      guard let left = left as? Comparable, let right = right as? Comparable else { return nil }
      return left == right || (left != left && right != right)
    }
  }
}

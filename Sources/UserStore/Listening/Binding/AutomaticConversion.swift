/// The conversions of members without a converter: to the same type, and between text, integers, floats and bools.
///
/// A conversion is exact or fails: 3.0 becomes 3, but 3.5 does not become an integer. Only a float that becomes another float
/// is rounded. The text of a value is what Swift prints: `7`, `-0.5`, `true`. The texts `1` and `0` are bools too.
///
/// nil becomes nil, or empty text if the other type is not optional: a text field shows a value that is not set as empty.
/// Therefore empty text becomes nil where the other type is an optional number or bool. An optional text keeps it.
enum AutomaticConversion {
  struct Impossible: Error {
    let type: String
  }

  static func convert<Target>(_ value: Any, to type: Target.Type) throws(Impossible) -> Target {
    guard let value = unwrapped(value) else {
      if let optional = type as? any OptionalValue.Type, let none = optional.none as? Target { return none }
      if let same = value as? Target ?? "" as? Target { return same }
      throw Impossible(type: "\(type)")
    }
    if let same = value as? Target { return same }
    let optional = type as? any OptionalValue.Type
    let wanted = optional?.wrappedType ?? type
    let isNumber = wanted == Bool.self || wanted is any Numeric.Type
    if value as? String == "", isNumber, let none = optional?.none as? Target { return none }
    // In two steps: a direct cast to an optional succeeds for every value.
    guard let result = convert(value, toExactly: wanted), let converted = result as? Target else {
      throw Impossible(type: "\(wanted)")
    }
    return converted
  }

  private static func convert(_ value: Any, toExactly type: Any.Type) -> Any? {
    if type == String.self { return text(of: value) }
    if type == Bool.self { return bool(of: value) }
    if let type = type as? any FixedWidthInteger.Type { return integer(type, of: value) }
    if let type = type as? any BinaryFloatingPoint.Type { return float(type, of: value) }
    return nil
  }

  private static func text(of value: Any) -> String? {
    switch value {
    case let bool as Bool: "\(bool)"
    case let integer as any BinaryInteger: integer.description
    case let float as any BinaryFloatingPoint: "\(float)"
    default: nil
    }
  }

  private static func bool(of value: Any) -> Bool? {
    switch value {
    case let text as String: text == "1" ? true : text == "0" ? false : Bool(text)
    case let integer as any BinaryInteger: Int(exactly: integer).flatMap { $0 == 1 ? true : $0 == 0 ? false : nil }
    default: nil
    }
  }

  private static func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, of value: Any) -> Integer? {
    switch value {
    case let text as String: Integer(text)
    case let bool as Bool: bool ? 1 : 0
    case let integer as any BinaryInteger: Integer(exactly: integer)
    case let float as any BinaryFloatingPoint: Integer(exactly: float)
    default: nil
    }
  }

  /// Converts text by way of `Double`, the most precise type that Swift reads on every machine.
  private static func float<Float: BinaryFloatingPoint>(_ type: Float.Type, of value: Any) -> Float? {
    switch value {
    case let text as String: Double(text).flatMap { $0.isFinite ? rounded($0) : nil }
    case let integer as any BinaryInteger: Float(exactly: integer)
    case let float as any BinaryFloatingPoint: rounded(float)
    default: nil
    }
  }

  private static func rounded<Float: BinaryFloatingPoint>(_ value: some BinaryFloatingPoint) -> Float? {
    let result = Float(value)
    return result.isFinite || !value.isFinite ? result : nil
  }
}

/// Converts the values of a member to values of the other members, and back.
///
///     BindingChain("win rate")
///       .bind(lottery, \.winRate)
///       .bind(label, \.text, .out, converting: .incoming { (rate: Double) in "\(rate) %" })
///       .bind(slider, \.value, converting: .both(incoming: { (rate: Double) in rate / 100 }, outgoing: { $0 * 100 }))
///
/// A value that the member receives is first converted automatically to the type of the `incoming` closure's parameter. If a
/// converter throws, no member changes, and the error handler is called.
@MainActor public struct BindingConverter<Value> {
  let incoming: (@MainActor (Any) throws -> Value)?
  let outgoing: (@MainActor (Value) throws -> Any)?

  /// Converts between text, integers, floats and bools, exactly or not at all; nil converts only to nil.
  public static var automatic: BindingConverter { BindingConverter(incoming: nil, outgoing: nil) }

  /// Converts values that the member receives with a closure; values that it sends are not converted.
  public static func incoming<Input>(_ convert: @escaping @MainActor (Input) throws -> Value) -> BindingConverter {
    BindingConverter(incoming: { try convert(AutomaticConversion.convert($0, to: Input.self)) }, outgoing: nil)
  }

  /// Converts in both directions.
  ///
  /// The two closures need not be inverses of each other: a member is never written in a round that it caused.
  ///
  /// - Parameters:
  ///   - incoming: Converts a value that the member receives.
  ///   - outgoing: Converts the member's value for the other members.
  /// - Returns: The converter.
  public static func both<Input, Output>(
    incoming: @escaping @MainActor (Input) throws -> Value, outgoing: @escaping @MainActor (Value) throws -> Output
  ) -> BindingConverter {
    BindingConverter(
      incoming: { try incoming(AutomaticConversion.convert($0, to: Input.self)) }, outgoing: { try outgoing($0) })
  }
}

extension BindingConverter where Value == Bool {
  /// Converts true to false and false to true, in both directions.
  public static var negated: BindingConverter { .both(incoming: { (value: Bool) in !value }, outgoing: { !$0 }) }
}

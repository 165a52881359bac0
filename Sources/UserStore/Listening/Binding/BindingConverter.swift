/// How a member's values become those of the other members, and theirs become its own.
///
///     BindingChain("win rate")
///       .bind(lottery, \.winRate)
///       .bind(label, \.text, .out, converting: .incoming { (rate: Double) in "\(rate) %" })
///       .bind(slider, \.value, converting: .both(incoming: { (rate: Double) in rate / 100 }, outgoing: { $0 * 100 }))
///
/// What a converter takes is converted to its input's type first, as if it were a member of that type. What it throws is
/// reported, and nobody is changed.
@MainActor public struct BindingConverter<Value> {
  let incoming: (@MainActor (Any) throws -> Value)?
  let outgoing: (@MainActor (Value) throws -> Any)?

  /// Text ↔ integer, float, bool, and between those, exactly or not at all; nil becomes nil and nothing else.
  public static var automatic: BindingConverter { BindingConverter(incoming: nil, outgoing: nil) }

  /// Converts what comes into the member; what it sends goes as it is.
  ///
  /// - Parameter convert: Makes the member's value of another one.
  /// - Returns: the converter.
  public static func incoming<Input>(_ convert: @escaping @MainActor (Input) throws -> Value) -> BindingConverter {
    BindingConverter(incoming: { try convert(AutomaticConversion.convert($0, to: Input.self)) }, outgoing: nil)
  }

  /// Converts in both directions.
  ///
  /// They need not undo each other: a member is never written in the round that it caused.
  ///
  /// - Parameters:
  ///   - incoming: Makes the member's value of another one.
  ///   - outgoing: Makes of the member's value what the others get.
  /// - Returns: the converter.
  public static func both<Input, Output>(
    incoming: @escaping @MainActor (Input) throws -> Value, outgoing: @escaping @MainActor (Value) throws -> Output
  ) -> BindingConverter {
    BindingConverter(
      incoming: { try incoming(AutomaticConversion.convert($0, to: Input.self)) }, outgoing: { try outgoing($0) })
  }
}

extension BindingConverter where Value == Bool {
  /// True for false and false for true, in both directions.
  public static var negated: BindingConverter { .both(incoming: { (value: Bool) in !value }, outgoing: { !$0 }) }
}

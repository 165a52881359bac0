/// The reason why a value did not pass through a chain, and the member at which it stopped.
public struct BindingError: Error {
  /// The kinds of reasons.
  public enum Reason: Sendable {
    /// A filter of the member refused the value.
    case filtered
    /// There is no automatic conversion of the value to the member's type.
    case unconvertible(to: String)
    /// A converter or a custom block threw an error, or a store refused the value.
    case failed(any Error)
    /// Members or custom blocks caused each other's rounds without end; with their names, in the order in which they began.
    case tooManyRounds([String])
    /// The member has left the chain, because its user was removed or its store was closed.
    case left(any Error)
  }

  /// The name of the chain that the member or the block was bound with.
  public let chain: String
  /// The type and the property of the member, the attribute and its user, or the key of a custom block.
  public let member: String
  /// The member's object; nil for a custom block.
  public let object: ObjectIdentifier?
  /// The value for the member, as text; nil when the error is not about a value.
  public let value: String?
  /// The reason.
  public let reason: Reason
}

extension BindingError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    let value = value.map { "“\($0)”" } ?? "the value"
    let text =
      switch reason {
      case .filtered: "a filter of \(member) refused \(value)"
      case .unconvertible(let type): "\(value) cannot become the \(type) of \(member)"
      case .failed(let error): "\(member) failed with \(value): \(error)"
      case .tooManyRounds(let names):
        "members answer each other without end (\(names.joined(separator: ", "))); stopped at \(member)"
      case .left(let error): "\(member) has left the chain: \(error)"
      }
    return "\(chain): \(text)"
  }
}

/// The name and the error handler that a member was bound with.
///
/// It keeps them when its chain joins another one.
@MainActor final class ChainContext {
  let name: String
  private let onError: @MainActor (BindingError) -> Void

  init(_ name: String, onError: (@MainActor (BindingError) -> Void)?) {
    self.name = name
    self.onError =
      onError ?? { error in
        var stream = StandardError()
        print("userstore: binding chain \(error)", to: &stream)
      }
  }

  func report(_ reason: BindingError.Reason, at member: String, object: ObjectIdentifier? = nil, value: String? = nil) {
    onError(BindingError(chain: name, member: member, object: object, value: value, reason: reason))
  }
}

/// The error of a round.
///
/// No member changes in the round.
struct ChainFailure: Error {
  let member: any ChainMember
  let reason: BindingError.Reason
  var value: String?

  /// The text of a value in a message.
  static func text(_ value: Any) -> String { unwrapped(value).map { String("\($0)".prefix(200)) } ?? "nil" }

  @MainActor func report() {
    member.context.report(reason, at: member.name, object: member.key.object, value: value)
  }
}

/// Thrown by a place that can never be read again.
struct MemberUnavailable: Error {
  let cause: any Error
}

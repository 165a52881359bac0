/// The reason why a value was not propagated, and the member that could not send or receive it.
public struct BindingError: Error {
  /// The reason of an error.
  public enum Reason: Sendable {
    /// A filter of the member refused the value.
    case filtered
    /// There is no automatic conversion of the value to the member's type.
    case unconvertible(to: String)
    /// A converter or a custom block threw an error, a store refused the value, or the member could not be bound; or members and
    /// custom blocks caused more than 1,000 rounds (`TooManyRounds`).
    case failed(any Error)
    /// The member has left the chain, because its user was removed or its store was closed.
    case left(any Error)

    init(_ error: any Error) {
      switch error {
      case let error as AutomaticConversion.Impossible: self = .unconvertible(to: error.type)
      case let error as MemberUnavailable: self = .left(error.cause)
      default: self = .failed(error)
      }
    }
  }

  /// The name of the chain that the member or the block was bound with.
  public let chain: String
  /// The type and the property of the member, the attribute and its user, or the key of a custom block.
  public let member: String
  /// The member's object; nil for a custom block.
  public let object: ObjectIdentifier?
  /// The value for the member, as text; nil if the error is not about a value.
  public let value: String?
  /// The reason of the error.
  public let reason: Reason
}

extension BindingError: CustomStringConvertible {
  /// A description of the error.
  public var description: String {
    let value = value.map { "“\($0)”" } ?? "the value"
    let text =
      switch reason {
      case .filtered: "a filter of \(member) refused \(value)"
      case .unconvertible(let type): "cannot convert \(value) to the \(type) of \(member)"
      case .failed(let error): "\(member) failed\(self.value.map { " with “\($0)”" } ?? ""): \(error)"
      case .left(let error): "\(member) has left the chain: \(error)"
      }
    return "\(chain): \(text)"
  }
}

/// The name and the error handler of the chain that a member was first bound with, even after that chain has joined another.
@MainActor struct ChainContext {
  let name: String
  let onError: @MainActor (BindingError) -> Void

  func report(_ reason: BindingError.Reason, at member: String, object: ObjectIdentifier? = nil, value: String? = nil) {
    onError(BindingError(chain: name, member: member, object: object, value: value, reason: reason))
  }
}

/// Ends a round before any member has changed.
struct ChainFailure: Error {
  let member: any ChainMember
  let reason: BindingError.Reason
  var value: String?

  static func text(_ value: Any) -> String { unwrapped(value).map { String("\($0)".prefix(200)) } ?? "nil" }

  @MainActor func report() { member.context.report(reason, at: member.name, object: member.key.object, value: value) }
}

/// Thrown when a member is bound again with values of another type.
struct OtherValueType: Error, CustomStringConvertible {
  let present: Any.Type

  var description: String { "it is already a member, with values of the type \(present)" }
}

/// Thrown by a place that can never be read again.
struct MemberUnavailable: Error {
  let cause: any Error
}

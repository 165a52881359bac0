/// A task of a chain, in the order in which tasks came.
///
/// It does not contain the value: that is read when the task runs, so that no member is left with a stale value.
@MainActor final class ChainRound: Routable {
  enum Topic: Hashable, Sendable {
    case all
  }

  enum Task {
    /// Propagates the member's value, if it has changed.
    case propagate
    /// The same, for a member whose source reported a change: values that cannot be compared count as changed.
    case propagateReported
    /// The same, after the rounds of changes that were made before it.
    case propagateInOrder
    /// Gives the member's value to new members. It is not a change of the chain.
    case initialize([any ChainMember])
  }

  nonisolated let position: Int128
  let member: any ChainMember
  let task: Task
  let cause: RoundCause?
  /// The value for custom blocks; nil when no member was changed.
  var value: Any?

  init(position: Int128, member: any ChainMember, task: Task, cause: RoundCause?) {
    self.position = position
    self.member = member
    self.task = task
    self.cause = cause
  }

  struct Action: ListenerAction {
    private let body: @Sendable (ChainRound) throws -> Void

    init(_ body: @escaping @Sendable (ChainRound) throws -> Void) { self.body = body }
    func callAsFunction(_ round: ChainRound) throws { try body(round) }
  }

  nonisolated func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: ChainRound)]? { nil }
}

/// What a chain has to do, in the order in which it came.
///
/// It does not carry the value: that is read when its turn has come, so that nobody is left with a stale one.
@MainActor final class ChainRound: Routable {
  enum Topic: Hashable, Sendable {
    case all
  }

  enum Task {
    /// Give everybody the member's value, if it has changed.
    case propagate
    /// The same, for a member whose source told of a change: that counts where values cannot be compared.
    case propagateReported
    /// The same; what others changed meanwhile went before it.
    case propagateInOrder
    /// Give these, who are new, the member's value: no change of the chain.
    case initialize([any ChainMember])
  }

  nonisolated let position: Int128
  let member: any ChainMember
  let task: Task
  let cause: RoundCause?
  /// What custom blocks are called with; nil when nobody was changed.
  var value: Any?

  init(position: Int128, member: any ChainMember, task: Task, cause: RoundCause?) {
    self.position = position
    self.member = member
    self.task = task
    self.cause = cause
  }

  nonisolated func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: ChainRound)]? { nil }
}

/// The calls that wait for an actor, in order.
///
/// One task at a time runs on the actor and makes all calls: of two tasks for single calls, one may overtake the other. The
/// actor is held by its listeners and not by the mailbox, so that an actor that owns its listeners can be released.
final class Mailbox: Sendable {
  typealias Call = @Sendable () -> Void

  private weak let actor: (any Actor)?
  let id: ObjectIdentifier
  private let state = Lock((calls: [Call](), isScheduled: false))

  init(_ actor: any Actor) {
    self.actor = actor
    id = ObjectIdentifier(actor)
  }

  /// Whether the mailbox belongs to this actor, and not to a released one that had the same address.
  func isOf(_ actor: any Actor) -> Bool { self.actor === actor }

  /// Returns false, and drops the call, if the actor was released.
  @discardableResult func post(_ call: @escaping Call) -> Bool {
    guard let actor else { return false }
    let mustStart = state.withLock { state in
      state.calls.append(call)
      return !exchange(&state.isScheduled, with: true)
    }
    if mustStart { Task { await self.deliver(on: actor) } }
    return true
  }

  private func deliver(on actor: isolated any Actor) async {
    var turn = ActorTurn()
    while true {
      let calls = state.withLock { state in
        if state.calls.isEmpty { state.isScheduled = false }
        return exchange(&state.calls, with: [])
      }
      if calls.isEmpty { return }
      for call in calls {
        call()
        await turn.yieldIfOver()
      }
    }
  }
}

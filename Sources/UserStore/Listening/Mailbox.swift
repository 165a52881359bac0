/// The calls that wait for an actor, in order.
///
/// One task at a time runs on the actor and makes all of them: tasks that are started one for each call may overtake
/// each other.
final class Mailbox: Sendable {
  typealias Letter = @Sendable () -> Void

  private let actor: any Actor
  private let state = Lock(State())

  private struct State {
    var letters: [Letter] = []
    var isScheduled = false
  }

  init(_ actor: any Actor) {
    self.actor = actor
  }

  var id: ObjectIdentifier { ObjectIdentifier(actor) }

  func post(_ letter: @escaping Letter) {
    let mustStart = state.withLock { state in
      state.letters.append(letter)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustStart { Task { await self.deliver(on: actor) } }
  }

  private func deliver(on actor: isolated any Actor) async {
    while true {
      let letters = state.withLock { state in
        defer { state.letters = [] }
        if state.letters.isEmpty { state.isScheduled = false }
        return state.letters
      }
      if letters.isEmpty { return }
      for letter in letters { letter() }
    }
  }
}

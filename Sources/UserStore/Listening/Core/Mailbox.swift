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

/// Calls a closure on an actor with the latest value: one that waits for the actor is replaced by a newer one.
///
/// Values are sent where they are delivered inline, after filters and failures have been handled: only a value for the closure
/// replaces another. The listener's action holds this object, so that nothing is called after the listener was removed.
final class LatestDelivery<Value: Sendable>: Sendable {
  private typealias Waiting = (value: Value, cascade: Cascade?)

  private let mailbox: Mailbox
  /// Held, unless it is the owner of the listener.
  private let actor: (any Actor)?
  private let name: String?
  private let handleError: ListenerErrors.Handler
  private let action: @Sendable (Value) throws -> Void
  private let waiting = Lock<Waiting?>(nil)

  init(
    on actor: any Actor, owner: (any AnyObject)? = nil, name: String? = nil,
    handleError: @escaping ListenerErrors.Handler, _ action: @escaping @Sendable (Value) throws -> Void
  ) {
    mailbox = Mailbox(actor)
    self.actor = actor === owner ? nil : actor
    self.name = name
    self.handleError = handleError
    self.action = action
  }

  func send(_ value: Value) {
    let new = Waiting(value, RoundCause.current?.cascade)
    // Released under no lock.
    let replaced = waiting.withLock { exchange(&$0, with: new) }
    if replaced == nil { mailbox.post { [weak self] in self?.deliver() } }
  }

  /// Calls another closure on the actor, after the value that waits.
  func end(_ body: @escaping @Sendable () throws -> Void) {
    mailbox.post {
      self.deliver()
      self.call(nil) { try body() }
    }
  }

  private func deliver() {
    guard let (value, cascade) = waiting.withLock({ $0.take() }) else { return }
    call(cascade) { try action(value) }
  }

  private func call(_ cascade: Cascade?, _ body: () throws -> Void) {
    let thread = DeliveryThread.current
    thread.call(in: cascade) {
      thread.name = name
      do { try body() } catch { handleError(name, error) }
    }
    thread.runDeferred()
  }
}

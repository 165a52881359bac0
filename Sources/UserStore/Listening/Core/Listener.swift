/// One listener, until its name is bound again or it ends: the part of it that does not change.
///
/// One object, because a round takes one reference to it for a call; what few listeners have is behind `conditions`. The hub's
/// table holds the only lasting reference, so that the caller that removes a listener holds the last one.
final class Listener<Content: Routable>: Sendable {
  typealias Action = Content.Action

  let topic: Content.Topic
  let name: String?
  /// The number of the action among all that were ever bound: the token of a replaced action has another one.
  let registration: Int
  let keepsValue: Bool
  /// nil when the listener is called inline and lives as long as it is bound.
  let conditions: ListenerConditions?
  /// Called when the hub ends.
  let onEnd: ListenerConditions.OnEnd?
  let action: Action

  init(
    topic: Content.Topic, name: String?, registration: Int, keepsValue: Bool, conditions: ListenerConditions?,
    onEnd: ListenerConditions.OnEnd?, action: Action
  ) {
    self.topic = topic
    self.name = name
    self.registration = registration
    self.keepsValue = keepsValue
    self.conditions = conditions
    self.onEnd = onEnd
    self.action = action
  }
}

/// The place and the lifetime of a listener that has others than the usual ones.
final class ListenerConditions: Sendable {
  typealias OnEnd = @Sendable () throws -> Void

  /// Reads the present value with its position, and delivers it.
  struct FirstValue: Sendable {
    let read: @Sendable () -> (value: ErasedValue, position: Int128)
    let deliver: @Sendable (ErasedValue) throws -> Void
  }

  let mailbox: Mailbox?
  /// Held, unless it is the owner.
  private let actor: (any Actor)?
  /// Read only under no lock: reading takes a reference, and releasing the last one runs a deinitializer.
  let owner: WeakReference?
  /// The first value that is still to be delivered.
  ///
  /// It is here and not in the queue, so that it goes with the action.
  let first: Lock<FirstValue?>

  init(mailbox: Mailbox?, actor: (any Actor)?, owner: WeakReference?, first: FirstValue?) {
    self.mailbox = mailbox
    self.actor = actor === owner?.object ? nil : actor
    self.owner = owner
    self.first = Lock(first)
  }
}

/// A weak reference that can be stored in a value.
struct WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
}

/// One listener, until its name is bound again or it ends: what does not change in it.
///
/// One object, because a round takes one reference to it for a call; what rarely matters is behind `conditions`. The table
/// of the hub holds the only lasting reference, so that whoever takes it out holds the last one.
final class Listener<Content: Routable>: Sendable {
  typealias Action = @Sendable (Content) throws -> Void

  let topic: Content.Topic
  let name: String?
  /// Counts the actions that ever took a slot: the token of a replaced action does not fit any more.
  let registration: Int
  let keepsValue: Bool
  /// nil when a call is only a call: inline, and for as long as it is bound.
  let conditions: ListenerConditions?
  /// Told when nothing comes any more.
  let onEnd: ListenerConditions.OnEnd?
  let action: Action

  init(
    topic: Content.Topic, name: String?, registration: Int, keepsValue: Bool, conditions: ListenerConditions?,
    onEnd: ListenerConditions.OnEnd?, action: @escaping Action
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

/// Where, and for how long, a listener is called that is not simply called.
final class ListenerConditions: Sendable {
  typealias OnEnd = @Sendable () throws -> Void

  /// Reads the present value with its position, and hands it over.
  struct FirstValue: Sendable {
    let read: @Sendable () -> (value: ErasedValue, position: Int128)
    let deliver: @Sendable (ErasedValue) throws -> Void
  }

  let mailbox: Mailbox?
  /// Kept alive, unless it is the owner itself.
  private let actor: (any Actor)?
  /// Only to be looked at under no lock: looking holds it, and letting go of the last reference runs its deinitializer.
  let owner: WeakReference?
  /// Still to be handed over: it lies here, and not in the queue, so that it goes with the action.
  let first: Lock<FirstValue?>

  init(mailbox: Mailbox?, actor: (any Actor)?, owner: WeakReference?, first: FirstValue?) {
    self.mailbox = mailbox
    self.actor = actor === owner?.object ? nil : actor
    self.owner = owner
    self.first = Lock(first)
  }
}

/// An object that is not kept alive by being known.
struct WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
}

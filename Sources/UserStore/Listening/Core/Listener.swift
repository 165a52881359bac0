/// The constant part of a listener, until its name is bound again or it is removed.
///
/// It is one object, so that a round takes one reference to it for a call; what few listeners have is in `conditions`. The
/// registry holds the only lasting reference, so that the caller that removes a listener holds the last one.
final class Listener<Content: Routable>: Sendable {
  let topic: Content.Topic
  let name: String?
  /// Unique among all registrations of the hub, so that a replaced listener is recognized.
  let number: Int
  let keepsValue: Bool
  /// nil when the listener is called inline, has no owner, and has no first value to receive.
  let conditions: ListenerConditions?
  /// Called when the hub ends.
  let onEnd: ListenerConditions.OnEnd?
  let action: Content.Action

  init(
    topic: Content.Topic, name: String?, number: Int, keepsValue: Bool, conditions: ListenerConditions?,
    onEnd: ListenerConditions.OnEnd?, action: Content.Action
  ) {
    self.topic = topic
    self.name = name
    self.number = number
    self.keepsValue = keepsValue
    self.conditions = conditions
    self.onEnd = onEnd
    self.action = action
  }
}

/// The place and the lifetime of a listener that is not called inline, has an owner, or has a first value to receive.
final class ListenerConditions: Sendable {
  typealias OnEnd = @Sendable () throws -> Void

  /// Reads the current value with its position, and delivers it.
  struct FirstValue: Sendable {
    let read: @Sendable () -> (value: ErasedValue, position: Int128)
    let deliver: @Sendable (ErasedValue) throws -> Void
  }

  let mailbox: Mailbox?
  /// Held, unless it is the owner.
  private let actor: (any Actor)?
  /// Read only under no lock: reading takes a reference, and releasing the last one runs a deinitializer.
  let owner: WeakReference?
  /// The first value that is still to be delivered; here and not in the queue, so that it is released with the action.
  let first: Lock<FirstValue?>

  init(mailbox: Mailbox?, place: DeliveryPlace, owner: WeakReference?, first: FirstValue?) {
    self.mailbox = mailbox
    actor = place.actor === owner?.object ? nil : place.actor
    self.owner = owner
    self.first = Lock(first)
  }
}

/// A weak reference that can be stored in a value.
struct WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
}

/// The constant part of a listener, until its name is bound again or it is removed.
///
/// It is one object, so that a round takes one reference to it for a call; what only a few listeners have is in `conditions`. The
/// registry holds the only lasting reference, so that the caller that removes a listener holds the last one.
final class Listener<Content: Routable>: Sendable {
  let topic: Content.Topic
  let name: String?
  /// The place of its slot in the order of calls.
  let ordinal: Int
  /// Unique among all registrations of the hub, so that a replaced listener is recognized.
  let number: Int
  /// nil when the listener is called inline, has no owner, keeps no value, and has no first value to receive.
  let conditions: ListenerConditions?
  let onEnd: ListenerConditions.OnEnd?
  let action: Content.Action

  init(
    topic: Content.Topic, name: String?, ordinal: Int, number: Int, conditions: ListenerConditions?,
    onEnd: ListenerConditions.OnEnd?, action: Content.Action
  ) {
    self.topic = topic
    self.name = name
    self.ordinal = ordinal
    self.number = number
    self.conditions = conditions
    self.onEnd = onEnd
    self.action = action
  }

  /// Whether it keeps a value, and so is called before the listeners that may read it.
  var keepsValue: Bool { conditions?.keepsValue ?? false }
}

/// What only some listeners have: a place that is not inline, an owner, a value that they keep, or a first value to receive.
final class ListenerConditions: Sendable {
  typealias OnEnd = @Sendable () throws -> Void

  struct FirstValue: Sendable {
    let read: @Sendable () -> (value: ErasedValue, position: Int128)
    let action: SignalAction

    func deliver(_ value: ErasedValue, at position: Int128) throws {
      try action(SignalRound(position: position, content: .success(value)))
    }
  }

  let mailbox: Mailbox?
  /// Held, unless it is the owner.
  private let actor: (any Actor)?
  /// Read only under no lock: reading takes a reference, and releasing the last one runs a deinitializer.
  let owner: WeakReference?
  let keepsValue: Bool
  /// The first value that is still to be delivered; here and not in the queue, so that it is released with the action.
  let first: Lock<FirstValue?>

  init(
    mailbox: Mailbox?, place: DeliveryPlace, owner: (any AnyObject & Sendable)?, keepsValue: Bool, first: FirstValue?
  ) {
    self.mailbox = mailbox
    actor = place.actor === owner ? nil : place.actor
    self.owner = owner.map { WeakReference(object: $0) }
    self.keepsValue = keepsValue
    self.first = Lock(first)
  }
}

struct WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
}

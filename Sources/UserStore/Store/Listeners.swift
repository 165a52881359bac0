extension UserStore {
  /// The named listeners of a store, by topic.
  ///
  ///     store.listeners.bind("audit", to: .attribute(.age)) { set in
  ///       for change in try set.changes { print(change.user, change.old, "→", change.new) }
  ///     }
  ///
  /// - **Rounds**: each committed change set is one round. A listener is called once per round, with the part of the change set
  ///   that belongs to its topic.
  /// - **Order**: listeners are called in the order of their first registration, across all topics. Binding a name again keeps
  ///   its place.
  /// - **Names**: a name belongs to its topic. Binding a name again replaces the listener immediately: the old closure is not
  ///   called again, not even in the round that is being delivered, and the store holds no reference to it when `bind` returns.
  ///   A call that is already running finishes. Names are compared as Swift strings.
  /// - **Writes by listeners** commit immediately. They are delivered after the current round has reached all listeners.
  /// - **Errors**: an error that a listener throws goes to `Configuration.onListenerError`; the other listeners are called.
  /// - **Threads**: all methods can be called on any thread and in a listener. No lock is held while a listener is called or
  ///   its closure is released.
  ///
  /// `UserStore.listenable(_:of:)` delivers the values of one attribute with their type.
  public final class Listeners: Sendable {
    let hub: ListenerHub<ChangeSet>

    /// Creates the listeners; `onError` is called with errors that they throw, on the thread that called the listener.
    init(onError: @escaping @Sendable (_ listener: String?, any Error) -> Void) {
      hub = ListenerHub(onError: onError)
    }

    // MARK: Binding

    /// Calls a closure in each round, starting with the next one, until the name is bound again or unbound.
    ///
    /// - Parameters:
    ///   - name: The listener's name. A listener that has this name in this topic is replaced; its place in the order is kept.
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - action: Called once per round, in commit order, with the part of the change set that belongs to the topic. It can
    ///     write, bind and unbind.
    /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
    @discardableResult
    public func bind(
      _ name: String, to topic: Topic, on place: DeliveryPlace = .inline,
      _ action: @escaping @Sendable (ChangeSet) throws -> Void
    ) -> ListenerToken {
      ListenerToken(hub.register(name, to: topic, on: place, owner: nil, .init(action)))
    }

    /// Calls a closure on the main actor in each round, as the other `bind` with a name does.
    @discardableResult
    public func bind(
      _ name: String, to topic: Topic, on place: MainActorPlace,
      _ action: @escaping @MainActor @Sendable (ChangeSet) throws -> Void
    ) -> ListenerToken {
      bind(name, to: topic, on: place.delivery) { set in try MainActor.assumeIsolated { try action(set) } }
    }

    /// Calls a closure in each round, starting with the next one, while an object is alive.
    ///
    /// - Parameters:
    ///   - name: The listener's name. A listener that has this name in this topic is replaced; its place in the order is kept.
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - owner: The object, which is held weakly; the listener ends when it is released.
    ///   - action: Called with the owner and the part of the change set that belongs to the topic, once per round, in commit
    ///     order.
    /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
    @discardableResult
    public func bind<Owner: AnyObject & Sendable>(
      _ name: String, to topic: Topic, on place: DeliveryPlace = .inline, owner: Owner,
      _ action: @escaping @Sendable (Owner, ChangeSet) throws -> Void
    ) -> ListenerToken {
      ListenerToken(
        hub.register(
          name, to: topic, on: place, owner: owner,
          .init { [weak owner] set in
            if let owner { try action(owner, set) }
          }))
    }

    /// Calls a closure on the main actor in each round while an object is alive, as the other `bind` with an owner does.
    @discardableResult
    public func bind<Owner: AnyObject & Sendable>(
      _ name: String, to topic: Topic, on place: MainActorPlace, owner: Owner,
      _ action: @escaping @MainActor @Sendable (Owner, ChangeSet) throws -> Void
    ) -> ListenerToken {
      bind(name, to: topic, on: place.delivery, owner: owner) { owner, set in
        try MainActor.assumeIsolated { try action(owner, set) }
      }
    }

    /// Calls a closure in each round, starting with the next one, while you hold the token.
    ///
    /// - Parameters:
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - action: Called once per round, in commit order, with the part of the change set that belongs to the topic.
    /// - Returns: The token; releasing it ends the listener.
    public func bind(
      to topic: Topic, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (ChangeSet) throws -> Void
    ) -> SubscriptionToken {
      SubscriptionToken(hub.register(nil, to: topic, on: place, owner: nil, .init(action)))
    }

    /// Calls a closure on the main actor in each round while you hold the token, as the other `bind` without a name does.
    public func bind(
      to topic: Topic, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (ChangeSet) throws -> Void
    ) -> SubscriptionToken {
      bind(to: topic, on: place.delivery) { set in try MainActor.assumeIsolated { try action(set) } }
    }

    // MARK: Unbinding and counting

    /// Ends a named listener immediately, even for the round that is being delivered; does nothing if the name is not bound.
    ///
    /// - Parameters:
    ///   - name: The listener's name.
    ///   - topic: The topic that it is bound to.
    public func unbind(_ name: String, from topic: Topic) { hub.remove(name, from: topic) }

    /// Ends all listeners immediately, including those without a name.
    public func unbindAll() { hub.removeAll() }

    /// The number of listeners; those whose owner was released are not counted.
    public var count: Int { hub.count }

    /// All listeners in the order of calls, for tests and for display; none after the store was closed.
    public var all: [ListenerInfo] {
      hub.all.map { ListenerInfo(name: $0.name, topic: $0.topic, calls: $0.calls) }
    }
  }

  /// A listener of a store, as listed by `Listeners.all`.
  public struct ListenerInfo: Sendable {
    /// The listener's name; nil for a listener that is held by its token.
    public let name: String?
    /// The changes that it receives.
    public let topic: Topic
    /// The number of calls so far, including those of listeners that had the name before.
    public let calls: Int
  }
}

package typealias ListenerInfo = UserStore.ListenerInfo
package typealias Listeners = UserStore.Listeners

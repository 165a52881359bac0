extension UserStore {
  /// The named listeners of a store, by topic.
  ///
  ///     store.listeners.bind("audit", to: .attribute(.age)) { set in
  ///       for change in try set.changes { print(change.user, change.old, "→", change.new) }
  ///     }
  ///
  /// - **Rounds**: each committed change set is one round. A listener is called once in a round, with the part of the change
  ///   set that belongs to its topic.
  /// - **Order**: listeners are called in the order of their first registration, across all topics. Binding a name again
  ///   keeps its place.
  /// - **Names**: a name belongs to its topic. Binding a name again replaces the listener immediately: the old closure is not
  ///   called again, not even in the round that is being delivered, and the store holds no reference to it when `bind`
  ///   returns. A call that is already running finishes. Two names are the same when Swift's `==` says so.
  /// - **Writes by listeners** commit immediately. They are delivered after the present round has reached all listeners.
  /// - **Errors**: an error that a listener throws goes to `Configuration.onListenerError`; the other listeners are called.
  /// - **Threads**: all methods may be called on any thread and in a listener. No lock is held while a listener is called or
  ///   its closure is released.
  ///
  /// `UserStore.listenable(_:of:)` gives the values of one attribute with their types.
  public final class Listeners: Sendable {
    let hub: ListenerHub<ChangeSet>

    /// - Parameter onError: Called with errors that listeners throw, on the thread that called the listener.
    init(onError: @escaping @Sendable (_ listener: String?, any Error) -> Void) {
      hub = ListenerHub(onError: onError)
    }

    // MARK: Binding

    /// Calls a closure in each round from the next one on, until the name is bound again or unbound.
    ///
    /// - Parameters:
    ///   - name: The listener's name. It replaces the listener that has this name in this topic, and takes its place in the
    ///     order.
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - action: Called once a round, in commit order, with the part of the change set that belongs to the topic. It may
    ///     write, bind and unbind.
    /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
    @discardableResult
    public func bind(
      _ name: String, to topic: Topic, on place: DeliveryPlace = .inline,
      _ action: @escaping @Sendable (ChangeSet) throws -> Void
    ) -> ListenerToken {
      ListenerToken(
        hub.register(name, to: topic, on: place, owner: nil, .init(action)))
    }

    /// Calls a closure on the main actor in each round from the next one on.
    ///
    /// - Parameters:
    ///   - name: The listener's name. It replaces the listener that has this name in this topic.
    ///   - topic: The changes to listen to.
    ///   - place: `.main`.
    ///   - action: Called on the main actor with the part of each change set that belongs to the topic.
    /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
    @discardableResult
    public func bind(
      _ name: String, to topic: Topic, on place: MainActorPlace,
      _ action: @escaping @MainActor @Sendable (ChangeSet) throws -> Void
    ) -> ListenerToken {
      ListenerToken(
        hub.register(
          name, to: topic, on: .mainActor, owner: nil, .init { set in try MainActor.assumeIsolated { try action(set) } }
        ))
    }

    /// Calls a closure in each round for as long as an owner lives.
    ///
    /// - Parameters:
    ///   - name: The listener's name. It replaces the listener that has this name in this topic.
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - owner: Held weakly; the listener ends with it.
    ///   - action: Called with the owner and the part of each change set that belongs to the topic.
    /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
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

    /// Calls a closure on the main actor in each round for as long as an owner lives, a screen for instance.
    ///
    /// - Parameters:
    ///   - name: The listener's name. It replaces the listener that has this name in this topic.
    ///   - topic: The changes to listen to.
    ///   - place: `.main`.
    ///   - owner: Held weakly; the listener ends with it.
    ///   - action: Called on the main actor with the owner and the part of each change set that belongs to the topic.
    /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
    @discardableResult
    public func bind<Owner: AnyObject & Sendable>(
      _ name: String, to topic: Topic, on place: MainActorPlace, owner: Owner,
      _ action: @escaping @MainActor @Sendable (Owner, ChangeSet) throws -> Void
    ) -> ListenerToken {
      bind(name, to: topic, on: .mainActor, owner: owner) { owner, set in
        try MainActor.assumeIsolated { try action(owner, set) }
      }
    }

    /// Calls a closure in each round from the next one on, for as long as the token is held.
    ///
    /// - Parameters:
    ///   - topic: The changes to listen to.
    ///   - place: The place where `action` is called.
    ///   - action: Called once a round, in commit order, with the part of the change set that belongs to the topic.
    /// - Returns: the token; releasing it ends the listener.
    public func bind(
      to topic: Topic, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (ChangeSet) throws -> Void
    ) -> SubscriptionToken {
      SubscriptionToken(
        hub.register(nil, to: topic, on: place, owner: nil, .init(action)))
    }

    /// Calls a closure on the main actor in each round from the next one on, for as long as the token is held.
    ///
    /// - Parameters:
    ///   - topic: The changes to listen to.
    ///   - place: `.main`.
    ///   - action: Called on the main actor with the part of each change set that belongs to the topic.
    /// - Returns: the token; releasing it ends the listener.
    public func bind(
      to topic: Topic, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (ChangeSet) throws -> Void
    ) -> SubscriptionToken {
      bind(to: topic, on: .mainActor) { set in try MainActor.assumeIsolated { try action(set) } }
    }

    // MARK: Unbinding

    /// Ends a named listener immediately, also for the round that is being delivered.
    ///
    /// Does nothing when the name is not bound.
    ///
    /// - Parameters:
    ///   - name: The listener's name.
    ///   - topic: The topic that it is bound to.
    public func unbind(_ name: String, from topic: Topic) {
      hub.remove(name, from: topic)
    }

    /// Ends all listeners immediately, those without a name included.
    public func unbindAll() {
      hub.removeAll()
    }

    // MARK: Looking

    /// The number of listeners; those whose owner was released are not counted.
    public var count: Int { hub.count }

    /// The names of all listeners, in the order of calls.
    public var names: [String] { hub.names }

    /// All listeners in the order of calls, for tests and for display; none after the store was closed.
    public var all: [ListenerInfo] {
      hub.all.map { ListenerInfo(name: $0.name, topic: $0.topic, calls: $0.calls, lastPosition: $0.lastPosition) }
    }

    /// The names that are bound to a topic, in the order of calls.
    ///
    /// - Parameter topic: The topic.
    /// - Returns: the names; listeners without a name are left out.
    public func names(of topic: Topic) -> [String] { hub.names(of: topic) }
  }
}

extension UserStore {
  /// A listener of a store, as `Listeners.all` shows it.
  public struct ListenerInfo: Sendable {
    /// The listener's name; nil for a listener that is held by its token.
    public let name: String?
    /// The changes that it receives.
    public let topic: Topic
    /// The number of calls so far, including those of listeners that had the name before.
    public let calls: Int
    /// The position of the last round that it was called in; nil before the first.
    public let lastPosition: Int128?
  }
}

package typealias ListenerInfo = UserStore.ListenerInfo
package typealias Listeners = UserStore.Listeners

public import Foundation
public import UserStore

extension NotificationCenter {
  /// The notifications with a name, as a signal.
  ///
  /// Each subscription observes the center on its own, as long as the subscription lives, and retains the center. Values are sent
  /// on the posting thread, in the order of the posts. The signal does not end.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications.
  ///   - value: Returns the value for a notification, or nil to ignore it; called on the posting thread.
  /// - Returns: The signal.
  public func signal<Value: Sendable>(
    for name: Notification.Name, _ value: @escaping @Sendable (Notification) -> Value?
  ) -> Signal<Value> {
    Signal { source in
      let observer = Lock(
        self.addObserver(forName: name, object: nil, queue: nil) { notification in
          if let value = value(notification) { source.send(value) }
        })
      return SubscriptionToken { observer.withLock { self.removeObserver($0) } }
    }
  }
}

extension Notification.Name {
  /// Posted by `UserStore.post(to:)` when changes were committed.
  ///
  /// The notification's object is the store; its `changeSet` contains the changes.
  public static let userStoreDidChange = Notification.Name("UserStoreDidChange")
}

extension Notification {
  /// The changes of a `userStoreDidChange` notification; nil in any other notification.
  public var changeSet: UserStore.ChangeSet? { userInfo?[UserStore.changeSetKey] as? ChangeSet }
}

extension UserStore {
  /// The key of the `ChangeSet` in the `userInfo` of a `userStoreDidChange` notification.
  public static let changeSetKey = "UserStoreChangeSet"

  /// Posts changes to a notification center: a `userStoreDidChange` notification for each change set, in commit order.
  ///
  ///     let token = store.post(to: .default)
  ///     let observer = NotificationCenter.default.addObserver(forName: .userStoreDidChange, object: store, queue: nil) {
  ///       print($0.changeSet?.revision as Any)
  ///     }
  ///
  /// Observers are called at `place`, without holding a lock. Inline, that is the delivering thread, before the `write` that
  /// caused the change returns. Observers may write. For the main thread, pass `.actor(MainActor.shared)`: that keeps the order,
  /// which an observer's `queue` does not guarantee.
  ///
  /// - Parameters:
  ///   - center: The notification center; retained as long as the token.
  ///   - topic: The changes to post; notifications contain no others.
  ///   - place: The place where the observers are called.
  /// - Returns: The token, which does not retain the store. Releasing the token, or closing or releasing the store, ends the
  ///   posting.
  public func post(
    to center: NotificationCenter, of topic: Topic = .everything, on place: DeliveryPlace = .inline
  ) -> SubscriptionToken {
    listeners.bind(to: topic, on: place) { [weak self] set in
      guard let self else { return }
      center.post(name: .userStoreDidChange, object: self, userInfo: [Self.changeSetKey: set])
    }
  }
}

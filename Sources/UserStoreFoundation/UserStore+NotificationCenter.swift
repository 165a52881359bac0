public import Foundation
public import UserStore

extension Notification.Name {
  /// Changes were committed; posted where `UserStore.post(to:)` was asked to.
  ///
  /// The notification's object is the store, and its `changeSet` says what changed.
  public static let userStoreDidChange = Notification.Name("UserStoreDidChange")
}

extension Notification {
  /// The changes that a `userStoreDidChange` tells of; nil in any other notification.
  public var changeSet: UserStore.ChangeSet? { userInfo?[UserStore.changeSetKey] as? ChangeSet }
}

extension UserStore {
  /// What a `userStoreDidChange` has its `ChangeSet` under in `userInfo`.
  public static let changeSetKey = "UserStoreChangeSet"

  /// Posts changes to a notification center: one notification `userStoreDidChange` for each change set, in commit order.
  ///
  ///     let token = store.post(to: .default)
  ///     let observer = NotificationCenter.default.addObserver(forName: .userStoreDidChange, object: store, queue: nil) {
  ///       print($0.changeSet?.revision as Any)
  ///     }
  ///
  /// Observers are called where it posts, under no lock: inline, that is on the thread that delivers, and before the
  /// `write` that caused it returns. They may write. Those that want the main thread at once ask for it here, with
  /// `.actor(MainActor.shared)`; order holds there too, which a `queue` of the observer's own does not promise.
  ///
  /// - Parameters:
  ///   - center: Posted to, and kept alive as long as the token.
  ///   - topic: Which changes; the notification has those alone.
  ///   - place: Where to post.
  /// - Returns: the token: releasing it ends the posting. So does closing or releasing the store, which this does not
  ///   keep alive.
  public func post(
    to center: NotificationCenter, of topic: Topic = .everything, on place: DeliveryPlace = .inline
  ) -> SubscriptionToken {
    listeners.bind(to: topic, on: place) { [weak self] set in
      guard let self else { return }
      center.post(name: .userStoreDidChange, object: self, userInfo: [Self.changeSetKey: set])
    }
  }
}

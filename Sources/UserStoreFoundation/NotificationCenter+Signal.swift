public import Foundation
public import UserStore

extension NotificationCenter {
  /// The notifications of a name, as a signal.
  ///
  /// Each subscription observes by itself, for as long as it lives. Values come on the thread that posts, in the order of
  /// the posts; the signal does not end.
  ///
  /// - Parameters:
  ///   - name: Which notifications.
  ///   - value: What to take from a notification, on the thread that posts; nil passes it over.
  /// - Returns: the signal; a subscription keeps the center alive.
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

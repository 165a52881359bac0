@testable import UserStore

/// The methods of `Listeners`, for hubs whose rounds are not change sets.
extension ListenerHub {
  @discardableResult
  func bind(
    _ name: String, to topic: Topic, on place: DeliveryPlace = .inline,
    _ action: @escaping @Sendable (Content) throws -> Void
  ) -> ListenerToken {
    ListenerToken(
      register(name, to: topic, on: place, owner: nil, .init(action)))
  }

  @discardableResult
  func bind(
    _ name: String, to topic: Topic, on place: MainActorPlace,
    _ action: @escaping @MainActor @Sendable (Content) throws -> Void
  ) -> ListenerToken {
    bind(name, to: topic, on: place.delivery) { part in try MainActor.assumeIsolated { try action(part) } }
  }

  @discardableResult
  func bind<Owner: AnyObject & Sendable>(
    _ name: String, to topic: Topic, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Content) throws -> Void
  ) -> ListenerToken {
    ListenerToken(
      register(
        name, to: topic, on: place, owner: owner,
        .init { [weak owner] part in
          if let owner { try action(owner, part) }
        }))
  }

  @discardableResult
  func bind<Owner: AnyObject & Sendable>(
    _ name: String, to topic: Topic, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Content) throws -> Void
  ) -> ListenerToken {
    bind(name, to: topic, on: place.delivery, owner: owner) { owner, part in
      try MainActor.assumeIsolated { try action(owner, part) }
    }
  }

  func bind(
    to topic: Topic, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Content) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(
      register(nil, to: topic, on: place, owner: nil, .init(action)))
  }

  func bind(
    to topic: Topic, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Content) throws -> Void
  ) -> SubscriptionToken {
    bind(to: topic, on: place.delivery) { part in try MainActor.assumeIsolated { try action(part) } }
  }

  func unbind(_ name: String, from topic: Topic) { remove(name, from: topic) }
}

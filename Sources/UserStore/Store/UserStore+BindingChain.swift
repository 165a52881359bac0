extension BindingChain {
  /// Adds an attribute of a user to the chain; its value is nil if it is not set.
  ///
  /// Changes by any writer, even in other processes, reach the chain when the store delivers them; then the committed value is
  /// read on a thread of the store, so a late delivery of the chain's own write changes nothing. While the main actor is busy,
  /// several changes become one.
  ///
  /// The value of another member is written immediately, on the main actor: `UserStore.write` waits for the disk and for other
  /// writers, but a value that the store refuses is refused for all members.
  ///
  /// A committed value that a filter or a converter refuses is replaced by the previous one in another write, unless another
  /// writer was faster. The same value is not replaced twice in a row, because otherwise two processes with different filters
  /// would overwrite each other forever.
  ///
  /// If the user is removed or the store is closed, the member leaves the chain, and the error handler is called.
  ///
  /// An attribute of a user is a member with one type of value, in all chains. If you bind it again with another type, the error
  /// handler is called with `BindingError.Reason.failed`, and the chains stay as they are.
  ///
  /// - Parameters:
  ///   - store: The store, held weakly.
  ///   - attribute: The attribute.
  ///   - id: The user. If there is no such user, the error handler is called, and the chain stays as it is.
  ///   - direction: Whether the member sends, receives, or both.
  ///   - converter: Converts between the member's values and those of the other members.
  ///   - initial: The member whose value the others receive now.
  ///   - filter: The conditions for its values, nil if not set. All must accept.
  /// - Returns: This chain.
  @discardableResult
  public func bind<Value>(
    _ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value?> = .automatic, initial: Initial = .head,
    filter: (@MainActor (Value?) -> Bool)...
  ) -> BindingChain {
    add(Member(AttributePlace(store, attribute, id), context, direction, converter, filter), initial)
  }

  /// Removes an attribute of a user from the chain immediately.
  public func unbind<Value>(_ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID) {
    unbind(MemberKey(store, attribute, id))
  }

  /// Returns whether an attribute of a user is a member.
  public func isBound<Value>(_ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID) -> Bool {
    isBound(MemberKey(store, attribute, id))
  }
}

extension MemberKey {
  fileprivate init<Value>(_ store: UserStore, _ attribute: Attribute<Value>, _ id: User.ID) {
    self.init(object: ObjectIdentifier(store), property: Topic.attribute(attribute, of: id))
  }
}

@MainActor private final class AttributePlace<Content: AttributeValue>: BindingPlace {
  let key: MemberKey
  let name: String
  let areEqual: ValueEquality.Test<Content?> = { $0?.storedValue == $1?.storedValue }
  private weak var userStore: UserStore?
  private let attribute: Attribute<Content>
  private let id: User.ID
  /// The committed value that was read after a change, for the next `read`.
  private var fetched: Result<Content?, any Error>?
  /// How often the chain has written: a value that was read before its last write may be older than that.
  private var writes = 0
  /// Whether a value is being read, and has to be read once more because there was another change.
  private var (isFetching, mustFetchAgain) = (false, false)

  init(_ store: UserStore, _ attribute: Attribute<Content>, _ id: User.ID) {
    key = MemberKey(store, attribute, id)
    name = "\(attribute.name) of user \(id)"
    userStore = store
    self.attribute = attribute
    self.id = id
  }

  var isAlive: Bool { userStore != nil }
  var store: (any AtomicStore)? { userStore }

  /// Reads the committed value: a listenable's value may be older than the chain's own write.
  func read() throws -> Content?? {
    if let fetched = fetched.take() { return .some(try fetched.get()) }
    guard let userStore else { return nil }
    do { return .some(try Self.committed(attribute, of: id, userStore.reader)) } catch { throw Self.reason(error) }
  }

  /// A closed store becomes `MemberUnavailable`, so that the member leaves the chain.
  private static func reason(_ error: any Error) -> any Error {
    StoreError.Code.closed ~= error ? MemberUnavailable(cause: error) : error
  }

  private nonisolated static func committed(
    _ attribute: Attribute<Content>, of id: User.ID, _ reader: Reader
  ) throws -> Content? {
    try reader.read { transaction in
      if try transaction.storedValue(.name, of: id).isNull {
        throw MemberUnavailable(cause: StoreError(.userNotFound, "there is no user \(id)"))
      }
      return try transaction.value(attribute, of: id)
    }
  }

  /// Reads the committed value on a thread of the store, then reports the change: the main actor does not wait for SQLite.
  private func fetch(for member: any ChainMember, _ cause: RoundCause?) {
    mustFetchAgain = true
    guard !isFetching, let reader = userStore?.reader else { return }
    isFetching = true
    Task { [weak member, attribute, id] in
      while mustFetchAgain {
        mustFetchAgain = false
        let writes = writes
        let result: Result<Content?, any Error>
        do { result = .success(try await reader.awaiting { try Self.committed(attribute, of: id, reader) }) } catch {
          result = .failure(Self.reason(error))
        }
        if writes == self.writes {
          fetched = result
          member?.placeChanged(cause)
        } else {
          mustFetchAgain = true
        }
      }
      isFetching = false
    }
  }

  func write(_ value: Content?) {}

  func change(to value: Content?, expecting expected: Content??) -> any Sendable {
    writes += 1
    fetched = nil
    return AttributeChange(
      attribute: attribute.name, id: id, value: value?.storedValue ?? .null,
      expected: expected.map { $0?.storedValue ?? .null })
  }

  func connect(_ member: any ChainMember) -> [SubscriptionToken] {
    guard let userStore else { return [] }
    // The removal of a user who does not have the attribute is a change of the name, which all users have.
    let topics = Set([Topic.attribute(attribute, of: id), .attribute(.name, of: id)])
    let closed: ListenerConditions.OnEnd = { [weak member] in
      MainActor.assumeIsolated { member?.placeEnded(StoreError(.closed, "the store is closed")) }
    }
    return topics.map { topic in
      SubscriptionToken(
        userStore.listeners.hub.register(
          nil, to: topic, on: .latest(on: MainActor.shared), owner: nil, onEnd: closed,
          .init { [weak self, weak member] _ in
            MainActor.assumeIsolated { if let self, let member { self.fetch(for: member, .current) } }
          }))
    }
  }
}

private struct AttributeChange: Sendable {
  let attribute: AttributeName
  let id: User.ID
  let value: StoredValue
  let expected: StoredValue?
}

extension UserStore: AtomicStore {
  func commit(_ changes: [any Sendable], origin: String) throws(CommitFailure) {
    var index = 0
    do {
      try write(origin: origin) { transaction in
        for change in changes.compactMap({ $0 as? AttributeChange }) {
          if let expected = change.expected {
            try transaction.set(change.attribute, of: change.id, to: change.value, expecting: expected)
          } else {
            try transaction.set(change.attribute, of: change.id, to: change.value)
          }
          index += 1
        }
        index = 0
      }
    } catch {
      throw CommitFailure(index: index, cause: error, isConflict: (error as? StoreError)?.code == .conflict)
    }
  }
}

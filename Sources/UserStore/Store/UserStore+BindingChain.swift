extension BindingChain {
  /// Makes an attribute of a user a member.
  ///
  /// Its value is nil when it is not set. Changes by anybody, other processes too, come when the store tells of them; what
  /// is committed by then counts, so that a late word of an own write changes nothing. What the other members send is written
  /// at once, on the main actor: `UserStore.write` waits for the disk and for other writers, and in return a value that the
  /// store refuses is refused for all. All attributes of one store in a chain are one write, with the chain's name as its
  /// origin. Attributes of two stores are two writes: when the second store refuses, the first write stays committed, the
  /// source gets its previous value back, and the error handler is called. What is committed then comes to the chain like any
  /// other change of that store.
  ///
  /// A committed value that a filter or a converter refuses is taken back by another write, unless somebody wrote again, and
  /// not twice in a row, or two processes with different filters would never end.
  ///
  /// When the user is removed or the store closed the member leaves the chain, and the error handler is told.
  ///
  /// - Parameters:
  ///   - store: Held weakly.
  ///   - attribute: Which attribute.
  ///   - id: Whose. If nobody has the id the error handler is told, and the chain stays as it is.
  ///   - direction: Which way values go.
  ///   - converter: Between this member and the others.
  ///   - initial: Whose value counts now.
  ///   - filter: What its values must be, nil for not set; all of them must accept.
  /// - Returns: the chain.
  @discardableResult
  public func bind<Value>(
    _ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value?> = .automatic, initial: Initial = .head,
    filter: (@MainActor (Value?) -> Bool)...
  ) -> BindingChain {
    add(Member(AttributePlace(store, attribute, id), context, direction, converter, filter), initial)
  }

  /// Takes an attribute out, now.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - attribute: Which attribute.
  ///   - id: Whose.
  public func unbind<Value>(_ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID) {
    unbind(MemberKey(store, attribute, id))
  }

  /// Whether an attribute is a member.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - attribute: Which attribute.
  ///   - id: Whose.
  /// - Returns: whether it is.
  public func isBound<Value>(_ store: UserStore, _ attribute: Attribute<Value>, of id: UserStore.User.ID) -> Bool {
    isBound(MemberKey(store, attribute, id))
  }
}

extension MemberKey {
  fileprivate init<Value>(_ store: UserStore, _ attribute: Attribute<Value>, _ id: User.ID) {
    self.init(object: ObjectIdentifier(store), property: Topic.attribute(attribute, of: id))
  }
}

/// An attribute of a user as a member of a chain.
@MainActor private final class AttributePlace<Content: AttributeValue>: BindingPlace {
  typealias Value = Content?

  let key: MemberKey
  let name: String
  private weak var store: UserStore?
  private let attribute: Attribute<Content>
  private let id: User.ID

  init(_ store: UserStore, _ attribute: Attribute<Content>, _ id: User.ID) {
    key = MemberKey(store, attribute, id)
    name = "\(attribute.name) of user \(id)"
    self.store = store
    self.attribute = attribute
    self.id = id
  }

  var isAlive: Bool { store != nil }
  var ledger: (any BindingLedger)? { store }

  /// What is committed now: what a listenable has may be older than an own write.
  func read() throws -> Content?? {
    guard let store else { return nil }
    do {
      return try store.read { transaction in
        if try transaction.storedValue(.name, of: id).isNull {
          throw MemberUnavailable(cause: StoreError(.userNotFound, "there is no user \(id)"))
        }
        return .some(try transaction.value(attribute, of: id))
      }
    } catch let error as StoreError where error.code == .closed {
      throw MemberUnavailable(cause: error)
    }
  }

  func write(_ value: Content?) {}

  func isSame(_ left: Content?, _ right: Content?) -> Bool? { left?.storedValue == right?.storedValue }

  func entry(_ value: Content?, expecting expected: Content??) -> any Sendable {
    AttributeEntry(
      attribute: attribute.name, id: id, value: value?.storedValue ?? .null,
      expected: expected.map { $0?.storedValue ?? .null })
  }

  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken] {
    guard let store else { return [] }
    // The removal of a user who does not have the attribute is seen by the name, which all have.
    let topics = Set([Topic.attribute(attribute, of: id), .attribute(.name, of: id)])
    let closed = { @Sendable in
      MainActor.assumeIsolated { events.left(StoreError(.closed, "the store is closed")) }
    }
    return topics.map { topic in
      SubscriptionToken(
        store.listeners.hub.register(
          nil, to: topic, on: .mainActor, owner: nil, onEnd: closed,
          .init { _ in MainActor.assumeIsolated { events.changed(.current) } }))
    }
  }
}

private struct AttributeEntry: Sendable {
  let attribute: AttributeName
  let id: User.ID
  let value: StoredValue
  let expected: StoredValue?
}

extension UserStore: BindingLedger {
  func commit(_ entries: [any Sendable], origin: String) throws(LedgerFailure) {
    var index = 0
    do {
      try write(origin: origin) { transaction in
        for entry in entries.compactMap({ $0 as? AttributeEntry }) {
          if let expected = entry.expected {
            try transaction.set(entry.attribute, of: entry.id, to: entry.value, expecting: expected)
          } else {
            try transaction.set(entry.attribute, of: entry.id, to: entry.value)
          }
          index += 1
        }
        index = 0
      }
    } catch {
      throw LedgerFailure(index: index, cause: error, isConflict: (error as? StoreError)?.code == .conflict)
    }
  }
}

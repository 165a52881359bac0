public import Observation

/// A user for views: SwiftUI and `withObservationTracking` follow what is read of it.
///
///     struct UserRow: View {
///       let user: ObservableUser  // try store.observable(id)
///       var body: some View { Text(user.name ?? "gone") }
///     }
///
/// - **What changes together is seen together**: all attributes of one change set are set in one turn of the main actor,
///   in commit order, soon after the commit. Only who has read an attribute that changed is told.
/// - **Removal**: a removed user has no attribute; everything reads nil, and `exists` is false.
/// - **Lifetime**: it follows the store as long as it is held, and keeps what it has when the store closes or is released. It does
///   not keep the store alive.
@MainActor public final class ObservableUser: Observable {
  /// The key.
  public let id: UserStore.User.ID

  private let registrar = ObservationRegistrar()
  private let read: @Sendable (User.ID) throws(StoreError) -> (user: User?, round: Int128)
  private var values: [AttributeName: StoredValue] = [:]
  /// The last round whose changes are in the values.
  private var through = Int128.min
  private var registration: SubscriptionToken?

  init(
    _ id: User.ID, _ listeners: Listeners,
    read: @escaping @Sendable (User.ID) throws(StoreError) -> (user: User?, round: Int128)
  ) throws(StoreError) {
    self.id = id
    self.read = read
    // Registered before it is read: no change is missed between. Those that are in both are known by their round.
    registration = listeners.bind(to: .user(id), on: .main) { [weak self] set in try self?.apply(set) }
    try readAnew()
  }

  // MARK: Reading

  /// Whether there is such a user.
  public var exists: Bool { self[stored: .name] != nil }

  /// The name; nil for a removed user, and when a foreign writer stored what is no UTF-8.
  public var name: String? { self[.name] }

  /// The hair colour; nil when it is not set, and when a foreign writer stored what is no colour.
  public var hairColor: UserStore.Color? { self[.hairColor] }

  /// The value of an attribute; nil when it is not set, and when what is stored is not of the attribute's type.
  public subscript<Value>(attribute: Attribute<Value>) -> Value? {
    self[stored: attribute.name].flatMap { Value(storedValue: $0) }
  }

  /// Identifies an attribute for Observation, whatever type it is read as.
  private subscript(stored name: AttributeName) -> StoredValue? {
    registrar.access(self, keyPath: \.[stored: name])
    return values[name]
  }

  // MARK: Changing

  private func apply(_ set: ChangeSet) throws {
    guard set.position > through else { return }
    if set.discontinuity != nil { return try readAnew() }
    var new = values
    try set.forEach { new[$0.attribute] = $0.new.isNull ? nil : $0.new }
    through = set.position
    replace(by: new)
  }

  private func readAnew() throws(StoreError) {
    let (user, round) = try read(id)
    through = round
    replace(by: user?.storedValues ?? [:])
  }

  /// Tells before and after of each attribute that is not what it was.
  private func replace(by new: [AttributeName: StoredValue]) {
    let changed = values.keys.filter { values[$0] != new[$0] } + new.keys.filter { values[$0] == nil }
    for name in changed { registrar.willSet(self, keyPath: \.[stored: name]) }
    values = new
    for name in changed { registrar.didSet(self, keyPath: \.[stored: name]) }
  }
}

extension UserStore {
  /// A user for views, kept current on the main actor.
  ///
  /// - Parameter id: Whose; a user that does not exist has no attributes.
  /// - Returns: the user as it is now; it follows the store as long as it is held.
  /// - Throws: what reading can throw; `StoreError.Code.nested` inside a transaction of this store.
  @MainActor public func observable(_ id: User.ID) throws(StoreError) -> ObservableUser {
    try ObservableUser(id, listeners) { [reader, publication] id throws(StoreError) in
      try reader.reading { transaction throws(StoreError) in
        let cursor = try transaction.cursor
        return (try transaction.user(id), publication.round(at: cursor))
      }
    }
  }
}

public import Observation

/// A user for views: SwiftUI and `withObservationTracking` track the attributes that you read.
///
///     struct UserRow: View {
///       let user: ObservableUser  // try store.observable(id)
///       var body: some View { Text(user.name ?? "gone") }
///     }
///
/// - **Atomic updates**: all attributes of a change set are updated in one turn of the main actor, in commit order, soon after
///   the commit. Only observers of an attribute that changed are notified.
/// - **Removal**: a removed user has no attributes: all are nil, and `exists` is false.
/// - **Lifetime**: the object is updated while you hold it, and keeps its values when the store is closed or released. It does
///   not keep the store alive.
@MainActor public final class ObservableUser: Observable {
  /// The user's identifier.
  public let id: UserStore.User.ID

  private let registrar = ObservationRegistrar()
  private let read: @Sendable (User.ID) throws(StoreError) -> (user: User?, round: Int128)
  private var values: [AttributeName: StoredValue] = [:]
  /// The last round that the values include.
  private var through = Int128.min
  private var registration: SubscriptionToken?

  init(
    _ id: User.ID, _ listeners: Listeners,
    read: @escaping @Sendable (User.ID) throws(StoreError) -> (user: User?, round: Int128)
  ) throws(StoreError) {
    self.id = id
    self.read = read
    // Registered before reading, so that no change is missed; `apply` skips the rounds that the values already include.
    registration = listeners.bind(to: .user(id), on: .main) { [weak self] set in try self?.apply(set) }
    try reload()
  }

  /// Whether the user exists.
  public var exists: Bool { self[stored: .name] != nil }

  /// The name; nil for a removed user, and if another program stored invalid UTF-8.
  public var name: String? { self[.name] }

  /// The hair color; nil if it is not set, and if another program stored something else.
  public var hairColor: UserStore.Color? { self[.hairColor] }

  /// The value of an attribute; nil if it is not set, and if the stored value does not have the attribute's type.
  public subscript<Value>(attribute: Attribute<Value>) -> Value? {
    self[stored: attribute.name].flatMap { Value(storedValue: $0) }
  }

  /// The stored value; its key path identifies the attribute for Observation, whatever type it is read as.
  private subscript(stored name: AttributeName) -> StoredValue? {
    registrar.access(self, keyPath: \.[stored: name])
    return values[name]
  }

  private func apply(_ set: ChangeSet) throws {
    guard set.position > through else { return }
    if set.discontinuity != nil { return try reload() }
    var new = values
    do throws(StoreError) {
      try set.forEach { new[$0.attribute] = $0.new.isNull ? nil : $0.new }
    } catch {
      // A huge set that was compacted before it was delivered: the current values include it.
      if error.code == .compacted { return try reload() }
      throw error
    }
    through = set.position
    replace(by: new)
  }

  private func reload() throws(StoreError) {
    let (user, round) = try read(id)
    through = round
    replace(by: user?.storedValues ?? [:])
  }

  /// Notifies the observers of each attribute that changes.
  private func replace(by new: [AttributeName: StoredValue]) {
    let changed = values.keys.filter { values[$0] != new[$0] } + new.keys.filter { values[$0] == nil }
    for name in changed { registrar.willSet(self, keyPath: \.[stored: name]) }
    values = new
    for name in changed { registrar.didSet(self, keyPath: \.[stored: name]) }
  }
}

extension UserStore {
  /// Returns a user for views, which is updated on the main actor while you hold it.
  ///
  /// - Parameter id: The user's identifier; a user that does not exist has no attributes.
  /// - Returns: The user as currently stored.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction.
  @MainActor public func observable(_ id: User.ID) throws(StoreError) -> ObservableUser {
    try ObservableUser(id, listeners) { [reader, publication] id throws(StoreError) in
      try reader.reading { transaction throws(StoreError) in
        let cursor = try transaction.cursor
        return (try transaction.user(id), publication.round(at: cursor))
      }
    }
  }
}

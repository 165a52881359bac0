public import Observation

/// A user for views: SwiftUI and `withObservationTracking` track the attributes that you read.
///
///     struct UserRow: View {
///       let user: ObservableUser  // try store.observable(id)
///       var body: some View { Text(user.name ?? "gone") }
///     }
///
/// - **Setting** an attribute shows the value at once, and writes it soon, in the order of the settings, on a thread of the store. Until
///   all of them are committed, views show what was set last. If the store refuses it, views show the committed value again, and
///   `lastError` and `Configuration.onListenerError` have the error.
/// - **Two-way bindings** need a value where none is set: `TextField("Nickname", text: $user[.nickname, default: ""])`, with
///   `@Bindable var user`.
/// - **Atomic updates**: all attributes of a change set are updated in one turn of the main actor, in commit order, soon after
///   the commit. Only observers of an attribute that changed are notified.
/// - **Removal**: a removed user has no attributes: all are nil, and `exists` is false.
/// - **Lifetime**: the object is updated while you hold it, and keeps its values when the store is closed or released. It does
///   not keep the store alive.
@MainActor public final class ObservableUser: Observable {
  /// The user's identifier.
  nonisolated public let id: UserStore.User.ID

  private let registrar = ObservationRegistrar()
  private let readLater: @Sendable () async throws -> Current
  private let handleError: ListenerErrors.Handler
  /// Whether it is a row of a list, which may not show the name.
  private let isRow: Bool
  private let write: Write
  private var values: [AttributeName: StoredValue] = [:]
  /// The values that were set and are not yet committed.
  private var edits: [AttributeName: Edit] = [:]
  private var refusal: StoreError?
  private var progress = CatchUp<ChangeSet>()
  /// The last read that was begun: an older state must not replace a newer one.
  private var repairing: Task<Bool, Never>?
  private var registration: SubscriptionToken?

  private struct Edit {
    let value: StoredValue
    /// The number of writes of the attribute on their way.
    var writes: Int
    /// Whether a set with the value was received.
    var isReceived = false
  }

  /// A user as currently stored, and the last round that it includes.
  typealias Current = (user: User?, round: Int128)
  /// Writes a value on a thread of the store, and then calls the closure on any thread.
  typealias Write = @Sendable (User.ID, AttributeName, StoredValue, @escaping @Sendable ((any Error)?) -> Void) -> Void

  /// Creates an object without values, until `finish` or `reload` is called; `readLater` reads on a thread of the store.
  ///
  /// It is registered before the first read, so that no change is missed.
  init(
    _ id: User.ID, _ listeners: Listeners, write: @escaping Write,
    readLater: @escaping @Sendable () async throws -> Current
  ) {
    self.id = id
    self.write = write
    isRow = false
    self.readLater = readLater
    handleError = listeners.hub.handleError
    registration = listeners.bind(to: .user(id), on: .main) { [weak self] set in self?.receive(set) }
  }

  /// Creates a row of a list, which updates it.
  init(row: User, write: @escaping Write, handleError: @escaping ListenerErrors.Handler) {
    id = row.id
    self.write = write
    self.handleError = handleError
    isRow = true
    values = row.storedValues
    readLater = { (row, .max) }
  }

  /// Whether the user exists.
  public var exists: Bool { isRow || self[stored: .name] != nil }

  /// The name; nil for a removed user, and if another program stored invalid UTF-8.
  public var name: String? {
    get { self[.name] }
    set { self[.name] = newValue }
  }

  /// The hair color; nil if it is not set, and if another program stored something else.
  public var hairColor: UserStore.Color? {
    get { self[.hairColor] }
    set { self[.hairColor] = newValue }
  }

  /// The value of an attribute; nil if it is not set, and if the stored value does not have the attribute's type.
  public subscript<Value>(attribute: Attribute<Value>) -> Value? {
    get { self[stored: attribute.name].flatMap { Value(storedValue: $0) } }
    set { set(attribute.name, to: newValue?.storedValue ?? .null) }
  }

  /// The value of an attribute, or a default where the attribute's own value would be nil.
  ///
  /// Setting it stores the value, also one that equals the default.
  public subscript<Value>(attribute: Attribute<Value>, default fallback: Value) -> Value {
    get { self[attribute] ?? fallback }
    set { self[attribute] = newValue }
  }

  /// Why the store refused the last value that was written for this object; nil if it accepted it.
  public var lastError: StoreError? {
    registrar.access(self, keyPath: \.lastError)
    return refusal
  }

  /// The stored value; its key path identifies the attribute for Observation, whatever type it is read as.
  private subscript(stored name: AttributeName) -> StoredValue? {
    registrar.access(self, keyPath: \.[stored: name])
    guard let edit = edits[name] else { return values[name] }
    return edit.value.isNull ? nil : edit.value
  }

  private func set(_ name: AttributeName, to value: StoredValue) {
    registrar.withMutation(of: self, keyPath: \.[stored: name]) {
      edits[name] = Edit(value: value, writes: (edits[name]?.writes ?? 0) + 1)
    }
    write(id, name, value) { [weak self] error in
      Task { @MainActor in await self?.finishWrite(of: name, error) }
    }
  }

  private func finishWrite(of name: AttributeName, _ error: (any Error)?) async {
    if let error { handleError(nil, error) }
    if error != nil || refusal != nil {
      registrar.withMutation(of: self, keyPath: \.lastError) { refusal = error.map { StoreError($0) } }
    }
    var isRead = true
    if edits[name]?.writes == 1, !isRow {
      // The sets that were committed may still be on their way to the main actor: older values would flash.
      isRead = await repair()
    }
    // If it was set again meanwhile, that edit stays.
    guard let edit = edits[name], edit.writes == 1 else {
      edits[name]?.writes -= 1
      return
    }
    registrar.withMutation(of: self, keyPath: \.[stored: name]) {
      // The store may have been closed after the commit: then the set does not arrive.
      if !isRead, error == nil, !edit.isReceived { values[name] = edit.value.isNull ? nil : edit.value }
      edits[name] = nil
    }
  }

  private func receive(_ set: ChangeSet) {
    if let set = progress.receive(set) { follow([set]) }
  }

  /// Applies the changes of sets, or begins to read the user again and returns false.
  @discardableResult private func follow(_ sets: [ChangeSet]) -> Bool {
    // Nil for a discontinuity, and for a set that is too large to be read on the main actor: the current values include it.
    let changes = sets.compactMap(\.heldChanges)
    guard !progress.isStale, changes.count == sets.count, let last = sets.last else {
      progress.beginReading()
      Task { [weak self] in await self?.repair() }
      return false
    }
    var new = values
    for change in changes.joined() {
      new[change.attribute] = change.new.isNull ? nil : change.new
      if edits[change.attribute]?.value == change.new { edits[change.attribute]?.isReceived = true }
    }
    progress.advance(through: last.position)
    replace(by: new)
    return true
  }

  /// Reads the user on a thread of the store.
  func reload() async throws { finish(try await readLater()) }

  /// Reads the user again, after a read that is under way; if that fails, reports the error, and the next change tries again.
  ///
  /// - Returns: Whether it was read.
  @discardableResult private func repair() async -> Bool {
    let task = Task { [weak self, repairing] in
      _ = await repairing?.value
      return await self?.readAgain() ?? false
    }
    repairing = task
    return await task.value
  }

  private func readAgain() async -> Bool {
    progress.beginReading()
    do { try await reload() } catch {
      if !(StoreError.Code.closed ~= error) { handleError(nil, error) }
      progress.fail()
      return false
    }
    return true
  }

  /// Replaces the values with those that were read, and applies the changes that have arrived since.
  func finish(_ current: Current) {
    progress.advance(through: current.round)
    replace(by: current.user?.storedValues ?? [:])
    while let sets = progress.next(), follow(sets) {}
  }

  /// Replaces the values, and notifies the observers of each attribute that changes.
  func replace(by new: [AttributeName: StoredValue]) {
    let changed = values.keys.filter { values[$0] != new[$0] } + new.keys.filter { values[$0] == nil }
    for name in changed { registrar.willSet(self, keyPath: \.[stored: name]) }
    values = new
    for name in changed { registrar.didSet(self, keyPath: \.[stored: name]) }
  }
}

extension ObservableUser: Identifiable {}

extension UserStore {
  /// Returns a user for views, which is updated on the main actor while you hold it.
  ///
  /// - Parameter id: The user's identifier; a user that does not exist has no attributes.
  /// - Returns: The user as currently stored.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction.
  @MainActor public func observable(_ id: User.ID) throws(StoreError) -> ObservableUser {
    let user = observableWithoutValues(id)
    user.finish(try reader.current(id, in: publication))
    return user
  }

  /// Returns a user for views as the synchronous `observable` does, and reads it on a thread of the store.
  @MainActor public func observable(_ id: User.ID) async throws -> ObservableUser {
    let user = observableWithoutValues(id)
    try await user.reload()
    return user
  }

  @MainActor private func observableWithoutValues(_ id: User.ID) -> ObservableUser {
    ObservableUser(id, listeners, write: observedWrite) { [reader, publication] in
      try await reader.awaiting { try reader.current(id, in: publication) }
    }
  }
}

extension UserStore {
  /// Writes what a view has set.
  var observedWrite: ObservableUser.Write {
    { [weak self] id, attribute, value, finish in
      do throws(StoreError) {
        guard let self else { throw SessionPool.closed }
        try self.writable(self.writer).submit({ try $0.set(attribute, of: id, to: value) }, finish: finish)
      } catch { finish(error) }
    }
  }
}

extension Reader {
  fileprivate func current(_ id: User.ID, in publication: Publication) throws(StoreError) -> ObservableUser.Current {
    try reading { transaction throws(StoreError) in
      let cursor = try transaction.cursor
      return (try transaction.user(id), publication.round(at: cursor))
    }
  }
}

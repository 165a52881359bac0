/// The live queries of a store, and which of them a change concerns.
final class LiveQueries: Sendable {
  private let hub: ListenerHub<ChangeSet>
  private let access: StateAccess
  private let state = Lock(State())

  /// For tests of the rules, which change them to see more cases.
  struct Settings {
    var usesKeys = true
    /// The number of rows to know beyond a small limit.
    var reserve = 16
    /// Replaces the content of a new query.
    var adapt: @Sendable (any LiveContent) -> any LiveContent = { $0 }
  }

  private enum Key: Hashable {
    case list(Query)
    case count(Condition)
    case profile(LiveProfile)

    func content(_ settings: Settings) -> any LiveContent {
      switch self {
      case .list(let query): ListContent(query, reserve: settings.reserve)
      case .count(let condition): CountContent(condition)
      case .profile(let profile): profile.content
      }
    }
  }

  private struct State {
    var settings = Settings()
    var queries: [Key: LiveQuery] = [:]
    var count = 0
    /// Finds the queries that a change concerns, including those that are being read for the first time.
    var index = LiveIndex()
    /// The queries of the index that are not in step with the rounds, by their ordinals.
    ///
    /// They are being read for the first time, were read at a later place than the last round, or could not be read. They receive
    /// the next round whole, whatever it changes.
    var apart: [Int: LiveQuery] = [:]
    /// The number of queries at which unused ones are looked for.
    var sweepCount = 64
    var registration: SubscriptionToken?
    var hasEnded = false

    mutating func add(_ query: LiveQuery) {
      index.add(query)
      apart[query.ordinal] = query
    }

    /// Returns the registration with the hub if it is not needed any more.
    mutating func remove(_ query: LiveQuery) -> SubscriptionToken? {
      index.remove(query)
      apart[query.ordinal] = nil
      return index.isEmpty ? registration.take() : nil
    }
  }

  init(hub: ListenerHub<ChangeSet>, _ access: StateAccess) {
    self.hub = hub
    self.access = access
  }

  func configure(_ settings: Settings) {
    state.withLock { state in
      state.settings = settings
      state.index = LiveIndex(usesKeys: settings.usesKeys)
    }
  }

  /// Returns the list of a query; the same one as long as it is in use.
  func list(_ query: Query) throws(StoreError) -> Listenable<Rows> { try listenable(.list(query)) }

  /// Returns the live count of a condition; the same one as long as it is in use.
  func count(_ condition: Condition) throws(StoreError) -> Listenable<Int> { try listenable(.count(condition)) }

  /// Returns the live profile of a user; the same one as long as it is in use.
  func profile<Profile: UserStore.Profile>(
    _ type: Profile.Type, of id: User.ID
  ) throws(StoreError) -> Listenable<Profile?> {
    try listenable(.profile(LiveProfile(id, type)))
  }

  private func listenable<Value>(_ key: Key) throws(StoreError) -> Listenable<Value> {
    while true {
      let existing = state.withLock { $0.queries[key] }
      let query = if let existing { existing } else { try load(key) }
      let listenable: Listenable<Value> = query.listenable()
      // False for a query that was forgotten meanwhile.
      if state.withLock({ $0.queries[key] === query || $0.hasEnded }) { return listenable }
    }
  }

  private func load(_ key: Key) throws(StoreError) -> LiveQuery {
    let query = state.withLock { state in
      state.count += 1
      let content = state.settings.adapt(key.content(state.settings))
      let query = LiveQuery(content, ordinal: state.count, access, hub.handleError) { [weak self] query in
        self?.forget(query, key) ?? true
      }
      state.add(query)
      return query
    }
    sweep()
    listen()
    do { try query.load() } catch {
      release(query)
      throw error
    }
    let existing = state.withLock { state -> LiveQuery? in
      if let existing = state.queries[key] { return existing }
      state.queries[key] = query
      return nil
    }
    guard let existing else { return query }
    // Another thread was faster.
    release(query)
    return existing
  }

  private func release(_ query: LiveQuery) {
    let registration = state.withLock { $0.remove(query) }
    registration?.dispose()
  }

  /// Forgets a query that nothing needs, and returns whether it did.
  private func forget(_ query: LiveQuery, _ key: Key) -> Bool {
    guard let listenables = query.listenablesIfUnused else { return false }
    let (isForgotten, registration): (Bool, SubscriptionToken?) = state.withLock { state in
      guard state.queries[key] === query, query.isUnheld(since: listenables) else { return (false, nil) }
      state.queries[key] = nil
      return (true, state.remove(query))
    }
    registration?.dispose()
    return isForgotten
  }

  /// Forgets the queries whose listeners' owners are gone and that no change has concerned since.
  private func sweep() {
    let queries = state.withLock { $0.queries.count < $0.sweepCount ? [] : Array($0.queries.values) }
    if queries.isEmpty { return }
    for query in queries { query.forgetIfUnused() }
    state.withLock { $0.sweepCount = max(64, 2 * $0.queries.count) }
  }

  // MARK: Following

  private func listen() {
    if state.withLock({ $0.registration != nil }) { return }
    // A round that two registrations receive is skipped the second time, by its position.
    let registration = SubscriptionToken(
      hub.register(
        nil, to: .everything, on: .inline, owner: nil, keepsValue: true, onEnd: { [weak self] in self?.end() },
        .init { [weak self] set in self?.receive(set) }))
    let other = state.withLock { exchange(&$0.registration, with: registration) }
    other?.dispose()
  }

  private func receive(_ set: ChangeSet) {
    let set = FoldedSet(set)
    let (index, apart) = state.withLock { ($0.index, $0.apart) }
    var parts: [(query: LiveQuery, deltas: [UserDelta]?)]
    if let deltas = set.deltas {
      parts = index.queries(for: deltas, reading: { values(of: $0, at: set.cursor) }).map { ($0.query, $0.deltas) }
    } else {
      parts = index.all.map { ($0, nil) }
    }
    if !apart.isEmpty {
      // Each once, in the order in which they were made.
      var all = Dictionary(uniqueKeysWithValues: parts.map { ($0.query.ordinal, $0) })
      for (ordinal, query) in apart { all[ordinal] = (query, nil) }
      parts = all.sorted { $0.key < $1.key }.map(\.value)
    }
    let later = parts.filter { !$0.query.receive(set, $0.deltas) }.map(\.query)
    if apart.isEmpty, later.isEmpty { return }
    state.withLock { state in
      var arrived = apart
      for query in later {
        arrived[query.ordinal] = nil
        // A query that was forgotten meanwhile needs nothing.
        if state.index.contains(query) { state.apart[query.ordinal] = query }
      }
      for ordinal in arrived.keys { state.apart[ordinal] = nil }
    }
  }

  /// Reads values at the end of a set; empty if that is not possible.
  private func values(of attributes: [LiveIndex.Place], at cursor: Cursor) -> [LiveIndex.Place: StoredValue] {
    var values: [LiveIndex.Place: StoredValue] = [:]
    _ = try? access.delivering.reader(at: cursor)(users: attributes.count) { state throws(StoreError) in
      for place in attributes { values[place] = try state.value(place.attribute, of: place.user) }
    }
    return values
  }

  private func end() {
    let queries = state.withLock { state in
      state.hasEnded = true
      return state.index.all
    }
    for query in queries { query.end() }
  }
}

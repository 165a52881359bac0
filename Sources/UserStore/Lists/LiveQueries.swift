/// The live queries of a store, and which of them a change concerns.
final class LiveQueries: Sendable {
  private let hub: ListenerHub<ChangeSet>
  private let access: StateAccess
  private let state = Lock(State())

  /// What the tests of the rules change, to see more of them.
  struct Settings {
    /// Whether queries are found by the values that their conditions require.
    var usesKeys = true
    /// The number of rows to know beyond a small limit.
    var reserve = 16
  }

  /// What names of listeners belong to.
  private enum Key: Hashable {
    case list(Query)
    case count(Condition)

    func content(_ settings: Settings) -> any LiveContent {
      switch self {
      case .list(let query): ListContent(query, reserve: settings.reserve)
      case .count(let condition): CountContent(condition)
      }
    }
  }

  private struct State {
    var settings = Settings()
    var queries: [Key: LiveQuery] = [:]
    /// The number of queries that were made so far.
    var count = 0
    /// Queries that are being read for the first time, in the order in which they were made: they receive every round.
    var loading: [LiveQuery] = []
    var index = LiveIndex()
    var registration: SubscriptionToken?
    var hasEnded = false

    var isEmpty: Bool { queries.isEmpty && loading.isEmpty }
  }

  init(hub: ListenerHub<ChangeSet>, _ access: StateAccess) {
    self.hub = hub
    self.access = access
  }

  /// Changes the settings, before the first query.
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
      let query = LiveQuery(key.content(state.settings), ordinal: state.count, access, hub.handleError) {
        [weak self] query in self?.forget(query, key)
      }
      state.loading.append(query)
      return query
    }
    defer { state.withLock { $0.loading.removeAll { $0 === query } } }
    listen()
    try query.load()
    return state.withLock { state in
      // Another thread may have been faster.
      if let existing = state.queries[key] { return existing }
      state.queries[key] = query
      state.index.add(query)
      return query
    }
  }

  /// Forgets a query that nothing needs.
  private func forget(_ query: LiveQuery, _ key: Key) {
    guard let listenables = query.listenablesIfUnused else { return }
    let registration: SubscriptionToken? = state.withLock { state in
      guard state.queries[key] === query, query.isUnheld(since: listenables) else { return nil }
      state.queries[key] = nil
      state.index.remove(query)
      return state.isEmpty ? state.registration.take() : nil
    }
    registration?.dispose()
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
    let (index, loading) = state.withLock { ($0.index, $0.loading) }
    for query in loading { query.receive(set, set.deltas) }
    guard let deltas = set.deltas else {
      for query in index.all { query.receive(set, nil) }
      return
    }
    for (query, part) in index.queries(for: deltas, reading: { values(of: $0, at: set.cursor) }) {
      query.receive(set, part)
    }
  }

  /// Reads values at the end of a set; empty if that is not possible.
  private func values(of attributes: [LiveIndex.Place], at cursor: Cursor) -> [LiveIndex.Place: StoredValue] {
    var values: [LiveIndex.Place: StoredValue] = [:]
    _ = try? access.delivering.reader(at: cursor)({ state throws(StoreError) in
      for place in attributes { values[place] = try state.value(place.attribute, of: place.user) }
    })
    return values
  }

  private func end() {
    let queries = state.withLock { state in
      state.hasEnded = true
      return state.index.all + state.loading
    }
    for query in queries { query.end() }
  }
}

/// A query whose result follows the log, and the hub that calls its listeners.
///
/// It is loaded on the thread that asked for it, while rounds wait; then the thread that delivers the store's rounds updates it.
/// Not generic, because generic code that is not specialized took a third of the time of an update.
final class LiveQuery: Sendable {
  let mentions: Mentions
  /// The number of the query among all that the store has created.
  let ordinal: Int
  private let access: StateAccess
  private let handleError: ListenerErrors.Handler
  private let forget: @Sendable (LiveQuery) -> Bool
  /// nil while a thread reads or updates it, so that it is changed in place.
  private let content: Lock<(any LiveContent)?>
  private let state = Lock(State())

  private struct State {
    var value: ErasedValue?
    var progress = CatchUp<FoldedSet>()
    /// Both are nil until the query is loaded.
    var hub: SignalHub?
    var backing: ListenableBacking?
    var hasEnded = false
    /// The listenables that are alive, and the number that were ever made.
    var (holders, listenables) = (0, 0)
  }

  /// `forget` is called when nothing may need the query any more, under no lock; it returns whether it has forgotten the query.
  init(
    _ content: any LiveContent, ordinal: Int, _ access: StateAccess,
    _ handleError: @escaping ListenerErrors.Handler, forget: @escaping @Sendable (LiveQuery) -> Bool
  ) {
    mentions = content.mentions
    self.ordinal = ordinal
    self.access = access
    self.handleError = handleError
    self.forget = forget
    self.content = Lock(content)
  }

  // MARK: Loading

  /// Reads the content, and then follows the rounds that came meanwhile.
  func load() throws(StoreError) {
    guard var content = content.withLock({ $0.take() }) else { preconditionFailure("a query is loaded once") }
    var through = try access.load(&content, discontinuity: nil).round
    while true {
      let (value, failure) = (content.value, content.failure)
      let (receiver, backing) = ListenableBacking.keeping(value, onError: handleError)
      let sets: [FoldedSet]? = state.withLock { state in
        state.progress.advance(through: through)
        if let sets = state.progress.next() { return sets }
        self.content.withLock { $0 = content }
        (state.value, state.hub, state.backing) = (value, receiver.hub, backing)
        return nil
      }
      guard let sets, let last = sets.last else {
        if let failure { throw failure }
        return
      }
      // As one set: fewer changes come after its end, so less has to be read again.
      through = try follow(last, FoldedSet.deltas(of: sets), &content, access).through
    }
  }

  /// Follows the changes up to the end of a set, or reads everything.
  ///
  /// Returns the last round that the content includes, and whether the value has changed.
  private func follow(
    _ set: FoldedSet, _ deltas: [UserDelta]?, _ content: inout any LiveContent, _ access: StateAccess
  ) throws(StoreError) -> (through: Int128, isChanged: Bool) {
    if let deltas {
      let concerned = deltas.filter { mentions.concern($0) }
      if let isChanged = try content.apply(concerned, at: set.cursor, access.reader(at: set.cursor)) {
        return (set.position, isChanged)
      }
    }
    let (round, isChanged) = try access.load(&content, discontinuity: set.discontinuity)
    return (max(set.position, round), isChanged || set.discontinuity != nil)
  }

  // MARK: Following

  /// Follows a set; called on the thread that delivers it, before the query's listeners.
  ///
  /// - Parameters:
  ///   - set: The set.
  ///   - deltas: The part of the set that concerns a query that has followed every round so far; nil for the whole set.
  /// - Returns: Whether the query is in step: it has followed every round so far, and no later one. If not, it needs the whole
  ///   next set, whatever it changes: the query is being read, was read later than this set, or could not be read.
  @discardableResult func receive(_ set: FoldedSet, _ deltas: [UserDelta]? = nil) -> Bool {
    typealias Next = (set: FoldedSet, hub: SignalHub, isStale: Bool)
    let (next, isInStep): (Next?, Bool) = state.withLock { state in
      let needed = state.progress.receive(set)
      guard let hub = state.hub else { return (nil, false) }
      return (needed.map { ($0, hub, state.progress.isStale) }, state.progress.through <= set.position)
    }
    guard let next else { return isInStep }
    guard !forgetIfUnused(), var content = content.withLock({ $0.take() }) else { return true }
    do {
      let deltas = next.isStale ? nil : deltas ?? next.set.deltas
      let (through, isChanged) = try follow(next.set, deltas, &content, access.delivering)
      // After an error also the same value, so that subscribers know that it is current.
      let outcome = isChanged || next.isStale ? content.outcome : nil
      self.content.withLock { $0 = content }
      state.withLock { state in
        if case .success(let value) = outcome { state.value = value }
        state.progress.advance(through: through)
      }
      if let outcome { send(outcome, to: next.hub) }
      return through <= set.position
    } catch {
      self.content.withLock { $0 = content }
      state.withLock { $0.progress.fail() }
      // Subscribers and the error handler receive the error.
      send(.failure(error), to: next.hub)
      return false
    }
  }

  private func send(_ content: SignalRound.Content, to hub: SignalHub) {
    _ = hub.append(content, in: RoundCause.current?.cascade)
    hub.deliver(through: nil)
  }

  func end() {
    let hub = state.withLock { state in
      state.hasEnded = true
      return state.hub
    }
    hub?.end()
  }

  // MARK: Listening

  /// Returns a listenable that keeps the query alive, as its named listeners do; the query must be loaded.
  ///
  /// `Value` is the type of the content's value.
  func listenable<Value>() -> Listenable<Value> {
    let (hub, backing, hasEnded) = state.withLock { state in
      guard let hub = state.hub, let backing = state.backing else {
        preconditionFailure("a query is loaded before it is used")
      }
      state.holders += 1
      state.listenables += 1
      return (hub, backing, state.hasEnded)
    }
    let hold = LiveHold(self)
    if hasEnded { hub.end() }
    let keeping = ListenableBacking(
      // Not the hub's value: a listener of the same round reads it before the hub has delivered it.
      value: { hold.query.state.withLock { $0.value } ?? backing.value() },
      names: backing.names, handleError: backing.handleError,
      bind: { name, terms, action in
        let removal = backing.bind(name, terms, action)
        // A subscription keeps the query; a named listener does so by its name.
        let held = name == nil ? hold : nil
        let remover = ListenerRemover { [weak query = hold.query] _ in
          removal.remove()
          withExtendedLifetime(held) {}
          query?.forgetIfUnused()
        }
        return ListenerRemoval(remover: remover, registration: removal.registration)
      }, unbind: backing.unbind)
    return Listenable(keeping)
  }

  fileprivate func release() {
    let isLast = state.withLock { state in
      state.holders -= 1
      return state.holders == 0
    }
    if isLast { forgetIfUnused() }
  }

  /// Forgets the query if nothing needs it, and returns whether it did; call it under no lock.
  @discardableResult func forgetIfUnused() -> Bool { listenablesIfUnused != nil && forget(self) }

  /// If nothing needs the query, the number of listenables that were made of it so far; nil if something needs it.
  ///
  /// Call it under no lock: it releases listeners whose owners are gone, and what their closures hold.
  var listenablesIfUnused: Int? {
    let (holders, listenables, hub) = state.withLock { ($0.holders, $0.listenables, $0.hub) }
    guard holders == 0, let hub, hub.names(of: .all).isEmpty else { return nil }
    return listenables
  }

  /// Whether no listenable is alive, and none was created since `listenables` was counted: then no name was bound since either.
  func isUnheld(since listenables: Int) -> Bool {
    state.withLock { $0.holders == 0 && $0.listenables == listenables }
  }
}

/// Held by a listenable of a live query, and by the tokens of its listeners.
private final class LiveHold: Sendable {
  let query: LiveQuery

  init(_ query: LiveQuery) {
    self.query = query
  }

  deinit { query.release() }
}

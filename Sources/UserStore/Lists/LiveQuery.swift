/// A query whose result follows the log, and the hub that calls its listeners.
///
/// It is loaded on the thread that asked for it, while rounds wait; then the thread that delivers the store's rounds updates it.
/// Not generic, because generic code that is not specialized took a third of the time of an update.
final class LiveQuery: Sendable {
  let mentions: Mentions
  /// Its place in the order in which the store's queries were made.
  let ordinal: Int
  private let access: StateAccess
  private let handleError: ListenerErrors.Handler
  private let forget: @Sendable (LiveQuery) -> Bool
  /// nil while a thread reads or updates it, so that it is changed in place.
  private let content: Lock<(any LiveContent)?>
  private let state = Lock(State())

  private struct State {
    /// The value of the content.
    var value: ErasedValue?
    /// The last round that the value includes.
    var through = Int128.min
    /// The rounds that came while the content was read for the first time.
    var waiting: [FoldedSet]? = []
    /// Whether the last read failed, so that the content must be read again.
    var isStale = false
    /// nil until the content is read.
    var output: Output?
    var hasEnded = false
    /// The listenables that are alive, and the number that were ever made.
    var (holders, listenables) = (0, 0)
  }

  private struct Output: Sendable {
    let hub: SignalHub
    let backing: ListenableBacking
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
      let value = content.value
      let output = makeOutput(value)
      let waiting: [FoldedSet]? = state.withLock { state in
        if let waiting = state.waiting, !waiting.isEmpty {
          state.waiting = []
          return waiting
        }
        self.content.withLock { $0 = content }
        (state.value, state.through, state.waiting, state.output) = (value, through, nil, output)
        return nil
      }
      guard let waiting else { return }
      // As one set: the fewer changes follow it, the less has to be read again.
      guard let set = FoldedSet(waiting.filter { $0.position > through }) else { continue }
      _ = try follow(set, set.deltas, &content, &through, access)
    }
  }

  /// Follows a set, or reads everything, and returns whether the value has changed.
  private func follow(
    _ set: FoldedSet, _ deltas: [UserDelta]?, _ content: inout any LiveContent, _ through: inout Int128,
    _ access: StateAccess
  ) throws(StoreError) -> Bool {
    if let deltas {
      let concerned = deltas.filter { mentions.concern($0) }
      if let isChanged = try content.apply(concerned, at: set.cursor, access.reader(at: set.cursor)) {
        through = set.position
        return isChanged
      }
    }
    let (round, isChanged) = try access.load(&content, discontinuity: set.discontinuity)
    through = max(set.position, round)
    return isChanged || set.discontinuity != nil
  }

  private func makeOutput(_ value: ErasedValue) -> Output {
    let (receiver, backing) = ListenableBacking.keeping(value, onError: handleError)
    return Output(hub: receiver.hub, backing: backing)
  }

  // MARK: Following

  /// Follows a set; called on the thread that delivers it, before the query's listeners.
  ///
  /// `deltas` is the part of the set that concerns it; nil to read everything again.
  ///
  /// - Returns: False after an error: then it needs the next set, whatever that changes.
  @discardableResult func receive(_ set: FoldedSet, _ deltas: [UserDelta]?) -> Bool {
    typealias Current = (hub: SignalHub, isStale: Bool)
    let current: Current? = state.withLock { state in
      if state.waiting != nil {
        state.waiting?.append(set)
        return nil
      }
      guard set.position > state.through, let hub = state.output?.hub else { return nil }
      return (hub, state.isStale)
    }
    guard let current, !forgetIfUnused(), var content = content.withLock({ $0.take() }) else { return true }
    do {
      var through = set.position
      let isChanged = try follow(set, current.isStale ? nil : deltas, &content, &through, access.delivering)
      // After an error also the same value, so that subscribers know that it is current.
      let value = isChanged || current.isStale ? content.value : nil
      self.content.withLock { $0 = content }
      state.withLock { state in
        if let value { state.value = value }
        (state.through, state.isStale) = (through, false)
      }
      if let value { send(.success(value), to: current.hub) }
      return true
    } catch {
      self.content.withLock { $0 = content }
      state.withLock { $0.isStale = true }
      // Subscribers receive it, and the handler of errors.
      send(.failure(error), to: current.hub)
      return false
    }
  }

  private func send(_ content: SignalRound.Content, to hub: SignalHub) {
    _ = hub.append(content, in: RoundCause.current?.cascade)
    hub.deliver(through: nil)
  }

  /// Ends its listeners.
  func end() {
    let output = state.withLock { state in
      state.hasEnded = true
      return state.output
    }
    output?.hub.end()
  }

  // MARK: Listening

  /// Returns a listenable that keeps the query alive, as its named listeners do; the query must be loaded.
  ///
  /// `Value` is the type of the content's value.
  func listenable<Value>() -> Listenable<Value> { Listenable(backing) }

  private var backing: ListenableBacking {
    let (output, hasEnded) = state.withLock { state in
      guard let output = state.output else { preconditionFailure("a query is loaded before it is used") }
      state.holders += 1
      state.listenables += 1
      return (output, state.hasEnded)
    }
    let hold = LiveHold(self)
    if hasEnded { output.hub.end() }
    let backing = output.backing
    return ListenableBacking(
      // Not the hub's value: a listener of the same round reads it before the hub has delivered it.
      value: { hold.query.state.withLock { $0.value } ?? backing.value() },
      names: backing.names, handleError: backing.handleError,
      bind: { name, terms, action in
        let removal = backing.bind(name, terms, action)
        // A subscription keeps the query; a named listener does so by its name.
        let held = name == nil ? hold : nil
        let remover = ListenerRemover { [weak query = hold.query] registration in
          removal.remover.remove(registration)
          withExtendedLifetime(held) {}
          query?.forgetIfUnused()
        }
        return ListenerRemoval(remover: remover, registration: removal.registration)
      }, unbind: backing.unbind)
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
    let (holders, listenables, output) = state.withLock { ($0.holders, $0.listenables, $0.output) }
    guard holders == 0, let output, output.backing.names().isEmpty else { return nil }
    return listenables
  }

  /// Whether no listenable is alive, and none was made since there were so many: then nobody has bound a name since.
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

/// A member of a chain, regardless of the type of its value.
@MainActor protocol ChainMember: AnyObject, Sendable {
  var key: MemberKey { get }
  var name: String { get }
  var context: ChainContext { get }
  /// The chain that it belongs to; nil before it joined and after it left.
  var core: ChainCore? { get set }
  var sends: Bool { get }
  var receives: Bool { get }
  var isAlive: Bool { get }
  /// Whether its value has changed and the chain has not noticed it yet: a write would lose the change.
  var hasUnseenEdit: Bool { get }

  /// Joins a chain, and reads the first value.
  func join(_ core: ChainCore) throws
  func connect()
  /// Queues a round for a change that the place reports.
  func placeChanged(_ cause: RoundCause?)
  /// Leaves the chain, and reports the error, if there is one.
  func placeEnded(_ error: (any Error)?)
  /// Adds the directions, filters, converters and sources of the same member that was bound again; throws `OtherValueType`.
  func merge(with other: any ChainMember) throws
  func leave()
  /// Deletes the recorded value, so that the present one counts as changed.
  func discardRecorded()

  /// Reads the present value, and returns whether it differs from the recorded one.
  func hasChanged(isReported: Bool) throws(ChainFailure) -> Bool
  /// Returns the value for the other members if the member's own filters accept it; nil if there is none.
  func outgoingValue() throws(ChainFailure) -> Any?
  /// Prepares the write of a value; returns nil if the place does not exist now.
  func prepare(_ value: Any) throws(ChainFailure) -> ChainWrite?
  /// Records the value that was read, after all members have accepted it.
  func recordCurrent()
  /// Restores the recorded value after the one that was read was refused.
  func restorePrevious()
}

struct ChainWrite {
  let member: any ChainMember
  /// The change for the member's store; nil without a store, or if it has the value already.
  var change: (store: any AtomicStore, content: any Sendable)?
  let value: String
  let perform: @MainActor () -> Void
}

@MainActor final class Member<Place: BindingPlace>: ChainMember {
  typealias Value = Place.Value
  typealias Filter = @MainActor (Value) -> Bool
  /// A source of changes other than the place's own.
  typealias Source = @MainActor (any ChainMember) -> SubscriptionToken

  let place: Place
  let context: ChainContext
  var core: ChainCore?
  private var direction: BindingChain.Direction
  private var converters: [BindingConverter<Value>]
  private var filters: [Filter]
  private var sources: [Source]
  private var connections: [SubscriptionToken] = []
  /// The value that all members have, as far as the chain has noticed.
  private var recorded: Value?
  /// The value that was read for the present round.
  private var current: Value?
  /// The last value that was replaced in the store because it was refused.
  private var refused: Value?

  init(
    _ place: Place, _ context: ChainContext, _ direction: BindingChain.Direction, _ converter: BindingConverter<Value>,
    _ filters: [Filter], source: Source? = nil
  ) {
    self.place = place
    self.context = context
    self.direction = direction
    converters = [converter]
    self.filters = filters
    sources = source.map { [$0] } ?? []
  }

  var key: MemberKey { place.key }
  var name: String { place.name }
  var sends: Bool { direction.contains(.in) }
  var receives: Bool { direction.contains(.out) }
  var isAlive: Bool { place.isAlive }

  var hasUnseenEdit: Bool {
    // A store keeps its own history: nothing is lost there.
    guard sends, place.store == nil, let recorded, let current = try? place.read() else { return false }
    return place.areEqual(recorded, current) == false
  }

  // MARK: Joining

  func join(_ core: ChainCore) throws {
    recorded = try place.read()
    self.core = core
  }

  func connect() {
    connections = sources.map { $0(self) } + place.connect(self)
    place.observe(sends && sources.isEmpty, for: self)
  }

  func placeChanged(_ cause: RoundCause?) {
    core?.enqueue(self, .propagate(isReported: true), cause: cause)
  }

  func placeEnded(_ error: (any Error)?) {
    guard let core else { return }
    if let error { failure(.left(error)).report() }
    core.remove { $0 === self }
  }

  func discardRecorded() { recorded = nil }

  func merge(with other: any ChainMember) throws {
    guard let other = other as? Self else { throw OtherValueType(present: Value.self) }
    direction.formUnion(other.direction)
    converters += other.converters
    filters += other.filters
    sources += other.sources
    place.merge(with: other.place)
    // Only new sources: a connection that is replaced loses what it has not delivered yet.
    connections += other.sources.map { $0(self) }
    place.observe(sends && sources.isEmpty, for: self)
  }

  func leave() {
    for connection in connections { connection.dispose() }
    connections = []
    core = nil
  }

  // MARK: One round

  func hasChanged(isReported: Bool) throws(ChainFailure) -> Bool {
    do { current = try place.read() } catch { throw failure(.init(error)) }
    guard let current else { return false }
    guard let recorded else { return true }
    return place.areEqual(recorded, current).map { !$0 } ?? isReported
  }

  func outgoingValue() throws(ChainFailure) -> Any? {
    guard let current else { return nil }
    try check(current)
    do { return try converters.last(where: { $0.outgoing != nil })?.outgoing?(current) ?? current } catch {
      throw failure(.init(error), current)
    }
  }

  func prepare(_ value: Any) throws(ChainFailure) -> ChainWrite? {
    let new: Value
    do {
      guard try place.store != nil || place.read() != nil else { return nil }
      let incoming = converters.last { $0.incoming != nil }?.incoming
      new = try incoming?(value) ?? AutomaticConversion.convert(value, to: Value.self)
    } catch { throw failure(.init(error), value) }
    try check(new)
    var write = ChainWrite(member: self, value: ChainFailure.text(new)) { self.accept(new) }
    if let store = place.store, recorded.flatMap({ place.areEqual($0, new) }) != true {
      write.change = (store, place.change(to: new, expecting: nil))
    }
    return write
  }

  /// Writes a value that all members have accepted.
  private func accept(_ new: Value) {
    guard let core else { return }
    let hasUnseenEdit = hasUnseenEdit
    refused = nil
    recorded = new
    // A store has the value already. An edit that was not noticed yet is propagated in a round after this one.
    if place.store != nil { return }
    if hasUnseenEdit { return core.enqueue(self, .propagate(isReported: true, isInOrder: true)) }
    if let present = try? place.read(), place.areEqual(present, new) == true { return }
    place.write(new)
    guard let corrected = try? place.read(), place.areEqual(corrected, new) == false else { return }
    // The setter corrected the value: a member that sends propagates it to the others.
    if sends {
      core.enqueue(self, .propagate(), cause: RoundCause.current.map { RoundCause(cascade: $0.cascade, name: name) })
    } else {
      recorded = corrected
    }
  }

  func recordCurrent() {
    recorded = current
    refused = nil
  }

  func restorePrevious() {
    guard let recorded, let current else { return }
    guard let store = place.store else {
      place.write(recorded)
      if let restored = try? place.read() { self.recorded = restored }
      return
    }
    // Not twice in a row: two processes that refuse each other's values would never stop.
    if let refused, place.areEqual(refused, current) == true { return }
    refused = current
    do { try store.commit([place.change(to: recorded, expecting: current)], origin: context.name) } catch {
      // After a conflict there is nothing to report: another writer has changed the value, and that change will be delivered.
      if !error.isConflict { failure(.init(error.cause), recorded).report() }
    }
  }

  private func check(_ value: Value) throws(ChainFailure) {
    for filter in filters where !filter(value) { throw failure(.filtered, value) }
  }

  private func failure(_ reason: BindingError.Reason, _ value: Any? = nil) -> ChainFailure {
    ChainFailure(member: self, reason: reason, value: value.map { ChainFailure.text($0) })
  }
}

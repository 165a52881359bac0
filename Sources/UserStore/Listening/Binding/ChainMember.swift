/// A member of a chain, for every type of value.
@MainActor protocol ChainMember: AnyObject, Sendable {
  var key: MemberKey { get }
  var name: String { get }
  var context: ChainContext { get }
  /// The chain that it belongs to; nil before it joined and after it left.
  var core: ChainCore? { get set }
  var sends: Bool { get }
  var receives: Bool { get }
  var isAlive: Bool { get }
  /// Whether its value was changed, and the change was not noticed yet: writing the member would lose it.
  var isEdited: Bool { get }

  /// Joins a chain, and reads the first value.
  func join(_ core: ChainCore) throws
  /// Begins to receive changes.
  func connect()
  /// Adds the directions, filters, converters and sources of the same member that was bound again.
  func merge(with other: any ChainMember)
  func leave()
  /// Forgets the recorded value, so that the present one counts as changed.
  func discardRecorded()

  /// Reads the present value, and returns whether it differs from the recorded one.
  func hasChanged(isReported: Bool) throws(ChainFailure) -> Bool
  /// The value for the other members, if the member's own filters accept it; nil when there is none.
  func outgoingValue() throws(ChainFailure) -> Any?
  /// Prepares the write of a value; nil when the place does not exist now.
  func prepare(_ value: Any) throws(ChainFailure) -> ChainWrite?
  /// Records the value that was read: all members have it.
  func recordCurrent()
  /// Restores the recorded value after the one that was read was refused.
  func restorePrevious()
}

/// A write of a member that was prepared.
struct ChainWrite {
  let member: any ChainMember
  /// The change for the ledger; nil without a ledger, or when it has the value already.
  let entry: (ledger: any BindingLedger, change: any Sendable)?
  let value: String
  /// Writes the value.
  let perform: @MainActor () -> Void
}

/// A member with its place.
@MainActor final class Member<Place: BindingPlace>: ChainMember {
  typealias Value = Place.Value
  typealias Filter = @MainActor (Value) -> Bool
  /// A source of changes beside the place's own.
  typealias Source = @MainActor (MemberEvents) -> SubscriptionToken

  let place: Place
  let context: ChainContext
  var core: ChainCore?
  private var direction: BindingChain.Direction
  private var converters: [BindingConverter<Value>]
  private var filters: [Filter]
  private var sources: [Source]
  private var connections: [SubscriptionToken] = []
  /// The value that all members have, as far as the chain knows.
  private var recorded: Value?
  /// The value that was read for the present round.
  private var present: Value?
  /// The value that a ledger had to take back last.
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

  var isEdited: Bool {
    // A ledger keeps its own history: nothing is lost there.
    guard sends, place.ledger == nil, let recorded, let present = try? place.read() else { return false }
    return place.isSame(recorded, present) == false
  }

  // MARK: Joining

  func join(_ core: ChainCore) throws {
    recorded = try place.read()
    self.core = core
  }

  func connect() {
    disconnect()
    connections = sources.map { $0(events) } + place.connect(events, sends: sends && sources.isEmpty)
  }

  func discardRecorded() { recorded = nil }

  func merge(with other: any ChainMember) {
    guard let other = other as? Self else { return }
    direction.formUnion(other.direction)
    converters += other.converters
    filters += other.filters
    sources += other.sources
    connect()
  }

  func leave() {
    disconnect()
    core = nil
  }

  private func disconnect() {
    for connection in connections { connection.dispose() }
    connections = []
    place.disconnect()
  }

  private var events: MemberEvents {
    MemberEvents(
      changed: { [weak self] cause in
        if let self { core?.enqueue(self, .propagateReported, cause: cause) }
      },
      left: { [weak self] error in
        guard let self, let core else { return }
        if let error { context.report(.left(error), at: name, object: key.object) }
        core.remove { $0 === self }
      })
  }

  // MARK: One round

  func hasChanged(isReported: Bool) throws(ChainFailure) -> Bool {
    do { present = try place.read() } catch { throw failure(error) }
    guard let present else { return false }
    guard let recorded else { return true }
    return place.isSame(recorded, present).map { !$0 } ?? isReported
  }

  func outgoingValue() throws(ChainFailure) -> Any? {
    guard let present else { return nil }
    try check(present)
    do { return try converters.last(where: { $0.outgoing != nil })?.outgoing?(present) ?? present } catch {
      throw failure(error, present)
    }
  }

  func prepare(_ value: Any) throws(ChainFailure) -> ChainWrite? {
    let new: Value
    do {
      guard try place.ledger != nil || place.read() != nil else { return nil }
      let incoming = converters.last { $0.incoming != nil }?.incoming
      new = try incoming?(value) ?? AutomaticConversion.convert(value, to: Value.self)
    } catch { throw failure(error, value) }
    try check(new)
    return ChainWrite(member: self, entry: entry(for: new), value: ChainFailure.text(new)) { self.take(new) }
  }

  private func entry(for new: Value) -> (ledger: any BindingLedger, change: any Sendable)? {
    guard let ledger = place.ledger else { return nil }
    if let recorded, place.isSame(recorded, new) == true { return nil }
    return (ledger, place.entry(new, expecting: nil))
  }

  /// Writes a value that all members have accepted.
  private func take(_ new: Value) {
    guard let core else { return }
    let isEdited = isEdited
    refused = nil
    recorded = new
    // A ledger has the value already. An edit that was not noticed yet is a round of its own, after this one.
    if place.ledger != nil { return }
    if isEdited {
      core.enqueue(self, .propagateInOrder, cause: .current)
      return
    }
    if let present = try? place.read(), place.isSame(present, new) == true { return }
    place.write(new)
    guard let left = try? place.read(), place.isSame(left, new) == false else { return }
    // The setter corrected the value: a member that sends propagates it to the others.
    if sends {
      core.enqueue(self, .propagate, cause: RoundCause.current.map { RoundCause(cascade: $0.cascade, name: name) })
    } else {
      recorded = left
    }
  }

  func recordCurrent() {
    recorded = present
    refused = nil
  }

  func restorePrevious() {
    guard let recorded, let present else { return }
    guard let ledger = place.ledger else {
      place.write(recorded)
      if let left = try? place.read() { self.recorded = left }
      return
    }
    // Two processes that refuse each other's values would never come to an end.
    if let refused, place.isSame(refused, present) == true { return }
    refused = present
    do { try ledger.commit([place.entry(recorded, expecting: present)], origin: context.name) } catch {
      // Another writer has changed the value since, and that change is reported too.
      if !error.isConflict { failure(error.cause, recorded).report() }
    }
  }

  // MARK: Parts

  private func check(_ value: Value) throws(ChainFailure) {
    for filter in filters where !filter(value) { throw failure(.filtered, value) }
  }

  private func failure(_ error: any Error, _ value: Any? = nil) -> ChainFailure {
    switch error {
    case let failure as ChainFailure: failure
    case let error as AutomaticConversion.Impossible: failure(.unconvertible(to: error.type), value)
    case let error as MemberUnavailable: failure(.left(error.cause), value)
    default: failure(.failed(error), value)
    }
  }

  private func failure(_ reason: BindingError.Reason, _ value: Any? = nil) -> ChainFailure {
    ChainFailure(member: self, reason: reason, value: value.map { ChainFailure.text($0) })
  }
}

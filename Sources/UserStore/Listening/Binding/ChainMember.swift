/// A member of a chain, whatever its value is.
@MainActor protocol ChainMember: AnyObject, Sendable {
  var key: MemberKey { get }
  var name: String { get }
  var context: ChainContext { get }
  /// The chain that it belongs to; nil before it joined and after it left.
  var core: ChainCore? { get set }
  var sends: Bool { get }
  var receives: Bool { get }
  var isAlive: Bool { get }
  /// Whether it has a change that the chain has not seen, and that would be lost if it were written.
  var isEdited: Bool { get }

  /// Reads the first value.
  func join(_ core: ChainCore) throws
  /// Begins to hear of changes.
  func connect()
  /// Takes over what the same member was bound with once more.
  func merge(with other: any ChainMember)
  func leave()
  /// Makes its value one that the chain does not know.
  func discardRecorded()

  /// Reads the present value, and says whether it is another one than the chain knows.
  func hasChanged(isReported: Bool) throws(ChainFailure) -> Bool
  /// What the others get of the value that was read, if its own filters let it go; nil when there is none.
  func outgoingValue() throws(ChainFailure) -> Any?
  /// What receiving a value would mean; nil when the place is not there.
  func prepare(_ value: Any) throws(ChainFailure) -> ChainWrite?
  /// The value that was read is recorded to all.
  func recordCurrent()
  /// The value that was read was refused: the one before comes back.
  func restorePrevious()
}

/// A value that a member would take.
struct ChainWrite {
  let member: any ChainMember
  /// The change for the ledger; nil without a ledger, or when it has the value already.
  let entry: (ledger: any BindingLedger, change: any Sendable)?
  let value: String
  /// Takes it.
  let perform: @MainActor () -> Void
}

/// A member whose value lies in a place.
@MainActor final class Member<Place: BindingPlace>: ChainMember {
  typealias Value = Place.Value
  typealias Filter = @MainActor (Value) -> Bool
  /// A source of changes that the place knows nothing of.
  typealias Source = @MainActor (MemberEvents) -> SubscriptionToken

  let place: Place
  let context: ChainContext
  var core: ChainCore?
  private var direction: BindingChain.Direction
  private var converters: [BindingConverter<Value>]
  private var filters: [Filter]
  private var sources: [Source]
  private var connections: [SubscriptionToken] = []
  /// What the chain knows the value to be.
  private var recorded: Value?
  /// What was read for the present round.
  private var present: Value?
  /// What a ledger had to take back the last time.
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
    // What a ledger has is in its history: nothing is lost there.
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

  /// Takes a value that all agreed to.
  private func take(_ new: Value) {
    guard let core else { return }
    let isEdited = isEdited
    refused = nil
    recorded = new
    // A ledger has it already. An edit that nobody has seen yet is a round of its own, after this one.
    if place.ledger != nil { return }
    if isEdited {
      core.enqueue(self, .propagateInOrder, cause: .current)
      return
    }
    if let present = try? place.read(), place.isSame(present, new) == true { return }
    place.write(new)
    guard let left = try? place.read(), place.isSame(left, new) == false else { return }
    // It was corrected: who sends lets the others know.
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
    // Two processes that refuse each other's values would go on for ever.
    if let refused, place.isSame(refused, present) == true { return }
    refused = present
    do { try ledger.commit([place.entry(recorded, expecting: present)], origin: context.name) } catch {
      // Somebody wrote once more: that is told by itself.
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

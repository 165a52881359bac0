/// Where the value of a member lies: a property, a listenable, an attribute in a store.
@MainActor protocol BindingPlace: AnyObject {
  associatedtype Value

  var key: MemberKey { get }
  /// For messages.
  var name: String { get }
  /// Whether what the value belongs to is there: it is held weakly.
  var isAlive: Bool { get }
  /// What keeps the value and decides on it; it is written before all others, and knows its own history.
  var ledger: (any BindingLedger)? { get }

  /// The present value; nil for a place that is not there now, and may come again.
  func read() throws -> Value?
  /// Not called where there is a ledger.
  func write(_ value: Value)
  /// Whether two values are the same; nil if nobody can tell.
  func isSame(_ left: Value, _ right: Value) -> Bool?
  /// The change as the ledger wants it, with what must be there now, if that matters.
  func entry(_ value: Value, expecting expected: Value?) -> any Sendable
  /// Begins to tell what happens here, if the place can; changes only where the member sends.
  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken]
  /// Ends what `connect` began and has no token for.
  func disconnect()
}

extension BindingPlace {
  var ledger: (any BindingLedger)? { nil }
  func disconnect() {}
  func entry(_ value: Value, expecting expected: Value?) -> any Sendable { () }
}

/// What a place tells its member.
struct MemberEvents {
  let changed: @MainActor @Sendable (RoundCause?) -> Void
  /// With the reason, if it is to be reported.
  let left: @MainActor @Sendable ((any Error)?) -> Void
}

/// What writes the values of several members together, all or none.
protocol BindingLedger: AnyObject, Sendable {
  /// Writes.
  ///
  /// - Throws: `LedgerFailure`: nothing was changed.
  func commit(_ entries: [any Sendable], origin: String) throws(LedgerFailure)
}

struct LedgerFailure: Error {
  /// At which entry.
  let index: Int
  let cause: any Error
  /// Whether something else is there than was expected.
  var isConflict = false
}

/// What tells members apart: the object and the property, whatever the chain.
struct MemberKey: Hashable {
  let object: ObjectIdentifier
  let property: AnyHashable
}

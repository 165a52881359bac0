/// The place of a member's value: a property, a listenable, an attribute in a store.
@MainActor protocol BindingPlace: AnyObject {
  associatedtype Value

  var key: MemberKey { get }
  /// The name in messages.
  var name: String { get }
  /// Whether the object of the value lives; it is held weakly.
  var isAlive: Bool { get }
  /// The ledger that stores the value and may refuse it. It is written before all other members, and keeps its own history.
  var ledger: (any BindingLedger)? { get }

  /// Reads the present value; nil for a place that does not exist now, but may exist again.
  func read() throws -> Value?
  /// Writes a value. Not called for a place with a ledger.
  func write(_ value: Value)
  /// Whether two values are equal; nil if they cannot be compared.
  func isSame(_ left: Value, _ right: Value) -> Bool?
  /// The change for the ledger, with the value that must be there now, if that matters.
  func entry(_ value: Value, expecting expected: Value?) -> any Sendable
  /// Begins to report changes, if the place can and the member sends, and the end of the place.
  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken]
  /// Ends what `connect` began and has no token for.
  func disconnect()
}

extension BindingPlace {
  var ledger: (any BindingLedger)? { nil }
  func disconnect() {}
  func entry(_ value: Value, expecting expected: Value?) -> any Sendable { () }
}

/// The events that a place reports to its member.
struct MemberEvents {
  let changed: @MainActor @Sendable (RoundCause?) -> Void
  /// With the reason, if it is to be reported.
  let left: @MainActor @Sendable ((any Error)?) -> Void
}

/// Writes the values of several members together, all or none.
protocol BindingLedger: AnyObject, Sendable {
  /// Writes the entries.
  ///
  /// - Throws: `LedgerFailure`; then nothing was changed.
  func commit(_ entries: [any Sendable], origin: String) throws(LedgerFailure)
}

struct LedgerFailure: Error {
  /// The index of the entry that failed.
  let index: Int
  let cause: any Error
  /// Whether the present value was another one than expected.
  var isConflict = false
}

/// Identifies a member in all chains: by its object and its property.
struct MemberKey: Hashable {
  let object: ObjectIdentifier
  let property: AnyHashable
}

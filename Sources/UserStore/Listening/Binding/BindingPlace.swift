/// The place of a member's value: a property, a listenable, an attribute in a store.
@MainActor protocol BindingPlace: AnyObject {
  associatedtype Value

  var key: MemberKey { get }
  var name: String { get }
  /// Whether the place's object, which is held weakly, still exists.
  var isAlive: Bool { get }
  /// The store that contains the value and may refuse it; it is written before all other members.
  var store: (any AtomicStore)? { get }
  /// Compares two values; returns nil if they cannot be compared.
  var areEqual: ValueEquality.Test<Value> { get }

  /// Returns the present value; nil for a place that does not exist now, but may exist again.
  func read() throws -> Value?
  /// Writes a value. Not called for a place in a store.
  func write(_ value: Value)
  /// Returns the change for `store`, which fails if `expected` is not nil and not the present value.
  func change(to value: Value, expecting expected: Value?) -> any Sendable
  /// Starts to report changes and the end of the place to the member; called once.
  func connect(_ member: any ChainMember) -> [SubscriptionToken]
  /// Starts or stops to observe a property for the member; called again when the member is bound again.
  func observe(_ isObserved: Bool, for member: any ChainMember)
  /// Merges with another object for the same place, when the member is bound again.
  func merge(with other: Self)
}

extension BindingPlace {
  var store: (any AtomicStore)? { nil }
  func change(to value: Value, expecting expected: Value?) -> any Sendable { () }
  func connect(_ member: any ChainMember) -> [SubscriptionToken] { [] }
  func observe(_ isObserved: Bool, for member: any ChainMember) {}
  func merge(with other: Self) {}
}

/// A store that writes the values of several members together, all or none.
protocol AtomicStore: AnyObject, Sendable {
  /// Writes the changes; if it throws, nothing was changed.
  func commit(_ changes: [any Sendable], origin: String) throws(CommitFailure)
}

struct CommitFailure: Error {
  /// The index of the change that failed.
  let index: Int
  let cause: any Error
  /// Whether the present value was not the expected one.
  var isConflict = false
}

/// Identifies a member in all chains.
struct MemberKey: Hashable {
  let object: ObjectIdentifier
  let property: AnyHashable
}

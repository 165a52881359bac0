/// A request for values of the users who meet a condition; `Limits.check` has checked it.
package struct RowRequest: Sendable {
  package var condition: Condition
  /// The sort keys; the identifier follows them.
  package var order: [SortKey]
  /// The place after which the rows start; nil for the first.
  package var start: Query.Position?
  package var limit: Int?
  /// The attributes to read; `id` is the identifier.
  package var columns: [AttributeName]

  /// All users, in the order of their identifiers.
  package static var all: RowRequest { RowRequest(condition: .always, order: [], columns: []) }

  /// Whether it selects all users, in the order of their identifiers.
  package var selectsAll: Bool { condition == .always && order.isEmpty && start == nil && limit == nil }
}

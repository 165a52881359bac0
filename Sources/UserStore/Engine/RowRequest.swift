/// What to read of the users that meet a condition; it was checked (`Limits.check`).
struct RowRequest: Sendable {
  var condition: Condition
  /// After these, the identifier.
  var order: [SortKey]
  /// The place after which the rows start; nil for the first.
  var start: Query.Position?
  var limit: Int?
  /// The attributes to read; `id` is the identifier.
  var columns: [AttributeName]
}

/// What to read of the users that meet a condition; it was checked (`Limits.check`).
package struct RowRequest: Sendable {
  package var condition: Condition
  /// After these, the identifier.
  package var order: [SortKey]
  /// The place after which the rows start; nil for the first.
  package var start: Query.Position?
  package var limit: Int?
  /// The attributes to read; `id` is the identifier.
  package var columns: [AttributeName]

  /// All users, in the order of their identifiers.
  package static var all: RowRequest { RowRequest(condition: .always, order: [], columns: []) }

  /// Whether its result may depend on the order of texts, or on their bytes.
  var comparesText: Bool { order.contains { $0.attribute != .id } || condition.comparesText }
}

extension Condition {
  /// Whether it compares with text.
  var comparesText: Bool { node.values.contains { $0.class == .text } }
}

extension Condition.Node {
  /// The values that it compares with.
  fileprivate var values: [StoredValue] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.values)
    case .not(let part): part.values
    case .comparison(_, _, let value): [value]
    case .isOneOf(_, let values): values
    case .exists: []
    }
  }
}

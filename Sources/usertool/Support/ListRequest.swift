import UserStore

/// The users that `usertool list` shows.
struct ListRequest {
  let selection: UserSelection
  let order: [SortArgument]
  let query: Query

  /// Reads the options; throws for a mistake in one.
  init(_ conditions: UserConditions, sortedBy order: [SortArgument], limit: Int?, after: String?) throws(Failure) {
    selection = try UserSelection(conditions)
    self.order = order
    let keys = try order.map { key throws(Failure) in try key.key() }
    if let twice = keys.first(where: { key in keys.count { $0.attribute == key.attribute } > 1 }) {
      throw Failure(.usage, "--sort: \"\(twice.attribute)\" is given twice")
    }
    let query = Query(where: selection.condition, sortedBy: keys, limit: limit)
    self.query =
      try after.map { text throws(Failure) in query.after(try PageToken.position(text, sortedBy: keys)) } ?? query
  }

  /// The attributes that the command line names: those of the order, then those of the conditions.
  var attributes: [AttributeName] { query.order.map(\.attribute) + selection.attributes }

  /// Throws for an attribute that looks like a mistake, if no user has it.
  func check(in transaction: inout ReadTransaction) throws {
    try selection.check(sortedBy: order, in: &transaction)
  }
}

// Live lists and counts; how they follow the log is in the folder Lists.
extension UserStore {
  /// Returns the users that meet a query as a list that follows the log, with every committed change of any process.
  ///
  ///     let adults = try store.list(UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50))
  ///     adults.bindAndFire("FirstScreen", on: .latestOnMain, owner: self) { screen, rows in
  ///       screen.table.apply(rows.changes(from: screen.rows))
  ///       screen.rows = rows
  ///     }
  ///
  /// The list does not run its query again for a change: it compares the user before and after. Listeners are called once for
  /// each change set that changes the rows, after the listeners of the records, and before `write` returns. The rows are those
  /// at the end of that set, even if others have been committed since.
  ///
  /// Names of listeners belong to the query: two lists of equal queries share them, and the list itself. It is kept current
  /// while you hold it, and while it has named listeners. It takes memory for the identifiers, the attributes of the condition and
  /// the order, and those that are shown (`Query.shown`); with a limit, for up to three times as many rows, or 2,000 more.
  ///
  /// After a discontinuity, and for a set of more than 20,000 changes, the query runs again, and the first version after that may
  /// include later sets. So may the first rows of a list that is made inside a listener.
  ///
  /// - Parameter query: The query.
  /// - Returns: The list. An error of reading it later goes to `Configuration.onListenerError`, and the next change is the occasion
  ///   to read it again.
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run (a limit below 1, more than 1,000 values, …), and the codes
  ///   that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction.
  public func list(_ query: Query) throws(StoreError) -> Listenable<Rows> {
    try Limits.check(query)
    return try liveQueries.list(query)
  }

  /// Returns the number of users that meet a condition as a value that follows the log, as a list does.
  ///
  /// It takes no memory for the users, and reads the attributes of a condition that a change set does not have.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The number. Names of its listeners belong to the condition.
  /// - Throws: The errors of `list`.
  public func count(where condition: Condition = .always) throws(StoreError) -> Listenable<Int> {
    try Limits.check(condition)
    return try liveQueries.count(condition)
  }
}

// Live lists and counts; how they follow the log is in the folder Lists.
extension UserStore {
  /// Returns the users who meet a query as a list that follows the log, with every committed change of any process.
  ///
  ///     let adults = try store.list(UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50))
  ///     adults.bindAndFire("FirstScreen", on: .latestOnMain, owner: self) { screen, rows in
  ///       screen.table.apply(rows.rowChanges(from: screen.rows))
  ///       screen.rows = rows
  ///     }
  ///
  /// The list does not run its query again for a change: it takes the change from the log.
  ///
  /// - **Listeners** are called once for each change set that changes a row, after the listeners of the changes, and before `write`
  ///   returns. The rows are those at the end of that change set, even if others have been committed since.
  /// - **Names** of listeners belong to the query: lists of equal queries are one list.
  /// - **Lifetime**: the list is current while you hold it, and while it has a named listener or a subscription.
  /// - **Memory** is for the identifiers, the attributes of the condition and the order, and those that are shown
  ///   (``Query/showing``). With a limit, it is also for up to twice as many further rows: up to 32 for a limit below 16, and at
  ///   most 2,000.
  /// - **Reading again**: after a discontinuity, a change set of more than 20,000 changes, and an error, the query runs again, and
  ///   the rows may include later change sets. So may the first rows of a list that is created in a listener.
  /// - **Errors** of reading after the first time go to ``Configuration/onListenerError``, and are failures of the signal. The list
  ///   keeps its rows, and reads again after the next change set.
  ///
  /// The article <doc:Lists> explains all of this.
  ///
  /// - Parameter query: The query.
  /// - Returns: The list, with its current rows.
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run (a limit below 1, more than 2,000 values, …), and the codes
  ///   that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction.
  public func list(_ query: Query) throws(StoreError) -> Listenable<Rows> {
    try Limits.check(query)
    try reader.check()
    return try liveQueries.list(query)
  }

  /// Returns the number of users who meet a condition as a value that follows the log, as a list does; `count(where:)` reads it once.
  ///
  /// It takes no memory for the users. Names of its listeners belong to the condition.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The number, with its current value.
  /// - Throws: The errors of `list`.
  public func liveCount(where condition: Condition = .always) throws(StoreError) -> Listenable<Int> {
    try Limits.check(condition)
    try reader.check()
    return try liveQueries.count(condition)
  }
}

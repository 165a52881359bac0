extension UserStore {
  /// Changes records in a transaction that another library has begun on its own connection to the store's file.
  ///
  /// What `body` does becomes part of that transaction, together with what the other library writes to its own tables: both are
  /// committed, or nothing is. The call neither begins nor ends the transaction. An error in `body` undoes what `body` has done,
  /// and nothing else. Several calls in one transaction make one change set, with the origin of the last one; it includes what
  /// the transaction has written to the store's tables before that call.
  ///
  /// Listeners are called when the other library has committed, as for the commit of another process: call `lookForCommits()`
  /// then, so that they need not wait for the system's event.
  ///
  /// Begin the transaction with `BEGIN IMMEDIATE`. One that has already read can no longer write if another program has committed
  /// since: then this throws `StoreError.Code.busy`, and only a new transaction helps. While it is open, do not call `write` of
  /// the store on the same thread: it waits for the end of this transaction.
  ///
  /// - Parameters:
  ///   - handle: The `sqlite3 *` of a connection that was opened with the SQLite library of this process, on a thread that may use
  ///     it. No statement remains on it.
  ///   - origin: The writer's name for itself, which listeners find in the change set.
  ///   - body: Receives the transaction, which is valid until `body` returns.
  /// - Returns: The result of `body`.
  /// - Throws: `StoreError.Code.misuse` if the connection is not in a transaction, has another database open, or does not run
  ///   triggers, and for a store that is not in a file; `.schemaChanged` and `.logIncomplete` if the store's tables and triggers
  ///   are not as the library created them; the codes that every write can throw (see ``StoreError/Code``); and what `body` throws.
  @unsafe @discardableResult
  public func write<Result>(
    on handle: OpaquePointer, origin: String? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    try unsafe writeReporting(on: handle, origin: origin, statements: nil, body).result
  }

  /// Writes as `write(on:origin:_:)`, and returns whether `body` has removed users, so that rows of other tables may be gone.
  ///
  /// `statements` returns the statement of some SQL, which the other library keeps, and what holds it; nil to prepare it here.
  @unsafe
  package func writeReporting<Result>(
    on handle: OpaquePointer, origin: String?,
    statements: ((_ sql: String) -> (handle: OpaquePointer, owner: AnyObject)?)?,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> (result: Result, hasRemovedUsers: Bool) {
    _ = try writable(writer)
    return try reader.entering {
      try unsafe borrowed().write(on: handle, origin: origin, statements: statements) { session in
        var transaction = WriteTransaction(session)
        return (try body(&transaction), session.hasRemovedUsers)
      }
    }
  }

  /// Reads in a transaction that another library has begun on its own connection to the store's file, with what it has written.
  ///
  /// - Parameters:
  ///   - handle: The `sqlite3 *` of the connection, as for `write(on:origin:_:)`.
  ///   - body: Receives the transaction, which is valid until `body` returns.
  /// - Returns: The result of `body`.
  /// - Throws: `StoreError.Code.misuse`, `.schemaChanged` and `.logIncomplete` as `write(on:origin:_:)`; the codes that every read
  ///   can throw (see ``StoreError/Code``); and what `body` throws.
  @unsafe
  public func read<Result>(on handle: OpaquePointer, _ body: (inout ReadTransaction) throws -> Result) throws -> Result
  {
    try reader.entering {
      try unsafe borrowed().read(on: handle) { session in
        var transaction = ReadTransaction(session)
        return try body(&transaction)
      }
    }
  }

  /// Delivers what other connections have committed, without waiting for the system's event, and wakes other processes.
  ///
  /// Call it after another library has committed a change of users in this process. It returns at once: the thread that watches
  /// other processes delivers, unless `Configuration.watchesOtherProcesses` is false. May be called on any thread.
  public func lookForCommits() {
    watcher?.look()
    publication.wakeFollowers()
  }

  private func borrowed() throws(StoreError) -> BorrowedSessions {
    guard let borrowed = (engine as? SQLiteEngine)?.borrowed else {
      throw StoreError(.misuse, "the store is not in a file, so that no other connection can have it open")
    }
    return borrowed
  }
}

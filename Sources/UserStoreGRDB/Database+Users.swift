// Empty without the package trait GRDB.
#if GRDB
  public import GRDB
  public import UserStore

  extension Database {
    /// Changes users of a store in GRDB's open transaction: they are committed together with the rows of your own tables.
    ///
    ///     try queue.write { db in
    ///       try Order(user: zoe.rawValue, item: item).insert(db)
    ///       try db.users(of: store, origin: "shop") { users in
    ///         try users.set(.plan, of: zoe, to: "pro")
    ///         try users.post("ordered", about: zoe)
    ///       }
    ///     }
    ///
    /// The store's listeners are called right after GRDB has committed, on the thread with which the store watches other
    /// processes. Observations of GRDB on the tables `users` and `attributes` see the changes too; if a user is removed,
    /// those on all tables, because foreign keys may have removed rows of them. See ``UserStore/UserStore/write(on:origin:_:)``.
    ///
    /// - Parameters:
    ///   - store: A store in the file that this connection has open.
    ///   - origin: The writer's name for itself, which listeners find in the change set; the last call in a transaction counts.
    ///   - body: Receives the transaction, which is valid until `body` returns. If it throws, what it has done is undone, and nothing
    ///     else.
    /// - Returns: The result of `body`.
    /// - Throws: `StoreError.Code.misuse` outside of a transaction, and on another file; the codes that every write can throw; and
    ///   what `body` throws.
    @discardableResult
    public func users<Result>(
      of store: UserStore, origin: String? = nil, _ body: (inout UserStore.WriteTransaction) throws -> Result
    ) throws -> Result {
      let handle = try unsafe openHandle()
      if isInsideTransaction { afterNextTransaction { [weak store] _ in store?.lookForCommits() } }
      // GRDB keeps the statements: it reports each access of a statement to itself when the statement is prepared, which takes longer
      // than running it.
      let (result, hasRemovedUsers) = try unsafe store.writeReporting(
        on: handle, origin: origin,
        statements: { sql in
          guard let statement = try? self.cachedStatement(sql: sql) else { return nil }
          return unsafe (statement.sqliteStatement, statement)
        }, body)
      // Statements that GRDB has not run do not reach its observers.
      try notifyChanges(in: hasRemovedUsers ? .fullDatabase : usersRegion())
      return result
    }

    /// Reads users of a store in GRDB's open transaction, with what it has written.
    ///
    /// - Parameters:
    ///   - store: A store in the file that this connection has open.
    ///   - body: Receives the transaction, which is valid until `body` returns.
    /// - Returns: The result of `body`.
    /// - Throws: `StoreError.Code.misuse` outside of a transaction, and on another file; the codes that every read can throw; and
    ///   what `body` throws.
    public func readUsers<Result>(
      of store: UserStore, _ body: (inout UserStore.ReadTransaction) throws -> Result
    ) throws -> Result {
      try unsafe store.read(on: openHandle(), body)
    }

    private func usersRegion() throws -> DatabaseRegion {
      try cachedStatement(sql: "SELECT 1 FROM users, attributes").databaseRegion
    }

    @unsafe private func openHandle() throws(StoreError) -> OpaquePointer {
      guard let handle = unsafe sqliteConnection else { throw StoreError(.closed, "the connection of GRDB was closed") }
      return unsafe handle
    }
  }
#endif

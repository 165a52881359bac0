/// A transaction in which users are read, and, in a `write`, changed.
///
/// Lives as long as the closure that gets it.
public struct Transaction<Mode>: ~Copyable {
  let lease: ConnectionPool.Lease

  init(_ lease: ConnectionPool.Lease) {
    self.lease = lease
  }

  /// Runs what uses the connection, in the store's errors.
  ///
  /// - Throws: `StoreError.transactionEnded` when SQLite ended the transaction: what ran on would commit by itself.
  mutating func perform<Result>(
    _ what: @autoclosure () -> String, _ body: (borrowing Connection) throws(SQLiteError) -> Result
  ) throws(StoreError) -> Result {
    guard lease.connection.isInTransaction else {
      throw StoreError(.transactionEnded, "an error before ended the transaction; nothing of it was kept")
    }
    return try storing(what()) { () throws(SQLiteError) in try body(lease.connection) }
  }
}

/// The mode of `read`.
public enum Reading {}

/// The mode of `write`.
public enum Writing {}

/// What `read` hands out: one state of the store, whatever others write meanwhile.
public typealias ReadTransaction = Transaction<Reading>

/// What `write` hands out: all that is done through it is committed together, or not at all.
public typealias WriteTransaction = Transaction<Writing>

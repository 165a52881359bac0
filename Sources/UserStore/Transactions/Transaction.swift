extension UserStore {
  /// A transaction in which users are read, and, in a `write`, changed.
  ///
  /// Valid until the closure that receives it returns. Its methods are mutating so that a closure passed to one of them
  /// (`forEachUser`) cannot use the transaction at the same time.
  public struct Transaction<Mode>: ~Copyable {
    private let connection: any Session
    /// In a write, the end of the log before it.
    let start: Cursor?

    init(_ session: any Session, after start: Cursor? = nil) {
      connection = session
      self.start = start
    }

    /// False after the database ended the transaction because of an error.
    var isOpen: Bool { connection.isInTransaction }

    /// Where the transaction is open.
    ///
    /// - Throws: `StoreError.Code.transactionEnded` when the database ended the transaction because of an error: statements
    ///   that run now would commit one by one.
    var session: any Session {
      get throws(StoreError) {
        guard isOpen else {
          throw StoreError(.transactionEnded, "an error before ended the transaction; nothing of it was kept")
        }
        return connection
      }
    }
  }
}

extension UserStore {
  /// The mode of `read`.
  public enum Reading {}
}

extension UserStore {
  /// The mode of `write`.
  public enum Writing {}
}

extension UserStore {
  /// What `read` passes to its closure: one state of the store, whatever others write meanwhile.
  public typealias ReadTransaction = Transaction<Reading>
}

extension UserStore {
  /// What `write` passes to its closure: everything done through it is committed together, or nothing is.
  public typealias WriteTransaction = Transaction<Writing>
}

package typealias ReadTransaction = UserStore.ReadTransaction
package typealias Reading = UserStore.Reading
package typealias Transaction = UserStore.Transaction
package typealias WriteTransaction = UserStore.WriteTransaction
package typealias Writing = UserStore.Writing

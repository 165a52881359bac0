extension UserStore {
  /// The transaction that `read` and `write` pass to their closure, as a `ReadTransaction` or a `WriteTransaction`.
  ///
  /// It is valid until the closure returns, and has exclusive access to its session, a connection that runs one operation at
  /// a time. So its methods are mutating, even those that only read: the closure that you pass to `forEachUser` cannot use the
  /// transaction while the users are being read.
  ///
  /// If an error ends the transaction, such as a full disk, further reads and writes throw `StoreError.Code.transactionEnded`.
  public struct Transaction<Mode>: ~Copyable {
    private let unchecked: any Session

    init(_ session: any Session) { unchecked = session }

    /// False after the database ended the transaction because of an error.
    var isOpen: Bool { unchecked.isInTransaction }

    /// The session; throws if the transaction has ended, because each statement would then be committed on its own.
    package var session: any Session {
      get throws(StoreError) {
        guard isOpen else {
          throw StoreError(.transactionEnded, "an earlier error ended the transaction and rolled it back")
        }
        return unchecked
      }
    }
  }

  /// The mode of a transaction that `read` starts.
  public enum Reading {}

  /// The mode of a transaction that `write` starts.
  public enum Writing {}

  /// The transaction that `read` passes to its closure: one snapshot, unaffected by concurrent writes.
  public typealias ReadTransaction = Transaction<Reading>

  /// The transaction that `write` passes to its closure: everything that you do with it is committed together, or nothing is.
  public typealias WriteTransaction = Transaction<Writing>
}

package typealias ReadTransaction = UserStore.ReadTransaction
package typealias Transaction = UserStore.Transaction
package typealias WriteTransaction = UserStore.WriteTransaction

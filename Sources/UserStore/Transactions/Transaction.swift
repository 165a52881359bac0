extension UserStore {
  /// The transaction that `read` and `write` pass to their closure, as a `ReadTransaction` or a `WriteTransaction`.
  ///
  /// It is valid until the closure returns, and has exclusive access to its session, a connection that runs one operation at
  /// a time. So its methods are mutating, even those that only read: the closure that you pass to `forEachUser` cannot use the
  /// transaction while the users are being read.
  ///
  /// If an error ends the transaction, such as a full disk, further reads and writes throw `StoreError.Code.transactionEnded`.
  public struct Transaction<Mode>: ~Copyable {
    private let connection: any Session

    init(_ session: any Session) { connection = session }

    /// False after the database ended the transaction because of an error.
    var isOpen: Bool { connection.isInTransaction }

    /// The session, if the transaction is still open: otherwise, each statement would be committed on its own.
    var session: any Session {
      get throws(StoreError) {
        guard isOpen else {
          throw StoreError(.transactionEnded, "an earlier error ended the transaction and rolled it back")
        }
        return connection
      }
    }
  }

  /// The mode of a transaction that `read` starts.
  public enum Reading {}

  /// The mode of a transaction that `write` starts.
  public enum Writing {}

  /// The transaction that `read` passes to its closure: one snapshot, unaffected by concurrent writes.
  ///
  /// ## Topics
  ///
  /// ### Reading users
  /// - ``UserStore/Transaction/user(_:)``
  /// - ``UserStore/Transaction/users(where:sortedBy:limit:)``
  /// - ``UserStore/Transaction/users(matching:)``
  /// - ``UserStore/Transaction/forEachUser(matching:_:)``
  /// - ``UserStore/Transaction/iterateUsers(matching:while:)``
  /// - ``UserStore/Transaction/ids(matching:)``
  /// - ``UserStore/Transaction/ids(named:)``
  /// - ``UserStore/Transaction/count(where:)``
  /// - ``UserStore/Transaction/indexes``
  ///
  /// ### Reading attributes
  /// - ``UserStore/Transaction/value(_:of:)``
  /// - ``UserStore/Transaction/storedValue(_:of:)``
  /// - ``UserStore/Transaction/attributeNames``
  ///
  /// ### Log
  /// - ``UserStore/Transaction/cursor-1aq7``
  /// - ``UserStore/Transaction/oldestCursor``
  /// - ``UserStore/Transaction/cursor(at:)``
  /// - ``UserStore/Transaction/consumers()``
  public typealias ReadTransaction = Transaction<Reading>

  /// The transaction that `write` passes to its closure: everything that you do with it is committed together, or nothing is.
  ///
  /// ## Topics
  ///
  /// ### Reading users
  /// - ``UserStore/Transaction/user(_:)``
  /// - ``UserStore/Transaction/users(where:sortedBy:limit:)``
  /// - ``UserStore/Transaction/users(matching:)``
  /// - ``UserStore/Transaction/forEachUser(matching:_:)``
  /// - ``UserStore/Transaction/iterateUsers(matching:while:)``
  /// - ``UserStore/Transaction/ids(matching:)``
  /// - ``UserStore/Transaction/ids(named:)``
  /// - ``UserStore/Transaction/count(where:)``
  /// - ``UserStore/Transaction/indexes``
  ///
  /// ### Reading attributes
  /// - ``UserStore/Transaction/value(_:of:)``
  /// - ``UserStore/Transaction/storedValue(_:of:)``
  /// - ``UserStore/Transaction/attributeNames``
  ///
  /// ### Writing
  /// - ``UserStore/Transaction/add(name:hairColor:)``
  /// - ``UserStore/Transaction/add(_:as:)``
  /// - ``UserStore/Transaction/rename(_:to:)``
  /// - ``UserStore/Transaction/set(_:of:to:)-(Attribute<Value>,_,_)``
  /// - ``UserStore/Transaction/set(_:of:to:)-(AttributeName,_,_)``
  /// - ``UserStore/Transaction/set(_:of:to:expecting:)-(Attribute<Value>,_,_,_)``
  /// - ``UserStore/Transaction/set(_:of:to:expecting:)-(AttributeName,_,_,_)``
  /// - ``UserStore/Transaction/set(_:of:)``
  /// - ``UserStore/Transaction/unset(_:of:)``
  /// - ``UserStore/Transaction/remove(_:)``
  ///
  /// ### Undo
  /// - ``UserStore/Transaction/undo(_:)``
  ///
  /// ### Log
  /// - ``UserStore/Transaction/cursor-3t3gm``
  /// - ``UserStore/Transaction/revision``
  /// - ``UserStore/Transaction/pendingChanges``
  /// - ``UserStore/Transaction/consumers()``
  public typealias WriteTransaction = Transaction<Writing>
}

package typealias ReadTransaction = UserStore.ReadTransaction
package typealias Transaction = UserStore.Transaction
package typealias WriteTransaction = UserStore.WriteTransaction

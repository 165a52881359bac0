/// A connection to the database, with the operations of the store: what every engine must do.
///
/// The requirements are grouped: transactions here, then records, queries, the log, retention, and consumers.
/// `SessionContractTests` runs against every engine.
///
/// **Threads.** `SessionPool` lends a session to one thread at a time. Every method may block that thread, for at most the
/// timeouts of the configuration, and none calls a listener. Closures are called on the same thread, before the method returns,
/// and must not use the session.
///
/// **Visibility.** All methods but `commitCounter` are called in a transaction, and those that read the log also after `commit`,
/// before the session is returned. A transaction that reads sees one state: everything that was committed before its first
/// operation, and nothing later. One that writes sees the newest state and its own changes. What it reads of users does not
/// change until it ends, whatever other programs do.
///
/// **Order.** Transactions that write run one after the other, in all processes. The log has their rows in the order of their
/// commits: a row is visible only if all rows before it are, and no row is added before a visible one. The rows of a transaction
/// that is open are numbered from `writingStart`; an engine on which programs without the library can commit meanwhile gives
/// them their final numbers when it commits (`finalPosition`).
///
/// **The log.** Each change of a user appends a row in the same transaction, whichever program makes it. `endSet` appends a row
/// that ends a set. Rows are numbered without gaps from 1. Each has a random number, which distinguishes it from the row of
/// the same number in another log. `epoch` changes whenever the log does not continue the one before.
///
/// **Errors.** The methods throw `StoreError` with the codes of reading, or of writing if they write, and those that are listed.
/// An operation that throws has changed nothing, or the transaction is over or failed (`transaction`): then the only thing left
/// is to roll back.
package protocol Session:
  RecordOperations, QueryOperations, LogOperations, RetentionOperations, ConsumerOperations, AnyObject, Sendable
{
  /// The state of the transaction; after an error, the database may have ended it, or let it fail.
  var transaction: TransactionState { get }

  /// Begins a transaction that reads one state.
  ///
  /// - Parameter position: The position after which the log is verified and read next, if that is known: a server then reads it
  ///   in the same round trip.
  /// - Throws: `StoreError.Code.moved` if another file is in the database's place.
  func beginReading(after position: Cursor?) throws(StoreError)

  /// Begins a transaction that writes; no other session, in any process, writes until it ends.
  ///
  /// A server may begin it together with the first operation, which then throws its errors.
  ///
  /// - Parameter isWaiting: Whether to wait up to the busy timeout while another process writes.
  /// - Throws: `StoreError.Code.moved`, `.busy`, and `.mustReopen` if an earlier COMMIT has left the session unable to write.
  func beginWriting(isWaiting: Bool) throws(StoreError)

  /// The end of the log when the write transaction began; nil until a server has reported it.
  ///
  /// `isRead`: it was read from the log, because another session may have committed since the last commit of this session.
  var writingStart: (end: Cursor, isRead: Bool)? { get }

  /// Sets a savepoint, to which the transaction can be rolled back. Savepoints can be nested.
  func savepoint() throws(StoreError)

  /// Removes the last savepoint and keeps the changes since.
  func releaseSavepoint() throws(StoreError)

  /// Undoes the changes since the last savepoint, and removes it. Also possible in a transaction that has failed.
  func rollBackToSavepoint() throws(StoreError)

  /// Returns the position that a position in the open write transaction has after the commit.
  ///
  /// Where other programs may commit first, this call fixes the place of the transaction in the log, and holds up other commits.
  func finalPosition(of position: Cursor) throws(StoreError) -> Cursor

  /// Commits the transaction that writes.
  ///
  /// - Parameter position: The position after which `rows` is called next, outside of a transaction; nil if it is not called.
  ///   The first page of rows after it, through the end of the transaction, is read in the same transaction or round trip.
  /// - Returns: The end of the log with the sets of the transaction, and the pages that the write-ahead log has now.
  /// - Throws: `StoreError.Code.commitUnknown` if it is unknown whether the transaction was committed; `.moved` if it was
  ///   committed to a file that was moved, deleted or replaced.
  func commit(readingAfter position: Cursor?) throws(StoreError) -> (end: Cursor, writtenPages: Int)

  /// Rolls back the open transaction, if there is one, and forgets what was read ahead. Never fails.
  func rollBack()

  /// Ends the running operation of a transaction that reads, and all later ones until `rollBack`: they throw
  /// `StoreError.Code.closed`.
  ///
  /// The only method that may be called on another thread than the one that uses the session. An operation that is about to
  /// end may still succeed.
  func interrupt()

  /// Returns a number that changes when another session commits; called outside of a transaction.
  ///
  /// - Parameter position: The position for the `beginReading(after:)` that follows if the number has changed.
  /// - Returns: The number.
  /// - Throws: `StoreError.Code.moved`.
  func commitCounter(beforeReadingAfter position: Cursor) throws(StoreError) -> Int64

  /// Called before the pool closes this session, on the same thread.
  func prepareToClose()
}

package enum TransactionState {
  /// None is open; also after the database ended it because of an error.
  case none
  case open
  /// A statement has failed: only a rollback is possible, which may be to a savepoint.
  case failed
}

extension Session {
  /// Whether there is a transaction to end, open or failed.
  package var isInTransaction: Bool { transaction != .none }
}

/// Reading and writing users, in an open transaction.
package protocol RecordOperations {
  func user(_ id: User.ID) throws(StoreError) -> User?

  /// The names of all further attributes, each once, in the order of their bytes.
  func attributeNames() throws(StoreError) -> [AttributeName]

  // The methods that write a value throw `StoreError.Code.notUnique` if another user has it and the attribute is unique.

  /// The stored value; null if it is not set, or if there is no such user.
  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue

  /// Adds a user without further attributes, with a new id if none is given.
  func insertUser(_ id: User.ID?, name: StoredValue, hairColor: StoredValue) throws(StoreError) -> User.ID

  /// Adds a further attribute that the user does not have.
  func insert(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError)

  /// Sets an attribute, or unsets it with null.
  func put(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) -> PutResult

  /// Removes a user with all attributes, and returns whether there was one.
  func removeUser(_ id: User.ID) throws(StoreError) -> Bool
}

/// Reading users by a query, in an open transaction, and the indexes that make it fast.
package protocol QueryOperations {
  /// Calls `body` with each row of a request, in its order, until it returns false.
  ///
  /// `values` has the value of each column of the request.
  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError)

  /// Calls `body` with each user of a request, with all attributes, in its order, until it returns false.
  ///
  /// One user at a time is in memory. The request's columns have no effect.
  func eachUser(_ request: RowRequest, while body: (User) -> Bool) throws(StoreError)

  func userCount(where condition: Condition) throws(StoreError) -> Int

  /// All indexes, in the order of the attributes' bytes.
  func indexes() throws(StoreError) -> [AttributeIndex]

  /// Creates an index, and returns whether there was none of its kind; ends and throws if `shouldContinue` returns false.
  ///
  /// An attribute has at most one plain index, and one that is unique: another unique one is replaced. A number of unique ones
  /// (`AttributeIndex.uniqueLimit`) has room.
  ///
  /// - Throws: `StoreError.Code.notUnique` for a unique index on values that several users have.
  func addIndex(_ index: AttributeIndex, while shouldContinue: () -> Bool) throws(StoreError) -> Bool

  /// Removes the plain index of an attribute, or the unique one of either kind, and returns whether there was one.
  func removeIndex(_ index: AttributeIndex) throws(StoreError) -> Bool

  /// Returns a user other than `id` who has this value of a unique attribute; nil if there is none, or the attribute is not unique.
  func holder(of value: StoredValue, _ attribute: AttributeName, besides id: User.ID?) throws(StoreError) -> User.ID?

  /// Calls `body` with each value that several users have, and these users, in order, until it returns false.
  func eachDuplicate(of index: AttributeIndex, while body: (StoredValue, [User.ID]) -> Bool) throws(StoreError)
}

package enum PutResult {
  case changed
  /// The attribute had this value already.
  case unchanged
  case noUser
}

/// Reading the log, and ending change sets, in an open transaction; reading also right after a commit.
package protocol LogOperations {
  /// The end of the log, with the rows of the transaction.
  func logEnd() throws(StoreError) -> Cursor

  /// The start and the end of the log, and the random number of a row, which show whether the log continues after the row.
  ///
  /// On a replica, if `epoch` is that of the log, a transaction that has not read yet waits until it sees the row, up to the busy
  /// timeout.
  func logState(at revision: Int64, of epoch: Int64?) throws(StoreError) -> LogState

  /// Up to one page of rows (`PagedChanges`) after one row, through another, from the oldest or the newest.
  func rows(after start: Int64, through end: Int64, newestFirst: Bool) throws(StoreError) -> [LogRow]

  /// The first row after `start`, through `end`, that ends a write of the library.
  func nextEnd(after start: Int64, through end: Int64) throws(StoreError) -> SetEnd?

  func changeCount(after start: Int64) throws(StoreError) -> Int

  /// Appends a row that marks the rows since the last set of the transaction as one write; without rows, it has no effect.
  func endSet(origin: String?) throws(StoreError)

  /// Appends a note in the open write transaction.
  ///
  /// - Throws: `StoreError.Code.userNotFound` for an event about a user that does not exist; then the transaction can go on.
  func append(_ note: Note) throws(StoreError)

  /// The end of the log, with the sets that the open write transaction has ended so far.
  func writingEnd() throws(StoreError) -> Cursor
}

extension LogOperations {
  package func rows(after start: Int64, through end: Int64) throws(StoreError) -> [LogRow] {
    try rows(after: start, through: end, newestFirst: false)
  }

  /// The start of the log: the end of the last set that was compacted.
  package func horizon() throws(StoreError) -> Cursor {
    let state = try logState(at: .max, of: nil)
    try Revision.check(state.horizon)
    return Cursor(epoch: state.epoch, revision: state.horizon, nonce: state.horizonNonce)
  }
}

/// Deleting old rows of the log, in an open transaction.
package protocol RetentionOperations {
  /// The extent of the log; `assumed` is what a preview has compacted without deleting it.
  func extent(assuming assumed: LogExtent?) throws(StoreError) -> LogExtent

  func save(_ extent: LogExtent) throws(StoreError)

  /// The size of the first rows after `start`, through `end`: at most `limit` rows, or one page's bytes. `last` is the last of
  /// them, or `start`.
  func size(after start: Int64, through end: Int64, limit: Int) throws(StoreError) -> (last: Int64, bytes: Int64)

  /// The number of bytes that the records and the log use together: at least those of the texts and bytes in the log.
  func usedBytes() throws(StoreError) -> Int64

  /// Calls `body` with up to `limit` rows after `start`, through `end`, until it returns false.
  ///
  /// It receives the number of the row and, if the row ends a write, that end. Values are not read.
  func scan(
    after start: Int64, through end: Int64, limit: Int, while body: (_ sequence: Int64, SetEnd?) -> Bool
  ) throws(StoreError)

  /// Deletes all rows through one, and returns how many there were.
  func deleteRows(through last: Int64) throws(StoreError) -> Int

  /// Up to one page of the rows about a user: their numbers, the sizes of the values that `blank` removes, and whether these are
  /// removed already. Without the notes of earlier purges.
  func changes(
    of user: User.ID, after start: Int64, through end: Int64
  ) throws(StoreError) -> [(sequence: Int64, bytes: Int64, isBlank: Bool)]

  /// Removes the values of rows about a user, but not the names of events; and any values of the user that another program's failed statement left
  /// outside of the log.
  func blank(_ sequences: [Int64], of user: User.ID) throws(StoreError)
}

/// The positions of named consumers, in an open transaction.
package protocol ConsumerOperations {
  /// A consumer's position, and the fencing token of its current holder.
  func consumer(_ name: String) throws(StoreError) -> (cursor: Cursor, fencingToken: Int64)?

  /// All consumers, in the order of their names' bytes.
  func consumers() throws(StoreError) -> [(name: String, cursor: Cursor, timestamp: Int64)]

  /// Changes the holder of a consumer, and returns whether there was one; if not, adds it at `start`, unless that is nil.
  func claimConsumer(_ name: String, fencingToken: Int64, at start: Cursor?) throws(StoreError) -> Bool

  /// Moves the position, unless another holder has taken over the name.
  func moveConsumer(_ name: String, fencingToken: Int64, to cursor: Cursor) throws(StoreError)

  /// Removes a consumer, and returns whether there was one.
  func removeConsumer(_ name: String) throws(StoreError) -> Bool
}

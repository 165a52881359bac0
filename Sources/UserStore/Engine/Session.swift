/// A connection to the database, with the operations of the store; `SessionPool` lends it to one thread at a time.
///
/// The methods throw `StoreError` with the codes of reading, or of writing if they write, and those that are listed.
package protocol Session:
  RecordOperations, QueryOperations, LogOperations, RetentionOperations, ConsumerOperations, AnyObject, Sendable
{
  /// Whether a transaction is open; also false after the database ended it because of an error.
  var isInTransaction: Bool { get }

  /// Whether a statement has failed after which only a rollback is possible, also one to a savepoint.
  var needsRollback: Bool { get }

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
  /// - Throws: `StoreError.Code.moved`, `.busy`.
  func beginWriting(isWaiting: Bool) throws(StoreError)

  /// The end of the log when the transaction that writes began, and whether it was read because another session has committed
  /// since the transaction before; nil before a server has reported it.
  var writingStart: (end: Cursor, isRead: Bool)? { get }

  /// Sets a savepoint, to which the transaction can be rolled back. Savepoints can be nested.
  func savepoint() throws(StoreError)

  /// Removes the last savepoint and keeps the changes since.
  func releaseSavepoint() throws(StoreError)

  /// Undoes the changes since the last savepoint, and removes it.
  func rollBackToSavepoint() throws(StoreError)

  /// Returns the final position of one in the open write transaction.
  ///
  /// A server gives a transaction its place in the log when it commits, because others may commit first; until then, its rows
  /// are counted from the end of the log in `writingStart`. To ask fixes the place, and holds up other commits.
  func finalPosition(of position: Cursor) throws(StoreError) -> Cursor

  /// Ends the writing part of the transaction, which then only reads and commits.
  ///
  /// A server may commit already, so that it needs one round trip for everything: then no transaction is open any more, `commit`
  /// has no effect, and the first page of rows after `position` was read too.
  ///
  /// - Parameter position: The position after which `rows` will be called; nil if it will not.
  /// - Returns: The end of the log with the sets of the transaction.
  /// - Throws: What `commit` throws.
  func endWriting(readingAfter position: Cursor?) throws(StoreError) -> Cursor

  /// Commits.
  ///
  /// - Parameter end: The new end of the log; nil if the transaction did not write to the log.
  /// - Throws: `StoreError.Code.commitUnknown` if it is unknown whether the transaction was committed; `.moved` if it was
  ///   committed to a file that was moved, deleted or replaced.
  func commit(through end: Cursor?) throws(StoreError)

  /// Rolls back the open transaction, if there is one. Never fails.
  func rollBack()

  /// The number of pages in the write-ahead log after the last commit; 0 if there is none.
  var writtenPages: Int { get }

  /// Returns a number that changes when another session commits.
  ///
  /// `position` is that of the `beginReading(after:)` that follows if the number has changed.
  func commitCounter(beforeReadingAfter position: Cursor) throws(StoreError) -> Int64

  /// Whether the database was moved, deleted, or replaced.
  var hasMoved: Bool { get }

  /// Whether it can write again after a COMMIT whose outcome is unknown.
  var canWriteAfterUnknownCommit: Bool { get }

  /// Checks the database in the open transaction.
  func check() throws(StoreError) -> [Finding]

  /// Called before the pool closes this session, on the same thread.
  func prepareToClose()
}

/// Reading and writing users, in an open transaction.
package protocol RecordOperations {
  func user(_ id: User.ID) throws(StoreError) -> User?

  /// Calls `body` with every user, in the order of their ids, until it returns false. One user at a time is in memory.
  func eachUser(while body: (User) -> Bool) throws(StoreError)

  /// The users with this name, compared byte by byte, in the order of their ids.
  func users(named name: String) throws(StoreError) -> [User.ID]

  /// Up to `limit` names of users, in the order of their bytes.
  func userNames(from lower: String, below upper: String, limit: Int) throws(StoreError) -> [String]

  /// The first and the last name in the order of their bytes; empty if there is none.
  func outermostUserNames(from lower: String, below upper: String) throws(StoreError) -> [String]

  func userCount() throws(StoreError) -> Int

  /// The names of all further attributes, each once, in the order of their bytes.
  func attributeNames() throws(StoreError) -> [AttributeName]

  func hasAttribute(_ name: AttributeName) throws(StoreError) -> Bool

  /// The stored value; null if it is not set, or if there is no such user.
  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue

  /// The name of any further attribute of the user; nil if there is none.
  func anyAttribute(of id: User.ID) throws(StoreError) -> String?

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
  /// The request's columns have no effect.
  func eachUser(_ request: RowRequest, while body: (User) -> Bool) throws(StoreError)

  /// The number of users that meet a condition.
  func userCount(where condition: Condition) throws(StoreError) -> Int

  /// The attributes that have an index, in the order of their names' bytes.
  func indexes() throws(StoreError) -> [AttributeName]

  /// Creates the index of an attribute, and returns whether there was none; ends and throws if `shouldContinue` returns false.
  func addIndex(on attribute: AttributeName, while shouldContinue: () -> Bool) throws(StoreError) -> Bool

  /// Removes the index of an attribute, and returns whether there was one.
  func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool
}

/// The result of setting an attribute.
package enum PutResult {
  case changed
  /// The attribute had this value already.
  case unchanged
  case noUser
}

/// Reading the log, and ending change sets, in an open transaction.
package protocol LogOperations {
  /// The end of the log.
  func logEnd() throws(StoreError) -> Cursor

  /// The start of the log: the end of the last set that was compacted.
  func horizon() throws(StoreError) -> Cursor

  /// The state from which to decide whether the log continues after a cursor.
  ///
  /// With `epoch`, the log's, a transaction that has not read yet on a replica waits, up to the busy timeout, until it sees the
  /// row.
  func logState(at revision: Int64, of epoch: Int64?) throws(StoreError) -> LogState

  /// Up to one page of rows (`PagedChanges`), in order.
  func rows(after start: Int64, through end: Int64) throws(StoreError) -> [LogRow]

  /// Up to one page of rows, newest first.
  func rowsBackwards(from first: Int64, before end: Int64) throws(StoreError) -> [LogRow]

  /// The first row after `start`, through `end`, that ends a write of the library.
  func nextEnd(after start: Int64, through end: Int64) throws(StoreError) -> SetEnd?

  /// The last row after `start` that ends a write of the library.
  func lastEnd(after start: Int64) throws(StoreError) -> SetEnd?

  /// The random number of a row.
  func nonce(of sequence: Int64) throws(StoreError) -> Int64?

  /// The number of changes after a row.
  func changeCount(after start: Int64) throws(StoreError) -> Int

  /// Appends a row that marks the rows since the last set of the transaction as one write; without rows, it has no effect.
  func endSet(origin: String?) throws(StoreError)

  /// Whether there were rows at the last `endSet`.
  func hasEndedSet() throws(StoreError) -> Bool

  /// The end of the log with the sets that the open write transaction has ended; the log's if it has ended none.
  func writingEnd() throws(StoreError) -> Cursor
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

  /// When a row was written, in milliseconds since 1970.
  func time(of sequence: Int64) throws(StoreError) -> Int64?

  /// Calls `body` with up to `limit` rows after `start`, through `end`, until it returns false.
  ///
  /// It receives the number of the row and, if the row ends a write, that end. Values are not read.
  func scan(
    after start: Int64, through end: Int64, limit: Int, while body: (_ sequence: Int64, SetEnd?) -> Bool
  ) throws(StoreError)

  /// Deletes all rows through one, and returns how many there were.
  func deleteRows(through last: Int64) throws(StoreError) -> Int

  /// Up to one page of a user's changes: their numbers, their sizes, and whether their values are removed already.
  func changes(
    of user: User.ID, after start: Int64, through end: Int64
  ) throws(StoreError) -> [(sequence: Int64, bytes: Int64, isBlank: Bool)]

  /// Removes the values of a change.
  func blank(_ sequence: Int64, of user: User.ID) throws(StoreError)

  /// Deletes rows of a user that a foreign writer's failed statement left outside of the log.
  func clearLeftovers(of user: User.ID) throws(StoreError)
}

/// The positions of named consumers, in an open transaction.
package protocol ConsumerOperations {
  /// A consumer's position, and the fencing token of its current holder.
  func consumer(_ name: String) throws(StoreError) -> (cursor: Cursor, fencingToken: Int64)?

  /// All consumers, in the order of their names' bytes.
  func consumers() throws(StoreError) -> [(name: String, cursor: Cursor, timestamp: Int64)]

  /// Changes the holder, and returns whether there is such a consumer.
  func setFencingToken(_ token: Int64, of name: String) throws(StoreError) -> Bool

  func insertConsumer(_ name: String, fencingToken: Int64, at cursor: Cursor) throws(StoreError)

  /// Moves the position, unless another holder has taken over the name.
  func moveConsumer(_ name: String, fencingToken: Int64, to cursor: Cursor) throws(StoreError)

  /// Removes a consumer, and returns whether there was one.
  func removeConsumer(_ name: String) throws(StoreError) -> Bool
}

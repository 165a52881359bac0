/// A connection to the database, with the operations of the store.
///
/// `SessionPool` lends it to one thread at a time.
protocol Session: RecordOperations, LogOperations, RetentionOperations, ConsumerOperations, AnyObject, Sendable {
  /// Whether a transaction is open: false also after the database ended it because of an error.
  var isInTransaction: Bool { get }

  /// Begins a transaction that reads one state.
  ///
  /// - Throws: `StoreError.Code.moved` when another file lies in the database's place; what reading can throw.
  func beginReading() throws(StoreError)

  /// Begins a transaction that writes; no other session, in any process, writes until it ends.
  ///
  /// - Parameter isWaiting: Whether it waits for another process that writes, for the store's busy timeout at most.
  /// - Returns: the end of the log, and whether it was read because another session has committed since the last call.
  /// - Throws: `StoreError.Code.moved`, `.busy`, and what writing can throw.
  func beginWriting(isWaiting: Bool) throws(StoreError) -> (end: Cursor, isRead: Bool)

  /// Marks a place in the transaction to roll back to. One at a time.
  func savepoint() throws(StoreError)

  /// Forgets the savepoint and keeps what was done since.
  func releaseSavepoint() throws(StoreError)

  /// Undoes what was done since the savepoint, and forgets it.
  func rollBackToSavepoint() throws(StoreError)

  /// Commits.
  ///
  /// - Parameter end: The end of the log that the transaction leaves; nil when it did not write to the log.
  /// - Throws: `StoreError.Code.commitUnknown` when it is not known whether the transaction was committed; `.moved` when
  ///   it was committed to a file that was moved, deleted or replaced; and what writing can throw.
  func commit(through end: Cursor?) throws(StoreError)

  /// Rolls back the open transaction, if there is one. Never fails.
  func rollBack()

  /// How many pages the write-ahead log had after the last commit; 0 where there is none.
  var writtenPages: Int { get }

  /// A number that changes when another session commits.
  func commitCounter() throws(StoreError) -> Int64

  /// Whether the database no longer lies under its name: moved, deleted, or replaced.
  var hasMoved: Bool { get }

  /// Checks the database in the open transaction.
  func check() throws(StoreError) -> [Finding]

  /// The pool is about to close this session, on the calling thread.
  func prepareToClose()
}

/// Reading and writing users.
///
/// A transaction is open. All of them throw what reading, or writing, can throw.
protocol RecordOperations {
  func user(_ id: User.ID) throws(StoreError) -> User?

  /// Calls `body` with every user, in the order of their ids, one at a time in memory, until it returns false.
  func eachUser(while body: (User) -> Bool) throws(StoreError)

  /// The users with this name, compared byte by byte, in the order of their ids.
  func users(named name: String) throws(StoreError) -> [User.ID]

  /// Up to `limit` names of any users, in the order of their bytes.
  func userNames(from lower: String, below upper: String, limit: Int) throws(StoreError) -> [String]

  /// The first and the last name in the order of their bytes; nothing when there is none.
  func outermostUserNames(from lower: String, below upper: String) throws(StoreError) -> [String]

  func userCount() throws(StoreError) -> Int

  /// The names of all further attributes, each once, in the order of their bytes.
  func attributeNames() throws(StoreError) -> [AttributeName]

  func hasAttribute(_ name: AttributeName) throws(StoreError) -> Bool

  /// The stored value; null when it is not set, or when there is no such user.
  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue

  /// The name of any further attribute of the user; nil when there is none.
  func anyAttribute(of id: User.ID) throws(StoreError) -> String?

  /// Adds a user without further attributes; without an id, it gets a new one.
  func insertUser(_ id: User.ID?, name: StoredValue, hairColor: StoredValue) throws(StoreError) -> User.ID

  /// Adds a further attribute that the user does not have.
  func insert(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError)

  /// Sets an attribute, or unsets it with null.
  func put(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) -> PutResult

  /// Removes a user with all attributes.
  ///
  /// - Returns: whether there was one.
  func removeUser(_ id: User.ID) throws(StoreError) -> Bool
}

/// What setting an attribute came to.
enum PutResult {
  case changed
  /// The attribute had this value already.
  case unchanged
  case noUser
}

/// Reading the log, and ending change sets.
///
/// A transaction is open.
protocol LogOperations {
  /// The end of the log.
  func logEnd() throws(StoreError) -> Cursor

  /// Where the log begins: what came before was compacted.
  func horizon() throws(StoreError) -> Cursor

  /// What is needed to know whether the log continues after a cursor.
  func logState(at revision: Int64) throws(StoreError) -> LogState

  /// Up to one page of rows (`LogPage`), in order.
  func rows(after start: Int64, through end: Int64) throws(StoreError) -> [LogRow]

  /// Up to one page of rows, newest first.
  func rowsBackwards(from first: Int64, before end: Int64) throws(StoreError) -> [LogRow]

  /// The first row after `start`, through `end`, that ends a write of the library.
  func nextEnd(after start: Int64, through end: Int64) throws(StoreError) -> SetEnd?

  /// The last row after `start` that ends a write of the library.
  func lastEnd(after start: Int64) throws(StoreError) -> SetEnd?

  /// The random number of a row.
  func nonce(of sequence: Int64) throws(StoreError) -> Int64?

  /// How many changes there are after a row.
  func changeCount(after start: Int64) throws(StoreError) -> Int

  /// Ends the rows that were logged after `start` with a row that marks them as one write.
  ///
  /// - Returns: the new end of the log; nil when nothing was logged.
  func endSet(after start: Cursor, origin: String?) throws(StoreError) -> Cursor?
}

/// What deletes old rows of the log.
///
/// A transaction is open.
protocol RetentionOperations {
  /// Reads how far the log reaches and how large it is; `assumed` is what a preview has compacted without deleting it.
  func extent(assuming assumed: LogExtent?) throws(StoreError) -> LogExtent

  func save(_ extent: LogExtent) throws(StoreError)

  /// The size of the first rows after `start`, through `end`: at most `limit` rows, or one page's bytes.
  ///
  /// - Returns: the last of them, and their size together; `start` when there is none.
  func size(after start: Int64, through end: Int64, limit: Int) throws(StoreError) -> (last: Int64, bytes: Int64)

  /// How many bytes the records and the log use together: an upper bound of the log's size.
  func usedBytes() throws(StoreError) -> Int64

  /// When a row was written, in milliseconds since 1970.
  func time(of sequence: Int64) throws(StoreError) -> Int64?

  /// Calls `body` with the rows after `start`, through `end`, at most `limit`, until it returns false.
  ///
  /// It gets the row's number and, for a row that ends a write, that end. Values are not read.
  func scan(
    after start: Int64, through end: Int64, limit: Int, while body: (_ sequence: Int64, SetEnd?) -> Bool
  ) throws(StoreError)

  /// Deletes all rows through one.
  ///
  /// - Returns: how many there were.
  func deleteRows(through last: Int64) throws(StoreError) -> Int

  /// Up to one page of a user's changes: their numbers, their sizes, and whether their values are gone already.
  func changes(
    of user: User.ID, after start: Int64, through end: Int64
  ) throws(StoreError) -> [(sequence: Int64, bytes: Int64, isBlank: Bool)]

  /// Removes the values of a change.
  func blank(_ sequence: Int64, of user: User.ID) throws(StoreError)

  /// Deletes what a foreign writer's failed statement left of a user outside of the log.
  func clearLeftovers(of user: User.ID) throws(StoreError)
}

/// The positions of named consumers.
///
/// A transaction is open.
protocol ConsumerOperations {
  /// A consumer's position, and the fencing token of its current holder.
  func consumer(_ name: String) throws(StoreError) -> (cursor: Cursor, fencingToken: Int64)?

  /// All consumers, in the order of their names' bytes.
  func consumers() throws(StoreError) -> [(name: String, cursor: Cursor, timestamp: Int64)]

  /// - Returns: whether there is such a consumer.
  func setFencingToken(_ token: Int64, of name: String) throws(StoreError) -> Bool

  func insertConsumer(_ name: String, fencingToken: Int64, at cursor: Cursor) throws(StoreError)

  /// Moves the position, unless another holder has taken the name.
  func moveConsumer(_ name: String, fencingToken: Int64, to cursor: Cursor) throws(StoreError)

  /// - Returns: whether there was one.
  func removeConsumer(_ name: String) throws(StoreError) -> Bool
}

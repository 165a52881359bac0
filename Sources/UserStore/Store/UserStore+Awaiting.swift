// The same operations for tasks: each waits on a thread of the store, so that it blocks no actor and no thread of the concurrency
// pool. In an async function, Swift selects these.
//
// In a canceled task, operations that open, write, or close complete, so that an orderly end does not separate an
// effect from its record, such as an acknowledgment. Operations that only read throw `CancellationError`, and a statement that runs
// is interrupted. Operations that work in steps stop between two of them.
extension UserStore {
  // MARK: Opening and closing

  /// Opens the store in a file as `init(path:configuration:)` does, on another thread, even if the task is canceled.
  public static func open(path: String, configuration: Configuration = Configuration()) async throws -> UserStore {
    try await WorkerThreads.complete(onThread: "userstore-open") { () throws(StoreError) in
      try UserStore(path: path, configuration: configuration)
    }
  }

  /// Closes the store as the synchronous `close` does, on another thread, even if the task is canceled.
  public func close() async {
    await closing { self.close() }
  }

  /// Closes the store as the synchronous `interruptAndClose` does, on another thread, even if the task is canceled.
  public func interruptAndClose() async {
    await closing { self.interruptAndClose() }
  }

  private func closing(_ close: @escaping @Sendable () -> Void) async {
    // Without another thread, the store is closed on this one.
    do { try await WorkerThreads.complete(onThread: "userstore-close", close) } catch { close() }
  }

  // MARK: Reading

  /// Reads one snapshot of the store as the synchronous `read` does, on one of the store's threads.
  ///
  /// When the task is canceled while `body` runs, the statement that it waits for is interrupted, and throws
  /// `StoreError.Code.closed`, as all later ones of `body` do.
  ///
  /// - Parameter body: Receives the transaction. Runs once, or never if the task is canceled before.
  /// - Returns: The result of `body`.
  /// - Throws: What the synchronous `read` throws, and `CancellationError` if the task is canceled before `body` has ended.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (inout ReadTransaction) throws -> Result
  ) async throws -> Result {
    try await reader.awaiting { [self] in try read(body) }
  }

  /// Returns a user as the synchronous `user` does, and reads it on one of the store's threads.
  public func user(_ id: User.ID) async throws -> User? { try await reader.awaiting { [self] in try user(id) } }

  /// Returns a user as the synchronous `user(where:is:)` does, and reads it on one of the store's threads.
  public func user<Value>(where attribute: Attribute<Value>, is value: Value) async throws -> User? {
    try await reader.awaiting { [self] in try user(where: attribute, is: value) }
  }

  /// Returns an attribute of a user as the synchronous `value` does, and reads it on one of the store's threads.
  public func value<Value>(_ attribute: Attribute<Value>, of id: User.ID) async throws -> Value? {
    try await reader.awaiting { [self] in try value(attribute, of: id) }
  }

  /// Returns a profile as the synchronous `profile` does, and reads it on one of the store's threads.
  public func profile<Profile: UserStore.Profile>(
    _ type: Profile.Type = Profile.self, of id: User.ID
  ) async throws -> Profile? {
    try await reader.awaiting { [self] in try profile(type, of: id) }
  }

  /// Returns identifiers as the synchronous `ids(named:)` does, and reads them on one of the store's threads.
  public func ids(named name: String) async throws -> [User.ID] {
    try await reader.awaiting { [self] in try ids(named: name) }
  }

  /// Returns users as the synchronous `users(where:sortedBy:limit:)` does, and reads them on one of the store's threads.
  public func users(
    where condition: Condition = .always, sortedBy order: [SortKey] = [], limit: Int? = nil
  ) async throws -> [User] {
    try await users(matching: Query(where: condition, sortedBy: order, limit: limit))
  }

  /// Returns users as the synchronous `users(matching:)` does, and reads them on one of the store's threads.
  public func users(matching query: Query) async throws -> [User] {
    try await reader.awaiting { [self] in try users(matching: query) }
  }

  /// Returns a number of users as the synchronous `count` does, and counts on one of the store's threads.
  public func count(where condition: Condition = .always) async throws -> Int {
    try await reader.awaiting { [self] in try count(where: condition) }
  }

  /// Returns an attribute of a user as the synchronous `listenable` does, and reads its value on one of the store's threads.
  ///
  /// - Throws: What the synchronous `listenable` throws, and `CancellationError`.
  public func listenable<Value>(
    _ attribute: Attribute<Value>, of id: User.ID
  ) async throws -> Listenable<Value?> {
    try await reader.awaiting { [self] in try listenable(attribute, of: id) }
  }

  /// Returns a profile as the synchronous `listenable` does, and reads its value on one of the store's threads.
  ///
  /// - Throws: What the synchronous `listenable` throws, and `CancellationError`.
  public func listenable<Profile: UserStore.Profile>(
    _ type: Profile.Type, of id: User.ID
  ) async throws -> Listenable<Profile?> {
    try await reader.awaiting { [self] in try listenable(type, of: id) }
  }

  /// Returns a list of profiles as the synchronous `list` does, and reads its first rows on one of the store's threads.
  ///
  /// - Throws: What the synchronous `list` throws, and `CancellationError`.
  public func list<Profile: UserStore.Profile>(
    _ query: Query = Query(), as type: Profile.Type
  ) async throws -> Listenable<ProfileRows<Profile>> {
    try await reader.awaiting { [self] in try list(query, as: type) }
  }

  /// Returns a list as the synchronous `list` does, and reads its first rows on one of the store's threads.
  ///
  /// - Throws: What the synchronous `list` throws, and `CancellationError`.
  public func list(_ query: Query) async throws -> Listenable<Rows> {
    try await reader.awaiting { [self] in try list(query) }
  }

  /// Returns a live count as the synchronous `liveCount` does, and counts on one of the store's threads.
  ///
  /// - Throws: What the synchronous `liveCount` throws, and `CancellationError`.
  public func liveCount(where condition: Condition = .always) async throws -> Listenable<Int> {
    try await reader.awaiting { [self] in try liveCount(where: condition) }
  }

  /// Checks a cursor as the synchronous `verify` does, on one of the store's threads.
  ///
  /// - Throws: What the synchronous `verify` throws, and `CancellationError`.
  public func verify(_ cursor: Cursor) async throws {
    try await reader.awaiting { [self] in try verify(cursor) }
  }

  /// Returns change sets as the synchronous `page` does, on one of the store's threads.
  ///
  /// - Throws: What the synchronous `page` throws, and `CancellationError`.
  public func page(after cursor: Cursor?) async throws -> [ChangeSet] {
    try await reader.awaiting { [self] in try page(after: cursor) }
  }

  // MARK: Writing

  /// Changes records as the synchronous `write` does, on the store's own thread, even if the task is canceled.
  ///
  /// So a task that is canceled between an effect and the `write` that records it loses nothing. To write nothing in a canceled
  /// task, call `try Task.checkCancellation()` before.
  ///
  /// - Parameters:
  ///   - origin: The writer's name for itself, which listeners find in the change set.
  ///   - body: Receives the transaction. Runs once, or never if the transaction cannot begin.
  /// - Returns: The result of `body`.
  /// - Throws: What the synchronous `write` throws.
  @discardableResult
  public func write<Result: Sendable>(
    origin: String? = nil, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await writable(writer).write(origin: origin, body)
  }

  /// Claims a consumer's name as the synchronous `consumer` does, on the store's own thread, even if the task is canceled.
  ///
  /// - Parameters:
  ///   - name: 1 to 200 Unicode scalars without control characters.
  ///   - start: Where a consumer with a new name starts; by default, with the next change. `.oldest` includes the changes of old
  ///     users, by default of 30 days.
  ///   - topics: The changes to deliver.
  ///   - interval: The interval of heartbeats; nil for none.
  /// - Returns: The consumer.
  /// - Throws: What the synchronous `consumer` throws.
  public func consumer(
    _ name: String, from start: Consumer.Start = .now, of topics: [Topic] = [.everything],
    heartbeat interval: Duration? = nil
  ) async throws -> Consumer {
    try await writable(consumers).take(name, from: start, WantedSets(topics: topics, heartbeat: interval))
  }

  /// Deletes a consumer as the synchronous `removeConsumer` does, on the store's own thread, even if the task is canceled.
  @discardableResult
  public func removeConsumer(_ name: String) async throws -> Bool {
    try await writable(consumers).remove(name)
  }

  // MARK: Long operations

  /// Compacts the log as the synchronous `compact` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `compact` throws, and `CancellationError` between two steps: the change sets that
  ///   were deleted before stay deleted, and another call deletes the rest.
  @discardableResult
  public func compact(keeping policy: RetentionPolicy? = nil) async throws -> Compaction {
    let writer = try writable(writer)
    return try await working { isCancelled in try writer.compact(keeping: policy, isCancelled: isCancelled) }
  }

  /// Returns what `compact` would delete, as the synchronous `compactionPreview` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `compactionPreview` throws, and `CancellationError`.
  public func compactionPreview(keeping policy: RetentionPolicy? = nil) async throws -> Compaction {
    try await working { [self] isCancelled in try compactionPreview(keeping: policy) { !isCancelled() } }
  }

  /// Erases a removed user as the synchronous `purge` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `purge` throws, and `CancellationError` between two steps: the values that were erased before
  ///   stay erased, others remain, and copies may remain in the files. Purge again: another call completes it.
  @discardableResult
  public func purge(_ user: User.ID, vacuums: Bool = false) async throws -> Purge {
    let writer = try writable(writer)
    return try await working { isCancelled in try writer.purge(user, vacuums: vacuums, isCancelled: isCancelled) }
  }

  /// Copies the store to a file as the synchronous `backup` does, on a thread of the store.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must exist.
  ///   - isReplacing: Whether an existing file is replaced.
  ///   - ignoringProblems: Whether to back up a store that `check` finds problems in.
  ///   - progress: Called on that thread with the copied fraction; an error that it throws ends the backup.
  /// - Returns: The end of the log in the backup.
  /// - Throws: What the synchronous `backup` throws, and `CancellationError` while the copy is made or checked: then there is no
  ///   new file, and a file that was to be replaced is unchanged.
  @discardableResult
  public func backup(
    to path: String, replacing isReplacing: Bool = false, ignoringProblems: Bool = false,
    progress: @escaping @Sendable (Double) throws -> Void = { _ in }
  ) async throws -> Cursor {
    try await working { [self] isCancelled in
      try backup(
        to: path, replacing: isReplacing, ignoringProblems: ignoringProblems, isCancelled: isCancelled,
        progress: progress)
    }
  }

  /// Restores a backup as the synchronous `restore` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `restore` throws, and `CancellationError` while the backup is checked or copied: then nothing
  ///   has changed.
  public func restore(from path: String, ignoringProblems: Bool = false) async throws {
    try await working { [self] isCancelled in
      try restore(from: path, ignoringProblems: ignoringProblems, while: { !isCancelled() }, progress: { _ in })
    }
  }

  /// Checks the store as the synchronous `check` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `check` throws, and `CancellationError`.
  public func check() async throws -> [Finding] {
    try await working { [self] isCancelled in try check { !isCancelled() } }
  }

  /// Checks a file as the synchronous `check(path:busyTimeout:)` does, on another thread.
  ///
  /// - Throws: What the synchronous `check(path:busyTimeout:)` throws, and `CancellationError`.
  public static func check(path: String, busyTimeout: Duration = .seconds(5)) async throws -> [Finding] {
    try await cancellable { isCancelled in
      try await WorkerThreads.complete(onThread: "userstore-check") { () throws(StoreError) in
        try check(path: path, busyTimeout: busyTimeout, while: { !isCancelled() }, progress: { _ in })
      }
    }
  }

  /// Creates the index on an attribute as the synchronous `addIndex` does, on a thread of the store.
  ///
  /// - Parameter attribute: The name of the attribute.
  /// - Returns: Whether there was none.
  /// - Throws: What the synchronous `addIndex` throws, and `CancellationError`; then nothing has changed.
  @discardableResult
  public func addIndex(on attribute: AttributeName) async throws -> Bool {
    try await working { [self] isCancelled in try addIndex(AttributeIndex(on: attribute)) { !isCancelled() } }
  }

  /// Makes an attribute unique as the synchronous `addUnique` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `addUnique` throws, and `CancellationError`; then nothing has changed.
  @discardableResult
  public func addUnique(on attribute: AttributeName, ignoringCase ignoresCase: Bool = false) async throws -> Bool {
    try await working { [self] isCancelled in
      try addIndex(AttributeIndex(uniqueOn: attribute, ignoringCase: ignoresCase)) { !isCancelled() }
    }
  }

  /// Makes an attribute not unique as the synchronous `removeUnique` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `removeUnique` throws, and `CancellationError` if the task is canceled before it starts.
  @discardableResult
  public func removeUnique(on attribute: AttributeName) async throws -> Bool {
    try await working { [self] _ in try removeUnique(on: attribute) }
  }

  /// Removes the index on an attribute as the synchronous `removeIndex` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `removeIndex` throws, and `CancellationError` if the task is canceled before it starts.
  @discardableResult
  public func removeIndex(on attribute: AttributeName) async throws -> Bool {
    try await working { [self] _ in try removeIndex(on: attribute) }
  }

  /// Runs a long operation on a thread of the store, which can ask whether the task was canceled.
  private func working<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
  ) async throws -> Result {
    try await Self.cancellable { [workers] isCancelled in
      try await workers.perform {
        if workers.isStopped { throw SessionPool.closed }
        return try body(isCancelled)
      }
    }
  }

  /// Runs a long operation, which can ask whether the task was canceled.
  ///
  /// - Throws: `CancellationError` in place of `StoreError.Code.closed` if it was: SQLite reports that statements were interrupted.
  private static func cancellable<Result: Sendable>(
    _ body: (_ isCancelled: @escaping @Sendable () -> Bool) async throws -> Result
  ) async throws -> Result {
    let flag = Lock(false)
    let isCancelled = { @Sendable in flag.withLock { $0 } }
    return try await withTaskCancellationHandler {
      do { return try await body(isCancelled) } catch StoreError.Code.closed where isCancelled() {
        throw CancellationError()
      }
    } onCancel: {
      flag.withLock { $0 = true }
    }
  }
}

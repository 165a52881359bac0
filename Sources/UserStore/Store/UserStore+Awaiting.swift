// The same operations for tasks: each waits on a thread of the store, so that it blocks no actor and no thread of the concurrency
// pool. In an async function, Swift selects these.
extension UserStore {
  // MARK: Opening and closing

  /// Opens the store in a file as `init(path:configuration:)` does, on another thread.
  public static func open(path: String, configuration: Configuration = Configuration()) async throws -> UserStore {
    try await WorkerThreads.complete(onThread: "userstore-open") { () throws(StoreError) in
      try UserStore(path: path, configuration: configuration)
    }
  }

  /// Closes the store as the synchronous `close` does, on another thread.
  public func close() async {
    let close: @Sendable () -> Void = { self.close() }
    // Without another thread, the store is closed on this one.
    do { try await WorkerThreads.complete(onThread: "userstore-close", close) } catch { close() }
  }

  // MARK: Reading

  /// Reads one snapshot of the store as the synchronous `read` does, on one of the store's threads.
  ///
  /// - Parameter body: Receives the transaction. Runs once, or never if the task is canceled before.
  /// - Returns: The result of `body`.
  /// - Throws: What the synchronous `read` throws, and `CancellationError`.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (inout ReadTransaction) throws -> Result
  ) async throws -> Result {
    try await reader.awaiting { [self] in try read(body) }
  }

  /// Returns an attribute of a user as the synchronous `listenable` does, and reads its value on one of the store's threads.
  public func listenable<Value>(
    _ attribute: Attribute<Value>, of id: User.ID
  ) async throws -> Listenable<Value?> {
    try await reader.awaiting { [self] in try listenable(attribute, of: id) }
  }

  /// Returns a list as the synchronous `list` does, and reads its first rows on one of the store's threads.
  public func list(_ query: Query) async throws -> Listenable<Rows> {
    try await reader.awaiting { [self] in try list(query) }
  }

  /// Returns a live count as the synchronous `count` does, and counts on one of the store's threads.
  public func count(where condition: Condition = .always) async throws -> Listenable<Int> {
    try await reader.awaiting { [self] in try count(where: condition) }
  }

  /// Checks a cursor as the synchronous `verify` does, on one of the store's threads.
  public func verify(_ cursor: Cursor) async throws {
    try await reader.awaiting { [self] in try verify(cursor) }
  }

  /// Returns change sets as the synchronous `page` does, on one of the store's threads.
  public func page(after cursor: Cursor?) async throws -> [ChangeSet] {
    try await reader.awaiting { [self] in try page(after: cursor) }
  }

  // MARK: Writing

  /// Changes records as the synchronous `write` does, on the store's own thread.
  ///
  /// - Parameters:
  ///   - origin: The writer's name for itself, which listeners find in the change set.
  ///   - body: Receives the transaction. Runs once, or never if the task is canceled before.
  /// - Returns: The result of `body`.
  /// - Throws: What the synchronous `write` throws, and `CancellationError`.
  @discardableResult
  public func write<Result: Sendable>(
    origin: String? = nil, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await writable(writer).write(origin: origin, body)
  }

  /// Claims a consumer's name as the synchronous `consumer` does, on the store's own thread.
  public func consumer(_ name: String, from start: Consumer.Start = .now) async throws -> Consumer {
    try await writable(consumers).take(name, from: start)
  }

  /// Deletes a consumer as the synchronous `removeConsumer` does, on the store's own thread.
  @discardableResult
  public func removeConsumer(_ name: String) async throws -> Bool {
    try await writable(consumers).remove(name)
  }

  // MARK: Long operations

  /// Compacts the log as the synchronous `compact` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `compact` throws, and `CancellationError` between two steps.
  @discardableResult
  public func compact(keeping policy: RetentionPolicy? = nil) async throws -> Compaction {
    let writer = try writable(writer)
    return try await working { isCancelled in try writer.compact(keeping: policy, isCancelled: isCancelled) }
  }

  /// Returns what `compact` would delete, as the synchronous `compactionPreview` does, on a thread of the store.
  public func compactionPreview(keeping policy: RetentionPolicy? = nil) async throws -> Compaction {
    try await working { [self] _ in try compactionPreview(keeping: policy) }
  }

  /// Erases a removed user as the synchronous `purge` does, on a thread of the store.
  ///
  /// - Throws: What the synchronous `purge` throws, and `CancellationError` between two steps.
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
  /// - Throws: What the synchronous `backup` throws, and `CancellationError` while the file is copied.
  @discardableResult
  public func backup(
    to path: String, replacing isReplacing: Bool = false, ignoringProblems: Bool = false,
    progress: @escaping @Sendable (Double) throws -> Void = { _ in }
  ) async throws -> Cursor {
    try await working { [self] isCancelled in
      try backup(to: path, replacing: isReplacing, ignoringProblems: ignoringProblems) { fraction in
        if isCancelled() { throw CancellationError() }
        try progress(fraction)
      }
    }
  }

  /// Restores a backup as the synchronous `restore` does, on a thread of the store.
  public func restore(from path: String, ignoringProblems: Bool = false) async throws {
    try await working { [self] _ in try restore(from: path, ignoringProblems: ignoringProblems) }
  }

  /// Checks the store as the synchronous `check` does, on a thread of the store.
  public func check() async throws -> [Finding] {
    try await working { [self] _ in try check() }
  }

  /// Checks a file as the synchronous `check(path:busyTimeout:)` does, on another thread.
  public static func check(path: String, busyTimeout: Duration = .seconds(5)) async throws -> [Finding] {
    try await WorkerThreads.complete(onThread: "userstore-check") { () throws(StoreError) in
      try check(path: path, busyTimeout: busyTimeout)
    }
  }

  /// Creates the index on an attribute as the synchronous `addIndex` does, on a thread of the store.
  ///
  /// - Parameter attribute: The attribute.
  /// - Returns: Whether there was none.
  /// - Throws: What the synchronous `addIndex` throws, and `CancellationError`; then nothing has changed.
  @discardableResult
  public func addIndex<Value>(on attribute: Attribute<Value>) async throws -> Bool {
    try await addIndex(on: attribute.name)
  }

  /// Creates the index on an attribute as the synchronous `addIndex` does, on a thread of the store.
  ///
  /// - Parameter attribute: The name of the attribute.
  /// - Returns: Whether there was none.
  /// - Throws: What the synchronous `addIndex` throws, and `CancellationError`; then nothing has changed.
  @discardableResult
  public func addIndex(on attribute: AttributeName) async throws -> Bool {
    try await working { [self] isCancelled in
      do { return try addIndex(on: attribute) { !isCancelled() } } catch StoreError.Code.closed where isCancelled() {
        throw CancellationError()
      }
    }
  }

  /// Removes the index on an attribute as the synchronous `removeIndex` does, on a thread of the store.
  @discardableResult
  public func removeIndex<Value>(on attribute: Attribute<Value>) async throws -> Bool {
    try await removeIndex(on: attribute.name)
  }

  /// Removes the index on an attribute as the synchronous `removeIndex` does, on a thread of the store.
  @discardableResult
  public func removeIndex(on attribute: AttributeName) async throws -> Bool {
    try await working { [self] _ in try removeIndex(on: attribute) }
  }

  /// Runs a long operation on a thread of the store, which can ask whether the task was canceled.
  private func working<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
  ) async throws -> Result {
    let isCancelled = Lock(false)
    return try await withTaskCancellationHandler {
      try await workers.perform { [workers] in
        if workers.isStopped { throw StoreError(.closed, "the store is closed") }
        return try body { isCancelled.withLock { $0 } }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}

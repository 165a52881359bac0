/// User records in SQLite, and named listeners that receive every committed change.
///
///     let store = try UserStore(path: "users.db")
///     let zoe = try store.write { try $0.add(name: "Zoë", hairColor: UserStore.Color("auburn")) }
///     let name = try store.listenable(.name, of: zoe)
///     name.bindAndFire("FirstScreen") { print("first screen:", $0 ?? "gone") }
///     try store.write { try $0.rename(zoe, to: "Zoe") }
///
/// The listeners also receive the changes that other processes commit, with this library or without it. All methods can be
/// called on any thread.
///
/// The store holds its listeners: a closure that holds the store keeps both alive forever. Capture the store weakly:
///
///     store.listeners.bind("log", to: .everything) { [weak store] set in
///       let count = try store?.count()
///       print(set.revision, count ?? 0)
///     }
public final class UserStore: Sendable {
  /// The named listeners of this store, by topic.
  ///
  /// `listenable(_:of:)` delivers the values of one attribute with their type; `list(_:)` follows the users who meet a query.
  public let listeners: Listeners

  let engine: any Engine
  let publication: Publication
  let reader: Reader
  let writer: Writer?
  let compactor: Compactor
  let consumers: OpenConsumers?
  let liveQueries: LiveQueries
  /// The threads of long operations, such as a backup; they do not hold up reads.
  let workers = WorkerThreads(name: "userstore-work", limit: 4)
  let watcher: Watcher?
  private let clock: any Clock<Duration>

  // MARK: Opening

  /// Opens the store in a file, and creates it if `configuration.access` allows it.
  ///
  /// Only its owner can read a new file. Several processes can open and create the same file at the same time.
  ///
  /// - Parameters:
  ///   - path: The database file, a path and not a `file:` URL. A missing folder is created with the file.
  ///   - configuration: The settings.
  /// - Throws: The codes under “Opening” in ``StoreError/Code``, `.busy`, `.diskFull`, `.corrupt`, `.ioError`.
  public convenience init(path: String, configuration: Configuration = Configuration()) throws(StoreError) {
    try self.init(engine: SQLiteEngine(DatabaseFile(path, configuration)), configuration)
  }

  /// Creates a store in memory.
  ///
  /// No other process has access to it, and reads and writes wait for each other. Everything else is as in a file.
  ///
  /// - Parameter configuration: The settings; those for files have no effect.
  /// - Returns: An empty store.
  /// - Throws: `StoreError.Code.outOfMemory`.
  public static func inMemory(configuration: Configuration = Configuration()) throws(StoreError) -> UserStore {
    try UserStore(engine: SQLiteEngine(inMemory: configuration), configuration)
  }

  /// Creates a store in its own temporary folder, which is removed with the store.
  ///
  /// - Parameter configuration: The settings; `access` has no effect.
  /// - Returns: An empty store.
  /// - Throws: `StoreError.Code.diskFull`, `.noPermission`, `.cannotCreate`.
  public static func temporary(configuration: Configuration = Configuration()) throws(StoreError) -> UserStore {
    var configuration = configuration
    configuration.access = .createIfMissing
    let folder: String
    do { folder = try Files.createTemporaryFolder() } catch {
      throw StoreError(error, otherwise: .cannotCreate)
    }
    let path = folder + "/users.db"
    let file: DatabaseFile
    do { file = try DatabaseFile(path, configuration, temporaryFolder: folder) } catch {
      Files.remove(path)
      Files.remove(folder)
      throw error
    }
    do { return try UserStore(engine: SQLiteEngine(file), configuration) } catch {
      file.connections.release()
      throw error
    }
  }

  package init(engine: any Engine, _ configuration: Configuration) throws(StoreError) {
    self.engine = engine
    listeners = Listeners(onError: configuration.onListenerError)
    let identity = StoreIdentity()
    reader = Reader(pool: engine.readers, warm: engine.warm, store: identity)
    compactor = Compactor(configuration)
    // Opened before the position is read, so that every commit after it is an event.
    let watch = try engine.openWatch()
    publication = Publication(hub: listeners.hub, position: try engine.logEnd(), signal: { engine.signalCommit() })
    writer = Writer(
      engine, publication, reader: reader, store: identity, compactor: compactor, roundLimit: configuration.roundLimit)
    clock = configuration.clock
    consumers = OpenConsumers(writer: writer, reader: reader, publication, clock: configuration.clock)
    liveQueries = LiveQueries(hub: listeners.hub, StateAccess(reader: reader, publication: publication))
    watcher = watch.map { [publication, reader] in
      Watcher($0.open, $0.events, publication, reader: reader, patience: configuration.busyTimeout)
    }
    try watcher?.start()
  }

  deinit {
    close()
    engine.release()
  }

  // MARK: Using

  /// Whether the system reports writes of other processes; if not, the file is polled, except in memory.
  public var hasFileEvents: Bool { watcher?.hasEvents ?? false }

  /// Reads one snapshot of the store on the calling thread, unaffected by concurrent writes.
  ///
  /// - Parameter body: Receives the transaction, which ends when `body` returns.
  /// - Returns: The result of `body`.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction of the same
  ///   store; and what `body` throws.
  public func read<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try reader.read(body)
  }

  /// Returns a user as currently stored, or nil if there is none; to read more than one thing of the same state, use `read`.
  ///
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``), such as `.nested` inside a transaction.
  public func user(_ id: User.ID) throws(StoreError) -> User? {
    try reader.reading { transaction throws(StoreError) in try transaction.user(id) }
  }

  /// Returns the user who has a value of a unique attribute, or nil if there is none; compares as `addUnique` says.
  ///
  ///     if let user = try store.user(where: .email, is: "zoe@x.de") { … }
  ///
  /// - Throws: `StoreError.Code.badValue` if the attribute is not unique, and the codes that every read can throw.
  public func user<Value>(where attribute: Attribute<Value>, is value: Value) throws(StoreError) -> User? {
    try reader.reading { transaction throws(StoreError) in try transaction.user(where: attribute, is: value) }
  }

  /// Returns an attribute of a user as currently stored, or nil if it is not set or there is no such user.
  ///
  /// - Throws: `StoreError.Code.undecodable` if the stored value is not of the attribute's type, and the codes that every read can
  ///   throw.
  public func value<Value>(_ attribute: Attribute<Value>, of id: User.ID) throws(StoreError) -> Value? {
    try reader.reading { transaction throws(StoreError) in try transaction.value(attribute, of: id) }
  }

  /// Returns the identifiers of the users who have a name now, ascending; names are compared byte by byte.
  ///
  /// - Throws: The codes that every read can throw.
  public func ids(named name: String) throws(StoreError) -> [User.ID] {
    try reader.reading { transaction throws(StoreError) in try transaction.ids(named: name) }
  }

  /// Returns the users who meet a condition now, by default all, in order; those that are equal in it, by identifier.
  ///
  /// - Throws: `StoreError.Code.badValue` for a condition that cannot be evaluated, and the codes that every read can throw.
  public func users(
    where condition: Condition = .always, sortedBy order: [SortKey] = [], limit: Int? = nil
  ) throws -> [User] {
    try users(matching: Query(where: condition, sortedBy: order, limit: limit))
  }

  /// Returns the users that a query selects now, in its order; `list(_:)` follows them.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run, and the codes that every read can throw.
  public func users(matching query: Query) throws -> [User] {
    try reader.read { try $0.users(matching: query) }
  }

  /// Returns the number of users who now meet a condition, by default of all users; `liveCount(where:)` follows it.
  ///
  /// - Throws: `StoreError.Code.badValue` for a condition that cannot be evaluated, and the codes that every read can throw.
  public func count(where condition: Condition = .always) throws(StoreError) -> Int {
    try reader.reading { transaction throws(StoreError) in try transaction.count(where: condition) }
  }

  /// Changes records on the calling thread: everything that `body` does is committed together, or nothing if it throws.
  ///
  /// When `write` returns, the change is on disk (`Configuration.durability`) and every inline listener has been called with
  /// it. Inside a listener, of this store or another, it commits immediately and listeners are called after the current round.
  /// Listeners may run on this thread: never write while you hold a lock that a listener waits for.
  ///
  /// The writes of a listener have been committed by then, but may not have been delivered: if another thread is delivering,
  /// such as the one that watches other processes, `write` returns as soon as its own change set has been delivered.
  ///
  /// Foreign keys of your own tables on `users(id)` hold: removing a user does what their `ON DELETE` clauses say, or throws
  /// `StoreError.Code.stillReferenced`. A key that is deferred is checked when `body` returns.
  ///
  /// Writers that wait at the same time, on threads or in tasks, share a commit, in order of arrival; but while the store's own
  /// thread delivers the write of a task, threads go before tasks. Each has its own change set, and one that throws does not affect
  /// the others. Therefore `write` may return only after other closures have run, and `body` must not wait for another `write` to
  /// return. A single writer, or a write inside a listener, commits immediately.
  ///
  /// - Parameters:
  ///   - origin: The writer's name for itself, which listeners find in the change set.
  ///   - body: Receives the transaction, which ends when `body` returns. Must not block: other writers wait for it.
  /// - Returns: The result of `body`.
  /// - Throws: The codes that every write can throw (see ``StoreError/Code``), and what `body` throws.
  @discardableResult
  public func write<Result>(
    origin: String? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    // Only this is generic: generic code behind it would look up its types in each write.
    var result: Result?
    try writable(writer).write(origin: origin) { transaction in result = try body(&transaction) }
    return result!
  }

  /// Returns an attribute of a user as a current value with listeners.
  ///
  /// The value is nil if the attribute is not set, and for a removed user. A stored value that does not have the attribute's
  /// type is read as nil, and reported to `Configuration.onListenerError` with each change.
  ///
  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - id: The user's identifier.
  /// - Returns: The listenable, which is kept current while you hold it.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``); `.undecodable` if the value has another type.
  public func listenable<Value>(
    _ attribute: Attribute<Value>, of id: User.ID
  ) throws(StoreError) -> Listenable<Value?> {
    typealias Source = HubValue<ChangeSet>
    let read = { @Sendable [reader, publication] () throws(StoreError) -> Source.Decoded in
      try reader.reading { transaction throws(StoreError) in
        let cursor = try transaction.cursor
        return Source.Decoded(
          value: ValueBox(try transaction.value(attribute, of: id)), through: publication.round(at: cursor))
      }
    }
    // A listener on an actor that is behind must not read there.
    let decode: Source.Decode = { set, isOutdated in
      if set.discontinuity != nil { return isOutdated ? nil : try read() }
      do throws(StoreError) {
        if isOutdated, set.heldChanges == nil { return nil }
        guard let change = try set.changes.last else { return nil }
        return Source.Decoded(value: ValueBox(try change.new(attribute)), through: set.position)
      } catch {
        // A huge set that was compacted before it was delivered: the current value includes it.
        if error.code == .compacted { return try read() }
        throw error
      }
    }
    let topic = Topic.attribute(attribute, of: id)
    let held = try Source(
      hub: listeners.hub, topic: topic, fallback: ValueBox<Value?>(nil), decode: decode, read: read)
    return Listenable(held.backing)
  }

  /// Returns a feed of the change sets after a cursor; it waits for new ones until its task is canceled or the store is closed.
  ///
  /// The feed of a server has topics and a heartbeat. A client that saves the cursor of each set, also of heartbeats, later
  /// continues after everything that the feed has read, even if the topics have hidden all of it:
  ///
  ///     try await store.verify(cursor)  // before the response begins
  ///     for try await set in store.changeSets(after: cursor, of: [.attribute(.name)], heartbeat: .seconds(15)) {
  ///       if set.heartbeat == nil { send(set) } else { sendProgress(set.cursor) }
  ///     }
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the last change set that you have processed, or `ReadTransaction.cursor` of the snapshot that you
  ///     have read.
  ///   - topics: The topics of the changes to deliver; sets without such a change are hidden.
  ///   - interval: If it is not nil, the feed delivers a set with a `heartbeat` when it first has read to the end of the log, and
  ///     then at the end of each interval in which it has delivered nothing.
  /// - Returns: The feed; each iteration starts at the cursor.
  public func changeSets(
    after cursor: Cursor, of topics: [Topic] = [.everything], heartbeat interval: Duration? = nil
  ) -> ChangeFeed {
    ChangeFeed(publication, reader, heartbeat: interval, clock: clock) { [reader] last throws(StoreError) in
      try reader.page(of: topics, after: last ?? cursor)
    }
  }

  /// Checks that the log continues after a cursor, so that a feed can start there.
  ///
  /// - Parameter cursor: Any cursor.
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.replaced`, and the codes that every read can throw.
  public func verify(_ cursor: Cursor) throws(StoreError) { try reader.verify(cursor) }

  /// Returns the next existing change sets after a cursor, up to 1,000 changes or 1 MiB, or a single larger one.
  ///
  /// - Parameter cursor: The cursor of a change set; nil to start with the oldest in the log.
  /// - Returns: Complete change sets in order; empty at the end of the log.
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.replaced`, and the codes that every read can throw.
  public func page(after cursor: Cursor?) throws(StoreError) -> [ChangeSet] {
    var page =
      if let cursor { try reader.page(after: cursor) } else {
        try reader.page { transaction throws(StoreError) in try transaction.oldestCursor }
      }
    // A page may have only sets that are not for delivery.
    while page.sets.isEmpty, !page.isLast { page = try reader.page(after: page.position) }
    return page.sets
  }

  /// Claims a consumer's name, and returns the consumer that continues after the last change set acknowledged under the name.
  ///
  /// Claiming the name again, in any process, takes it over: the previous holder gets `StoreError.Code.superseded` with its
  /// next acknowledgment, or while it waits for changes. Waits for the write lock.
  ///
  /// - Parameters:
  ///   - name: 1 to 200 Unicode scalars without control characters.
  ///   - start: Where a consumer with a new name starts; has no effect if the name exists. By default, with the next change.
  ///     With `.oldest`, it receives everything that the log has: by default, the changes of 30 days, even those of users who were
  ///     added long ago. Choose it only if the effects may happen for all of them: a mailer would write to old users.
  ///   - topics: The changes to deliver, as in `changeSets(after:of:heartbeat:)`. They belong to this consumer object and not to the
  ///     name. Sets without such a change count as acknowledged when everything before them is.
  ///   - interval: The interval of heartbeats, as in `changeSets(after:of:heartbeat:)`; nil for none. A heartbeat can be
  ///     acknowledged, and need not be.
  /// - Returns: The consumer. It holds the name, even after it is released, until the name is claimed again or removed.
  /// - Throws: `StoreError.Code.badValue` for the name, the codes that every write can throw; `.compacted` or `.diverged` if the
  ///   log no longer continues from the cursor.
  public func consumer(
    _ name: String, from start: Consumer.Start = .now, of topics: [Topic] = [.everything],
    heartbeat interval: Duration? = nil
  ) throws(StoreError) -> Consumer {
    try writable(consumers).take(name, from: start, WantedSets(topics: topics, heartbeat: interval))
  }

  /// Deletes a consumer's name and position, so that the log keeps nothing for it.
  ///
  /// The current holder of the name gets `StoreError.Code.superseded`.
  ///
  /// - Parameter name: The consumer's name.
  /// - Returns: Whether the name existed.
  /// - Throws: The codes that every write can throw (see ``StoreError/Code``).
  @discardableResult
  public func removeConsumer(_ name: String) throws(StoreError) -> Bool {
    try writable(consumers).remove(name)
  }

  // MARK: Closing

  /// Closes the store: feeds and signals end, listeners are released, and later calls throw `StoreError.Code.closed`.
  ///
  /// Acknowledgments of consumers are written first, unless it is called inside a transaction. Reads, writes, and long operations
  /// such as a check that are running on other threads finish; their writes commit, but may not be delivered to listeners. Writes
  /// that wait for their turn throw `StoreError.Code.closed`. Releasing the store also closes it.
  ///
  /// When `close` returns, the store's threads have left it and its connections are closed, except those in use by another
  /// thread. If no other process has the database open, it is then a single file without a -wal file. Never close or release a
  /// store while you hold a lock that one of its listeners waits for. Inside a listener or a transaction, `close` does not
  /// wait: the last thread to finish leaves the single file.
  public func close() {
    watcher?.stop()
    let mayWait = !DeliveryThread.current.isBusy
    if mayWait { watcher?.join() }
    consumers?.close()
    reader.stop()
    publication.close()
    reader.close()
    writer?.stop()
    workers.stop()
    if mayWait {
      reader.join()
      writer?.join()
      workers.join()
    }
    engine.close()
    listeners.hub.end()
  }

  func writable<Part>(_ part: Part?) throws(StoreError) -> Part {
    guard let part else { throw StoreError(.readOnly, "the store was opened only for reading") }
    return part
  }
}

/// User records in SQLite, and named listeners that are told of every committed change.
///
///     let store = try UserStore(path: "users.db")
///     let zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
///     let name = try store.listenable(.name, of: zoe)
///     name.bindAndFire("FirstScreen") { print("first screen:", $0 ?? "gone") }
///     try store.write { try $0.rename(zoe, to: "Zoe") }
///
/// Changes by other processes, whoever wrote them, reach the same listeners. All methods may be called on any thread.
///
/// The store holds its listeners: one whose closure holds the store keeps both alive for ever. Capture it weakly:
///
///     store.listeners.bind("log", to: .everything) { [weak store] set in
///       let count = try store?.read { try $0.userCount }
///       print(set.revision, count ?? 0)
///     }
public final class UserStore: Sendable {
  /// The named listeners of this store, by topic.
  ///
  /// `listenable` gives the values of one attribute with their types.
  public let listeners: Listeners

  let engine: any Engine
  let publication: Publication
  let reader: Reader
  let writer: Writer?
  let compactor: Compactor
  private let consumers: OpenConsumers?
  private let readers = WorkerThread(name: "userstore-read")
  let watcher: Watcher?

  // MARK: Opening

  /// Opens the store in a file, and creates it if `configuration` lets it.
  ///
  /// A new file can be read by its owner only. Several processes may open, and create, the same file at once.
  ///
  /// - Parameters:
  ///   - path: The database file; its folder too is created if it is missing. `file:` has no meaning here.
  ///   - configuration: How.
  /// - Throws: `StoreError`: the codes under “Opening”, `.busy`, `.diskFull`, `.corrupt`, `.ioError`; `.badValue` for a page
  ///   size that SQLite does not have.
  public convenience init(path: String, configuration: Configuration = Configuration()) throws(StoreError) {
    try self.init(SQLiteEngine(DatabaseFile(path, configuration)), configuration)
  }

  /// Makes a store in memory.
  ///
  /// `read` and `write` take turns; no other process sees it; all else holds.
  ///
  /// - Parameter configuration: How; what concerns files is without meaning.
  /// - Returns: the store, empty.
  /// - Throws: `StoreError.Code.outOfMemory`, `.badValue` for a page size that SQLite does not have.
  public static func inMemory(configuration: Configuration = Configuration()) throws(StoreError) -> UserStore {
    try UserStore(SQLiteEngine(inMemory: configuration), configuration)
  }

  /// Makes a store in a temporary folder of its own, removed when the store goes.
  ///
  /// - Parameter configuration: How; it is created in any case.
  /// - Returns: the store, empty.
  /// - Throws: `StoreError.Code.diskFull`, `.noPermission`, `.cannotCreate`, `.badValue` for a page size that SQLite does not have.
  public static func temporary(configuration: Configuration = Configuration()) throws(StoreError) -> UserStore {
    var configuration = configuration
    configuration.access = .createIfMissing
    let folder: String
    do { folder = try Files.createTemporaryFolder() } catch {
      throw StoreError(.cannotCreate, "\(error)", cause: error)
    }
    let file: DatabaseFile
    do throws(StoreError) {
      file = try DatabaseFile(folder + "/users.db", configuration, temporaryFolder: folder)
    } catch {
      Files.remove(folder + "/users.db")
      Files.remove(folder)
      throw error
    }
    do { return try UserStore(SQLiteEngine(file), configuration) } catch {
      file.connections.release()
      throw error
    }
  }

  private init(_ engine: any Engine, _ configuration: Configuration) throws(StoreError) {
    self.engine = engine
    listeners = Listeners(onError: configuration.onListenerError)
    let identity = StoreIdentity()
    reader = Reader(pool: engine.readers, store: identity)
    compactor = Compactor(configuration)
    publication = Publication(hub: listeners.hub, position: try Self.logEnd(engine), signal: { engine.signalCommit() })
    writer = Writer(
      engine, publication, reader: reader, store: identity, compactor: compactor,
      roundLimit: configuration.roundLimit)
    consumers = OpenConsumers(writer: writer, reader: reader, publication, clock: configuration.clock)
    watcher = try engine.openWatch().map { [publication, reader] in
      Watcher($0.session, $0.events, publication, reader: reader)
    }
    try watcher?.start()
  }

  private static func logEnd(_ engine: any Engine) throws(StoreError) -> Cursor {
    let pool = engine.writers ?? engine.readers
    let session = try pool.take()
    defer { pool.give(back: session) }
    return try session.logEnd()
  }

  deinit {
    close()
    engine.release()
  }

  // MARK: Using

  /// Whether the system tells of the writes of other processes; without, the file is polled.
  ///
  /// False in memory.
  public var hasFileEvents: Bool { watcher?.hasEvents ?? false }

  /// Reads in one state of the store, on the calling thread, whatever others write meanwhile.
  ///
  /// - Parameter body: Gets the transaction, which ends with it.
  /// - Returns: what `body` returns.
  /// - Throws: `StoreError.Code.nested` inside a transaction of the same store, `.closed`, and what `body` throws.
  public func read<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try reader.read(body)
  }

  /// Reads in one state of the store, on a thread of the store's.
  ///
  /// - Parameter body: Gets the transaction, which ends with it.
  /// - Returns: what `body` returns.
  /// - Throws: `StoreError.Code.closed`, and what `body` throws.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (inout ReadTransaction) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      do {
        let isAccepted = try readers.run { [reader] in
          continuation.resume(with: Swift.Result { try reader.read(body) })
        }
        if !isAccepted { continuation.resume(throwing: StoreError(.closed, "the store is closed")) }
      } catch {
        continuation.resume(throwing: StoreError(.unexpected, "\(error)", cause: error))
      }
    }
  }

  /// Changes records on the calling thread: all that `body` does is committed together, or, when it throws, not at all.
  ///
  /// When it returns, the change is on disk (`Configuration.durability`) and every inline listener has been called with
  /// it. Inside a listener, of this store or another, it commits at once and listeners are called after the present round.
  /// Listeners may run on this thread: never write while you hold something that a listener waits for.
  ///
  /// What a listener writes in answer has been committed by then, but may not have been delivered: when another thread, such
  /// as the one that watches other processes, is delivering, this one returns as soon as its own set was delivered.
  ///
  /// Foreign keys between tables of the application's own are not enforced by what the library writes: `PRAGMA foreign_keys`
  /// is off on its connections. A table of yours that refers to `users` keeps rows of users that were removed, whatever its
  /// `ON DELETE` says; a trigger on your own connection or a listener can remove them.
  ///
  /// Writers that wait at the same time, on threads or in tasks, share a commit, each still a change set of its own, in the
  /// order in which they came: one that throws takes nobody with it. So `write` may return only after others' closures were
  /// run, and a closure must not wait for another `write` to return. One that comes alone is committed at once, as is one
  /// inside a listener.
  ///
  /// - Parameters:
  ///   - origin: What the writer calls itself; listeners find it in the change set.
  ///   - body: Gets the transaction, which ends with it. Not to be kept waiting: other writers wait too.
  /// - Returns: what `body` returns.
  /// - Throws: `StoreError`, the codes under “Reading and writing”; and what `body` throws.
  @discardableResult
  public func write<Result>(
    origin: String? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    // Generic here alone: what is behind it would look its types up in each write.
    var result: Result?
    try writable(writer).write(origin: origin) { transaction in result = try body(&transaction) }
    return result!
  }

  /// Changes records on the store's own thread.
  ///
  /// Shares a commit with other writes that wait at the same time, as the synchronous `write` does.
  ///
  /// - Parameters:
  ///   - origin: What the writer calls itself; listeners find it in the change set.
  ///   - body: Gets the transaction, which ends with it. Runs once, or, when the task is cancelled before, never.
  /// - Returns: what `body` returns.
  /// - Throws: as the synchronous `write`; `CancellationError`.
  @discardableResult
  public func write<Result: Sendable>(
    origin: String? = nil, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await writable(writer).write(origin: origin, body)
  }

  /// An attribute of a user as a current value with listeners.
  ///
  /// The value is nil when the attribute is not set, and for a removed user. A stored value that is not of the attribute's type reads as nil, and is reported to `Configuration.onListenerError`
  /// with each change.
  ///
  /// - Parameters:
  ///   - attribute: Which one.
  ///   - id: Whose.
  /// - Returns: the listenable; it stays current as long as it is held.
  /// - Throws: what reading can throw; `StoreError.Code.undecodable` when the present value is not of the attribute's type.
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
    let decode: Source.Decode = { set in
      if set.discontinuity != nil { return try read() }
      let changes: [Change]
      do throws(StoreError) { changes = try set.changes } catch {
        // A huge set that was forgotten before it was delivered: what it did is in the present state.
        if error.code == .compacted { return try read() }
        throw error
      }
      guard let change = changes.last else { return nil }
      return Source.Decoded(value: ValueBox(try change.new(attribute)), through: set.position)
    }
    let topic = Topic.attribute(attribute, of: id)
    let held = try Source(
      hub: listeners.hub, topic: topic, fallback: ValueBox<Value?>(nil), decode: decode, read: read)
    return Listenable(held.backing)
  }

  /// The change sets after a cursor, without end.
  ///
  /// - Parameter cursor: The end of the last set that the consumer has dealt with, or `ReadTransaction.cursor` of the
  ///   state that it has read.
  /// - Returns: the feed; each iteration of it begins at the cursor.
  public func changes(after cursor: Cursor) -> ChangeFeed {
    ChangeFeed(publication) { [reader] last throws(StoreError) in try reader.sets { _ in last ?? cursor } }
  }

  /// The change sets after a cursor that are there already, a step of at most 1,000 changes or 1 MiB at a time.
  ///
  /// - Parameter cursor: The end of a set; nil for the oldest that the log still has.
  /// - Returns: whole sets, in order; none when there are no more.
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.replaced`, and what reading can throw.
  public func page(after cursor: Cursor?) throws(StoreError) -> [ChangeSet] {
    try reader.sets { transaction throws(StoreError) in
      if let cursor { return cursor }
      return try transaction.session.horizon()
    }
  }

  /// Takes a consumer's name: the change sets after what was last acknowledged under it, in this process or another.
  ///
  /// Who had the name before gets `StoreError.Code.superseded`, at the next acknowledgement, or while it waits for changes.
  /// Waits for the writer's lock.
  ///
  /// - Parameters:
  ///   - name: 1 to 200 Unicode scalars without control characters.
  ///   - start: Where it begins when nobody has had the name yet; otherwise without meaning.
  /// - Returns: the consumer; the name stays taken after it, until it is taken again or removed.
  /// - Throws: `StoreError.Code.badValue` for the name, `.readOnly`, what writing can throw; and, for a cursor from which the
  ///   log does not go on, `.compacted` or `.diverged`.
  public func consumer(_ name: String, from start: Consumer.Start = .now) throws(StoreError) -> Consumer {
    try writable(consumers).take(name, from: start)
  }

  /// Forgets a consumer's name and position, so that nothing is kept in the log for it.
  ///
  /// Who has the name gets `StoreError.Code.superseded`.
  ///
  /// - Parameter name: The name.
  /// - Returns: whether there was one.
  /// - Throws: `StoreError.Code.readOnly`, and what writing can throw.
  @discardableResult
  public func removeConsumer(_ name: String) throws(StoreError) -> Bool {
    try writable(consumers).remove(name)
  }

  // MARK: Closing

  /// Closes the store: feeds and signals end, listeners hear no more and are let go, later calls throw
  /// `StoreError.Code.closed`.
  ///
  /// What consumers have acknowledged is written first.
  ///
  /// What is under way is finished, by whoever does it: a write on another thread commits, though listeners may not hear
  /// of it any more. Writes that wait for their turn throw `StoreError.Code.closed`. Releasing the store closes it too.
  ///
  /// When this returns, the store's threads have ended and its connections are closed, except those that another thread is
  /// reading or writing with. If nobody else has the database open then, it is one file, without a -wal file. Never close
  /// or release a store while you hold something that one of its listeners waits for. Inside a listener or a transaction
  /// nothing is waited for: the last thread to end leaves the file whole.
  public func close() {
    watcher?.stop()
    let mayWait = !DeliveryThread.current.isBusy
    if mayWait { watcher?.join() }
    consumers?.close()
    readers.stop()
    publication.close()
    reader.close()
    writer?.stop()
    if mayWait {
      readers.join()
      writer?.join()
    }
    engine.writers?.close()
    engine.close()
    listeners.hub.end()
  }

  func writable<Part>(_ part: Part?) throws(StoreError) -> Part {
    guard let part else { throw StoreError(.readOnly, "the store was opened only for reading") }
    return part
  }
}

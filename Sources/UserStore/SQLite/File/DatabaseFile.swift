/// The database file: the rules for its path, and opening connections to it.
struct DatabaseFile: Sendable {
  /// Absolute, without symbolic links.
  let path: String
  let walPath: String
  let configuration: Configuration
  /// The identity of the file that was found first: the schema of any other file was never checked.
  let identity: Files.Identity
  let connections: FileConnections
  /// Whether the file was created here, empty.
  private let isNew: Bool

  /// Held while a file is created.
  ///
  /// Closing the file drops SQLite's locks on it in this process, so no store here may open it before it is closed.
  private static let creation = Lock(())

  /// Finds the file, and creates an empty one if the configuration allows.
  ///
  /// The path becomes absolute, so that one that starts with `file:` is not a URI. Symbolic links are resolved once. A pipe,
  /// which would block forever, is refused before it is opened. `temporaryFolder` is deleted with a temporary store.
  ///
  /// - Throws: The codes under “Opening”.
  init(_ path: String, _ configuration: Configuration, temporaryFolder: String? = nil) throws(StoreError) {
    try DatabasePath.check(path, .cannotOpen)
    self.configuration = configuration
    do {
      (self.path, identity, isNew) = try Self.creation.withLock { _ in try Self.prepare(path, configuration) }
    } catch {
      throw Self.storeError(error, path, configuration.access)
    }
    walPath = self.path + "-wal"
    connections = FileConnections(path: self.path, identity: identity, temporaryFolder: temporaryFolder)
  }

  private static func prepare(
    _ given: String, _ configuration: Configuration
  ) throws -> (path: String, Files.Identity, isNew: Bool) {
    let access = configuration.access
    var path = try Files.canonical(given)
    try DatabasePath.checkLength(of: path, .cannotOpen)
    var isNew = false
    if access == .createIfMissing, try Files.kind(of: path) == .missing {
      (path, isNew) = try create(given, path, configuration)
    } else {
      try checkFileSystem(of: path, given, configuration)
    }
    let kind = try Files.kind(of: path)
    if kind == .missing { throw missing(given) }
    guard kind == .regular else { throw StoreError(.cannotOpen, "\(given) is \(kind)") }
    let identity = try Files.identity(of: path)
    try requireMain(identity, given)
    // An empty file becomes a store.
    if access == .createIfMissing, try Files.size(of: path) == 0 { try DatabasePath.checkIsFree(path) }
    if access != .readOnly { try requireOneName(path) }
    return (path, identity, isNew)
  }

  private static func create(
    _ given: String, _ expected: String, _ configuration: Configuration
  ) throws -> (path: String, isNew: Bool) {
    // Checked before the folder is created.
    try DatabasePath.checkIsFree(expected)
    try Files.createPrivateFolder(Files.split(given).folder)
    let path = try Files.canonical(given)
    do { _ = try WritablePath(given, createsDatabase: true).file } catch {
      // Another process that creates the file may create others beside it.
      if try Files.kind(of: path) == .missing { throw error }
    }
    try checkFileSystem(of: path, given, configuration)
    // Not by SQLite: it would create a file that everybody can read.
    return (path, try Files.createPrivate(path))
  }

  private static func checkFileSystem(of path: String, _ given: String, _ configuration: Configuration) throws {
    guard case .network(let kind) = configuration.fileSystem(Files.split(path).folder) else { return }
    throw StoreError(
      .cannotOpen,
      "\(given) is on a network file system (\(kind)): processes that use a store share memory, so they must run on one machine; use a local disk"
    )
  }

  /// Refuses a file that SQLite has open in this process beside a database: closing it would drop the locks on it.
  private static func requireMain(_ identity: Files.Identity, _ given: String) throws {
    for open in FileConnections.open where DatabasePath.isAddition(identity, to: open.path) {
      throw StoreError(.cannotOpen, "\(given) belongs to the database \(open.path)")
    }
  }

  /// Refuses a file that has several names.
  ///
  /// SQLite derives the -wal file's name from the database's: processes that open one file by two names would have two -wal
  /// files, never see each other's commits, and overwrite each other's pages when they run checkpoints.
  private static func requireOneName(_ path: String) throws {
    let count = try Files.linkCount(of: path)
    guard count > 1 else { return }
    throw StoreError(
      .cannotOpen,
      "\(path) has \(count) names (hard links) and can only be opened for reading: writers that use different names do not see each other's changes; remove the other names (an interrupted backup leaves FILE.….partial), or use a copy"
    )
  }

  /// Opens the first connection and checks the schema, which it creates, migrates, or repairs if the store may be written.
  func openChecked() throws(StoreError) -> Connection {
    if configuration.access == .readOnly { return try openCheckedReader() }
    let connection = try openWriter()
    do {
      try Schema.prepare(
        connection, isFile: true, creates: configuration.access == .createIfMissing, pageSize: configuration.pageSize)
    } catch {
      if isNew { removeIfEmpty(connection) }
      throw error
    }
    return connection
  }

  /// Takes over a copy of a store that lacks its mark, or changes nothing without `isKept`; returns whether that was needed.
  func adopt(isKept: Bool) throws(StoreError) -> Bool { try Schema.adopt(openWriter(), isKept: isKept) }

  func openWriter() throws(StoreError) -> Connection {
    let connection = try open(.readWrite)
    // SQLite opens a file that the process may not write read-only, without an error.
    if connection.isReadOnly { throw StoreError(.noPermission, "no permission to write \(path)") }
    return connection
  }

  /// Removes a file that was created here and could not be filled, on a full disk for example.
  ///
  /// Only under the exclusive lock, so that no other process is creating a store in it. A process that has opened the file
  /// gets `.moved` later. In an empty file, BEGIN writes the first page; the journal is in memory, because there may be no
  /// space for one.
  private func removeIfEmpty(_ connection: borrowing Connection) {
    func isEmpty() -> Bool { (try? Files.identity(of: path)) == identity && (try? Files.size(of: path)) == 0 }
    // Before the journal mode is changed: that of another program's store must stay as it is.
    guard isEmpty() else { return }
    let begin = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"
    guard (try? connection.execute(begin, to: "remove \(path)")) != nil else { return }
    defer { connection.rollBack() }
    if isEmpty() { Files.remove(path) }
  }

  private func openCheckedReader() throws(StoreError) -> Connection {
    do {
      let connection = try open(.queryOnly)
      try Schema.check(connection)
      return connection
    } catch {
      throw missingPermission(error) ?? error
    }
  }

  func openCheckpointer() throws(StoreError) -> Connection {
    // An interrupted checkpoint would leave commits in the -wal file, for a reader that may not be able to copy them.
    let connection = try open(.readWrite, isInterruptible: false)
    // A connection that has never read does not find the -wal file, and would copy nothing.
    try connection.execute("PRAGMA schema_version", to: "open \(path)")
    return connection
  }

  /// Opens a connection to the file that was checked before.
  func open(_ access: Connection.Access, isInterruptible: Bool = true) throws(StoreError) -> Connection {
    // Before SQLite opens it: a pipe would block, and closing a file that is watched would wake the watcher that opens it.
    try checkIdentity()
    let connection: Connection
    do {
      connection = try Connection(
        path: path, access: access, busyTimeout: Int32(configuration.busyMilliseconds), of: connections,
        isInterruptible: isInterruptible)
    } catch {
      try checkIdentity()
      throw error
    }
    try checkIdentity()
    if connection.hasMoved { throw Self.moved }
    return connection
  }

  private func checkIdentity() throws(StoreError) {
    if (try? Files.identity(of: path)) != identity { throw Self.moved }
  }

  // MARK: Errors

  static var moved: StoreError {
    StoreError(.moved, "the database file was moved, deleted or replaced while it was open; reopen the store")
  }

  private static func missing(_ path: String) -> StoreError { StoreError(.notFound, "there is no database at \(path)") }

  private static func storeError(_ error: any Error, _ path: String, _ access: Configuration.Access) -> StoreError {
    switch error {
    // Even if it is a folder of the path that is missing, the caller looks for a database.
    case let error as SystemError where error.isMissing && access != .createIfMissing: missing(path)
    case let error as SystemError: StoreError(error, otherwise: error.isMissing ? .cannotCreate : .cannotOpen)
    default: StoreError(error)
    }
  }

  /// Returns the error for a permission that is missing to read the file; nil if `error` has another reason.
  ///
  /// SQLite reports “a readonly database” or “unable to open”, depending on how far it gets. `immutable=1` would open the file
  /// without permission to write to the folder, but ignores the -wal file, and reads pages that a writer is changing.
  private func missingPermission(_ error: StoreError) -> StoreError? {
    guard let cause = error.cause as? SQLiteError, [.readOnly, .cannotOpen].contains(cause.code.primary) else {
      return nil
    }
    let files = [path, walPath, path + "-shm"]
    if let file = files.first(where: { (try? Files.kind(of: $0)) == .regular && !Files.mayRead($0) }) {
      return StoreError(.noPermission, "cannot read \(path): no permission to read \(file)", cause: cause)
    }
    let folder = Files.split(path).folder
    if Files.mayWrite(folder) { return nil }
    return StoreError(
      .needsWriter,
      "cannot read \(path): no program has it open for writing, so SQLite must create its -shm file, but \(folder) is not writable",
      cause: cause)
  }
}

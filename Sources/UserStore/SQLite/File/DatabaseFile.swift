/// The path rules, and how connections to a file are opened.
struct DatabaseFile: Sendable {
  /// Absolute, without links.
  let path: String
  let configuration: Configuration
  /// Which file lay there at first: what another one holds was never checked.
  let identity: Files.Identity
  let connections: FileConnections
  /// Whether the file was created here, empty.
  private let isNew: Bool

  /// Held while a file is created.
  ///
  /// Closing it drops the locks that SQLite has on it in this process: no store here may
  /// open it before it was closed.
  private static let creation = Lock(())

  /// Finds the file, and creates an empty one if it may.
  ///
  /// The path is made absolute, so that one that begins with `file:` is a name and no URI; links are resolved once; a
  /// pipe, which would hang for ever, is refused before anybody opens it.
  ///
  /// - Parameters:
  ///   - path: Where it is, or is to be.
  ///   - configuration: Whether it may be created.
  ///   - temporaryFolder: The folder that goes with the store, if it is a temporary one.
  /// - Throws: `StoreError`, the codes under “Opening”.
  init(_ path: String, _ configuration: Configuration, temporaryFolder: String? = nil) throws(StoreError) {
    try configuration.check()
    guard !Files.split(path).name.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.cannotOpen, "“\(path.filter { $0 != "\0" })” names no file")
    }
    self.configuration = configuration
    do {
      (self.path, identity, isNew) = try Self.creation.withLock { _ in try Self.prepare(path, configuration) }
    } catch let error as StoreError {
      throw error
    } catch {
      throw Self.storeError(error, path, configuration.access)
    }
    connections = FileConnections(path: self.path, identity: identity, temporaryFolder: temporaryFolder)
  }

  private static func prepare(
    _ given: String, _ configuration: Configuration
  ) throws -> (path: String, Files.Identity, isNew: Bool) {
    let access = configuration.access
    if access == .createIfMissing { try Files.createPrivateFolder(Files.split(given).folder) }
    let path = try Files.canonical(given)
    // Before anything is created there.
    if case .network(let kind) = configuration.fileSystem(Files.split(path).folder) {
      throw StoreError(
        .cannotOpen,
        "\(given) lies on a network file system (\(kind)): the processes that use a store share memory, which only those of one machine can; use a disk of this one"
      )
    }
    var isNew = false
    if try Files.kind(of: path) == .missing {
      guard access == .createIfMissing else { throw missing(given) }
      // Before SQLite opens it: SQLite would create it for everybody to read.
      isNew = try Files.createPrivate(path)
    }
    let kind = try Files.kind(of: path)
    guard kind == .regular else {
      throw StoreError(.cannotOpen, "\(given) is \(kind == .directory ? "a folder" : "not a regular file")")
    }
    if access != .readOnly { try requireOneName(path) }
    return (path, try Files.identity(of: path), isNew)
  }

  /// SQLite finds the -wal file by the database's name: two processes that open one file by two names have two of them,
  /// never see each other's commits, and overwrite each other's pages when they checkpoint.
  private static func requireOneName(_ path: String) throws {
    let count = try Files.linkCount(of: path)
    guard count > 1 else { return }
    throw StoreError(
      .cannotOpen,
      "\(path) has \(count) names (hard links), and can only be read: writers that use different names would not see each other's changes; remove the other names (an interrupted backup leaves FILE.….partial), or use a copy"
    )
  }

  var walPath: String { path + "-wal" }
  var shmPath: String { path + "-shm" }

  /// A connection that writes, to a database that is as it should be.
  func openWriter() throws(StoreError) -> Connection {
    let connection = try open(.readWrite)
    // SQLite opens a file that it may not write for reading, and says nothing.
    if connection.isReadOnly { throw StoreError(.noPermission, "no permission to write \(path)") }
    do {
      try Schema.prepare(
        connection, isFile: true, creates: configuration.access == .createIfMissing, pageSize: configuration.pageSize)
    } catch {
      if isNew { removeIfEmpty(connection) }
      throw error
    }
    let mode = configuration.durability == .full ? "FULL" : "NORMAL"
    try connection.execute("PRAGMA synchronous = \(mode)", to: "open \(path)")
    return connection
  }

  /// Removes the file that was created here and could not be filled, on a full disk for example.
  ///
  /// Only under the exclusive lock, so that no other process is creating a store in it now. A process that has opened the
  /// file gets `.moved` when it tries later. In an empty file SQLite begins by writing the first page: the journal is in
  /// memory, because there may be no room for one.
  private func removeIfEmpty(_ connection: borrowing Connection) {
    func isEmpty() -> Bool { (try? Files.identity(of: path)) == identity && (try? Files.size(of: path)) == 0 }
    // Before the journal's mode is touched: that of somebody else's store stays as it is.
    guard isEmpty() else { return }
    do { try connection.execute("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE", to: "remove \(path)") } catch {
      return
    }
    defer { connection.rollBack() }
    if isEmpty() { Files.remove(path) }
  }

  /// A connection that reads a database that is as it should be.
  func openCheckedReader() throws(StoreError) -> Connection {
    do {
      let connection = try open(.queryOnly)
      try Schema.check(connection)
      return connection
    } catch {
      throw missingRight(error) ?? error
    }
  }

  /// A connection for checkpoints.
  ///
  /// One that has never read does not know yet that there is a -wal file, and would copy nothing.
  func openCheckpointer() throws(StoreError) -> Connection {
    // An interrupted checkpoint would leave commits in the -wal file, beside a reader that may not copy them.
    let connection = try open(.readWrite, isInterruptible: false)
    try connection.execute("PRAGMA schema_version", to: "open \(path)")
    return connection
  }

  /// Writes the whole file anew; other writers wait.
  func vacuum() throws(StoreError) {
    try open(.readWrite).vacuum()
  }

  /// A further connection to a database that was checked.
  func open(_ access: Connection.Access, isInterruptible: Bool = true) throws(StoreError) -> Connection {
    let connection = try Connection(
      path: path, access: access, busyTimeout: Int32(configuration.busyMilliseconds), of: connections,
      isInterruptible: isInterruptible)
    guard (try? Files.identity(of: path)) == identity, !connection.hasMoved else { throw Self.moved }
    return connection
  }

  static var moved: StoreError {
    StoreError(.moved, "the database file was moved, deleted or replaced while it was open; reopen the store")
  }

  private static func storeError(_ error: any Error, _ path: String, _ access: Configuration.Access) -> StoreError {
    guard let error = error as? SystemError else { return StoreError(.unexpected, "\(error)", cause: error) }
    guard error.isMissing else { return StoreError(error, otherwise: .cannotOpen) }
    // Whichever of the folders above it is missing: what was looked for is a database.
    return access == .createIfMissing ? StoreError(error, otherwise: .cannotCreate) : missing(path)
  }

  private static func missing(_ path: String) -> StoreError {
    StoreError(.notFound, "there is no database at \(path)")
  }
}

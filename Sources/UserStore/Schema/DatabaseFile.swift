/// The path rules, and how connections to a file are opened.
struct DatabaseFile: Sendable {
  /// Absolute, without links.
  let path: String
  let configuration: Configuration
  /// Which file lay there at first: what another one holds was never checked.
  let identity: Files.Identity

  /// Held while a file is created.
  ///
  /// Closing it drops the locks that SQLite has on it in this process: no store here may
  /// open it before it was closed.
  private static let creation = Lock(())

  /// Finds the file, and creates an empty one if it may.
  ///
  /// The path is made absolute, so that one that begins with `file:` is a name and no URI; links are resolved once; a
  /// pipe, which would hang for ever, is refused before anybody opens it.
  init(_ path: String, _ configuration: Configuration) throws(StoreError) {
    try configuration.check()
    guard !Files.split(path).name.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.cannotOpen, "“\(path.filter { $0 != "\0" })” names no file")
    }
    self.configuration = configuration
    do {
      (self.path, identity) = try Self.creation.withLock { _ in try Self.prepare(path, configuration) }
    } catch let error as StoreError {
      throw error
    } catch {
      throw Self.storeError(error, path, configuration.access)
    }
  }

  private static func prepare(
    _ given: String, _ configuration: Configuration
  ) throws -> (path: String, Files.Identity) {
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
    if try Files.kind(of: path) == .missing {
      guard access == .createIfMissing else { throw StoreError(.notFound, "there is no database at \(given)") }
      // Before SQLite opens it: SQLite would create it for everybody to read.
      try Files.createPrivate(path)
    }
    let kind = try Files.kind(of: path)
    guard kind == .regular else {
      throw StoreError(.cannotOpen, "\(given) is \(kind == .directory ? "a folder" : "not a regular file")")
    }
    if access != .readOnly { try requireOneName(path) }
    return (path, try Files.identity(of: path))
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
    try Schema.prepare(
      connection, isFile: true, creates: configuration.access == .createIfMissing, pageSize: configuration.pageSize,
      timeout: configuration.busyMilliseconds)
    let mode = configuration.durability == .full ? "FULL" : "NORMAL"
    try storing("open \(path)") { () throws(SQLiteError) in try connection.execute("PRAGMA synchronous = \(mode)") }
    return connection
  }

  /// A connection that reads a database that is as it should be.
  func openCheckedReader() throws(StoreError) -> Connection {
    do {
      let connection = try open(.readOnly)
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
    let connection = try open(.readWrite)
    try storing("open \(path)") { () throws(SQLiteError) in try connection.execute("PRAGMA schema_version") }
    return connection
  }

  /// Writes the whole file anew; other writers wait.
  func vacuum() throws(StoreError) {
    let connection = try open(.readWrite)
    try storing("rewrite \(path)") { () throws(SQLiteError) in try connection.vacuum() }
  }

  /// A further connection to a database that was checked.
  func open(_ access: Connection.Access) throws(StoreError) -> Connection {
    let connection = try storing("open \(path)") { () throws(SQLiteError) in
      try Connection(path: path, access: access, busyTimeout: Int32(configuration.busyMilliseconds))
    }
    guard (try? Files.identity(of: path)) == identity, !connection.hasMoved else { throw Self.moved }
    return connection
  }

  static var moved: StoreError {
    StoreError(.moved, "the database file was moved, deleted or replaced while it was open; reopen the store")
  }

  private static func storeError(_ error: any Error, _ path: String, _ access: Configuration.Access) -> StoreError {
    guard let error = error as? SystemError else { return StoreError(.unexpected, "\(error)", cause: error) }
    let missing: StoreError.Code = access == .createIfMissing ? .cannotCreate : .notFound
    return StoreError(error, otherwise: error.isMissing ? missing : .cannotOpen)
  }
}

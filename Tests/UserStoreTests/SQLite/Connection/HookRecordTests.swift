import Testing

@testable import UserStore

/// What the hooks record, and what they do not.
@Suite(.bounded, .serialized) struct HookRecordTests {
  private func connection(path: String? = nil) throws -> Connection {
    let connection = try Connection(path: path, access: .readWrite, busyTimeout: 0)
    if path != nil { try connection.execute("PRAGMA journal_mode = WAL") }
    try connection.execute(Migrations.all)
    connection.hooks.reset()
    return connection
  }

  @Test func `a logged row is recorded`() throws {
    let connection = try connection()
    try connection.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('Ada')")
    // A name and a hair color.
    #expect(connection.hooks.logged == .through(2))
    try connection.execute("UPDATE users SET name = 'Bob'")
    #expect(connection.hooks.takeLogged() == .through(3))
    #expect(connection.hooks.takeLogged() == .nothing)
    #expect(!connection.hooks.hasBegunCommit)
  }

  @Test func `a row that is not logged is not recorded`() throws {
    let connection = try connection()
    try connection.execute("CREATE TABLE changes_of_mine (seq INTEGER PRIMARY KEY)")
    try connection.execute("UPDATE meta SET horizon = 1; UPDATE users SET name = 'Ada'; SELECT * FROM changes")
    try connection.execute("INSERT INTO changes_of_mine VALUES (100)")
    #expect(connection.hooks.logged == .nothing)
  }

  @Test func `after a rollback to a savepoint it is unknown whether rows are logged`() throws {
    let connection = try connection()
    let session = SQLiteSession(connection)
    try session.beginWriting(isWaiting: true)
    try session.savepoint()
    _ = try session.insertUser(nil, name: .text("Ada"), hairColor: .null)
    #expect(session.connection.hooks.logged == .through(2))
    try session.rollBackToSavepoint()
    #expect(session.connection.hooks.logged == .unknown)
    #expect(try session.lastRow() == nil)
    try session.endSet(origin: nil)
    #expect(try session.lastRow() == nil)
    _ = try session.insertUser(nil, name: .text("Ada"), hairColor: .null)
    #expect(session.connection.hooks.logged == .through(2))
  }

  @Test func `after a change of the log it is unknown whether rows are logged`() throws {
    for sql in ["UPDATE changes SET op = 2 WHERE seq = 1", "DELETE FROM changes WHERE seq = 1"] {
      let connection = try connection()
      try connection.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('Ada')")
      #expect(connection.hooks.logged == .through(2))
      try connection.execute(sql)
      #expect(connection.hooks.logged == .unknown)
      try connection.execute("INSERT INTO users (name) VALUES ('Bob')")
      #expect(connection.hooks.logged == .unknown)
    }
  }

  @Test func `after a failed statement it is unknown whether rows are logged`() throws {
    let sql = "INSERT INTO users (name) VALUES ('Ada'), (NULL)"
    for isCached in [false, true] {
      let connection = try connection()
      #expect(throws: StoreError.self) {
        if isCached { try connection.run(SQL("add users", sql)) } else { try connection.execute(sql) }
      }
      #expect(connection.hooks.logged == .unknown)
      #expect(try connection.text("SELECT count(*) FROM changes") == "0")
    }
  }

  @Test func `a commit is recorded`() throws {
    let connection = try connection()
    try connection.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('Ada'); COMMIT")
    #expect(connection.hooks.hasBegunCommit)
  }

  @Test func `a commit that changes nothing may be recorded`() throws {
    let connection = try connection()
    try connection.execute("BEGIN IMMEDIATE; COMMIT")
    #expect(connection.hooks.hasBegunCommit)
    #expect(connection.hooks.logged == .nothing)
  }

  @Test func `a rollback is not recorded as a commit`() throws {
    let connection = try connection()
    try connection.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('Ada'); ROLLBACK")
    #expect(!connection.hooks.hasBegunCommit)
  }

  @Test func `a reset clears everything except the length of the -wal file`() throws {
    let folder = try Folder()
    let connection = try connection(path: folder.file("a.db"))
    try connection.execute("INSERT INTO users (name) VALUES ('Ada'); BEGIN IMMEDIATE; ROLLBACK")
    connection.hooks.reset()
    #expect(connection.hooks.logged == .nothing)
    #expect(!connection.hooks.hasBegunCommit)
    #expect(connection.hooks.walPages > 0)
  }

  @Test func `each connection has its own record`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    let writer = try connection(path: file)
    let other = try Connection(path: file, access: .queryOnly, busyTimeout: 0)
    try writer.execute("INSERT INTO users (name) VALUES ('Ada')")
    #expect(try other.text("SELECT count(*) FROM users") == "1")
    #expect(other.hooks.logged == .nothing)
    #expect(!other.hooks.hasBegunCommit)
  }

  @Test func `SQLite runs no automatic checkpoint`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    let connection = try connection(path: file)
    let (size, pages) = (try Files.size(of: file), connection.hooks.walPages)
    for _ in 0..<3 {
      try connection.execute("INSERT INTO users (name, hair_color) VALUES ('Ada', printf('%.*c', 4000000, 'a'))")
    }
    // SQLite would run a checkpoint after 1,000 pages.
    #expect(connection.hooks.walPages > pages + 3_000)
    #expect(try Files.size(of: file) == size)
  }

  @Test func `a checkpoint copies the pages and restarts the count`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    let connection = try connection(path: file)
    try connection.execute("INSERT INTO users (name, hair_color) VALUES ('Ada', printf('%.*c', 400000, 'a'))")
    let (size, pages) = (try Files.size(of: file), connection.hooks.walPages)
    try connection.checkpoint()
    #expect(try Files.size(of: file) > size + 400_000)
    try connection.execute("INSERT INTO users (name) VALUES ('Bob')")
    #expect(connection.hooks.walPages < pages)
  }
}

import CUserStoreSQLite
import Foundation
import Testing

@testable import UserStore

/// Opening, protecting and closing connections.
@Suite(.bounded, .serialized) struct ConnectionTests {
  private static func open(_ path: String?, _ access: Connection.Access = .readWrite) throws(StoreError) -> Connection {
    try Connection(path: path, access: access, busyTimeout: 0)
  }

  @Test(arguments: [
    ("recursive_triggers", "1"), ("trusted_schema", "0"), ("cell_size_check", "1"), ("temp_store", "2"),
    ("writable_schema", "0"),
  ])
  func `a connection has the library's settings`(pragma: String, value: String) throws {
    #expect(try Self.open(nil).text("PRAGMA \(pragma)") == value)
  }

  @Test func `the file is not mapped into memory`() throws {
    let folder = try Folder()
    #expect(try Self.open(folder.file("a.db")).text("PRAGMA mmap_size") == "0")
  }

  @Test(arguments: [
    ("SELECT load_extension('none')", "not authorized"),
    ("SELECT \"text\"", "no such column"),
    ("CREATE TABLE t (x CHECK (x <> \"text\"))", "no such column"),
    ("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema", "table sqlite_master may not be modified"),
    ("CREATE VIEW v AS SELECT * FROM pragma_table_list; SELECT * FROM v", "unsafe use of virtual table"),
    ("ATTACH ':memory:' AS other", "too many attached databases"),
  ])
  func `statements that a hostile file could contain are refused`(sql: String, message: String) throws {
    let connection = try Self.open(nil)
    let error = #expect(throws: StoreError.self) { try connection.execute(sql) }
    #expect(error?.sqlite?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test(arguments: [false, true]) func `a statement without an end is interrupted`(isAsked: Bool) throws {
    let connection = try Self.open(nil)
    let progress = connection.progress
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    var count = 0
    func run() throws(StoreError) {
      try connection.rows(endless, to: "count") { _ in
        count += 1
        if count == 5_000 { progress.isInterrupted = true }
      }
    }
    // While a closure is asked, too.
    let end = code {
      if isAsked { try connection.running(while: { () -> Bool in true }, run) } else { try run() }
    }
    #expect(end == .closed && count >= 5_000)
    let refusal = code { try connection.run(SQL("read", "SELECT 1")) }
    #expect(refusal == .closed)
    progress.isInterrupted = false
    #expect(try connection.text("SELECT 1") == "1")
  }

  @Test func `extensions cannot be loaded`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    try OpenedHandles.watch(file)
    let connection = try Self.open(file)
    let handle = try unsafe OpenedHandles.last(file)
    var message: UnsafeMutablePointer<CChar>?
    defer { unsafe sqlite3_free(message) }
    let code = unsafe sqlite3_load_extension(handle, "none", nil, &message)
    #expect(code == SQLITE_ERROR)
    #expect(unsafe message.map { unsafe String(cString: $0) } == "not authorized")
    _ = consume connection
  }

  @Test func `the tables and their triggers work with the library's settings`() throws {
    let connection = try Self.open(nil)
    try connection.execute(Migrations.all)
    try connection.execute(
      """
      INSERT INTO users (name) VALUES ('Ada'), ('Bob');
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'age', 36), (2, 'age', 40);
      UPDATE attributes SET value = value + 1;
      UPDATE users SET hair_color = '#112233';
      REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', 1);
      REPLACE INTO users (id, name) VALUES (1, 'Eve');
      DELETE FROM users;
      """)
    #expect(try connection.text("SELECT count(*) FROM changes") == "22")
  }

  @Test func `a path that contains a link is refused`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    try folder.link("link.db", to: file)
    try folder.link("link", to: folder.path)
    for path in [folder.path + "/link.db", folder.path + "/link/a.db"] {
      let error = #expect(throws: StoreError.self) { _ = try Self.open(path) }
      #expect(error?.sqlite?.code.primary == .cannotOpen)
    }
    _ = try Self.open(file)
  }

  @Test func `a missing file is not created`() throws {
    let folder = try Folder()
    let error = #expect(throws: StoreError.self) { _ = try Self.open(folder.path + "/a.db") }
    #expect(error?.sqlite?.code.primary == .cannotOpen)
    #expect(error?.sqlite?.systemNumber == ENOENT)
    #expect(try Files.kind(of: folder.path + "/a.db") == .missing)
  }

  @Test func `a query-only connection cannot write`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    try Self.open(file).execute("CREATE TABLE t (x)")
    let error = #expect(throws: StoreError.self) { try Self.open(file, .queryOnly).execute("DELETE FROM t") }
    #expect(error?.sqlite?.code.primary == .readOnly)
  }

  @Test func `a moved file is noticed`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    let connection = try Self.open(file)
    try connection.execute("CREATE TABLE t (x)")
    #expect(connection.hasMoved == false)
    Files.remove(file)
    #expect(connection.hasMoved == true)
    _ = try folder.file("a.db")
    #expect(connection.hasMoved == true)
  }

  @Test func `a transaction that SQLite rolled back is noticed`() throws {
    let connection = try Self.open(nil)
    try connection.execute("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1); BEGIN IMMEDIATE")
    #expect(connection.isInTransaction == true)
    #expect(throws: StoreError.self) { try connection.execute("INSERT OR ROLLBACK INTO t VALUES (1)") }
    #expect(connection.isInTransaction == false)
  }

  @Test func `closing leaves no descriptor open`() throws {
    let folder = try Folder()
    let file = try folder.file("a.db")
    let sql = SQL("SELECT count(*) FROM sqlite_schema")
    for _ in 0..<100 {
      let connection = try Self.open(file)
      try connection.execute("PRAGMA journal_mode = WAL")
      #expect(try connection.first(sql) { $0.integer(0) } == 0)
      #expect(try folder.openDescriptors() > 0)
    }
    #expect(try folder.openDescriptors() == 0)
  }

  // In processes of their own, where nothing else allocates memory meanwhile.

  @Test func `a failed open leaks nothing`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      try Self.expectNoLeak(in: folder, of: 1_000) {
        let error = #expect(throws: StoreError.self) { _ = try Self.open(folder.path + "/a.db") }
        #expect(error?.sqlite?.code.primary == .cannotOpen)
      }
    }
  }

  @Test func `opening a file that is not a database leaks nothing`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let file = try folder.file("a.db", holding: String(repeating: "no database ", count: 1_000))
      try Self.expectNoLeak(in: folder, of: 1_000) {
        let error = #expect(throws: StoreError.self) { try Self.open(file).execute("SELECT * FROM sqlite_schema") }
        #expect(error?.sqlite?.code.primary == .notADatabase)
      }
    }
  }

  @Test func `a file that temporarily cannot be opened for writing is not opened for reading instead`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let file = try folder.file("a.db")
      let vfs = try unsafe #require(sqlite3_vfs_find(nil))
      typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
      let refusing: Open = { path, flags, mode in
        guard flags & O_RDWR == 0 else {
          errno = EMFILE
          return -1
        }
        return unsafe openat(AT_FDCWD, path!, flags | O_CLOEXEC)
      }
      let call = unsafe unsafeBitCast(refusing, to: sqlite3_syscall_ptr.self)
      #expect(unsafe vfs.pointee.xSetSystemCall(vfs, "open", call) == SQLITE_OK)
      let error = #expect(throws: StoreError.self) { _ = try Self.open(file) }
      #expect(error?.sqlite?.code.primary == .cannotOpen)
      #expect(unsafe vfs.pointee.xSetSystemCall(vfs, "open", nil) == SQLITE_OK)
      try Self.open(file).execute("CREATE TABLE t (id)")
    }
  }

  @Test func `a file that temporarily cannot be read is not reported as damaged`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let store = try folder.open()
      try store.write { transaction in for _ in 0..<200 { try transaction.add(name: "a") } }
      store.close()
      let connection = try folder.plain()
      let vfs = try unsafe #require(sqlite3_vfs_find(nil))
      typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int
      let failing: Read = { _, _, _, _ in
        errno = EIO
        return -1
      }
      let call = unsafe unsafeBitCast(failing, to: sqlite3_syscall_ptr.self)
      // SQLite reads the header here, so that the statement below gets as far as reading a page.
      try connection.execute("SELECT count(*) FROM sqlite_schema; BEGIN")
      try connection.rows("SELECT name FROM sqlite_schema") { _ in }
      for name in ["pread", "pread64"] { _ = unsafe vfs.pointee.xSetSystemCall(vfs, name, call) }
      let error = #expect(throws: StoreError.self) { try connection.execute("SELECT count(name) FROM users") }
      #expect(error?.code == .ioError)
      #expect(error?.sqlite?.systemNumber == EIO)
      #expect(code { try StoreCheck.requireIntegrity(connection) } == .ioError)
      for name in ["pread", "pread64"] { _ = unsafe vfs.pointee.xSetSystemCall(vfs, name, nil) }
      #expect(try connection.text("SELECT count(name) FROM users") == "200")
    }
  }

  /// Runs `body` once and then `count` times: the later runs must not add memory, and no descriptor may stay open.
  private static func expectNoLeak(
    in folder: Folder, of count: Int, _ body: () throws -> Void
  ) throws {
    try body()
    let memory = sqlite3_memory_used()
    for _ in 0..<count { try body() }
    #expect(sqlite3_memory_used() == memory)
    let descriptors = try folder.openDescriptors()
    #expect(descriptors == 0)
  }
}

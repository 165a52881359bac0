import CUserStoreSQLite
import TestSupport
import Testing

@testable import UserStore

/// Typed operations in the transaction of another library, on its own connection.
@Suite(.bounded, .serialized, .sqlite, .timeLimit(.minutes(5))) struct BorrowedSessionTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID
  let other: PlainConnection

  init() throws {
    folder = try Folder()
    store = try folder.open()
    zoe = try store.write { try $0.add(name: "Zoë") }
    other = try PlainConnection(folder.database, busyTimeout: 5_000)
    try other.script("PRAGMA foreign_keys = ON; CREATE TABLE orders (user INTEGER REFERENCES users (id), item TEXT)")
  }

  // MARK: One transaction

  @Test func `users and rows of an own table are committed together, and listeners receive one set`() throws {
    let received = Recorder<ChangeSet>()
    store.listeners.bind("all", to: .everything) { received.record($0) }
    try other.script("BEGIN IMMEDIATE; INSERT INTO orders VALUES (1, 'book')")
    let age = try other.writing(to: store, origin: "shop") { users in
      try users.set(.age, of: zoe, to: 41)
      try users.post("ordered", about: zoe)
      return try users.value(.age, of: zoe)
    }
    #expect(try age == 41 && store.user(zoe)?[.age] == nil)
    try other.script("COMMIT")
    store.lookForCommits()
    received.wait(for: 1)
    let set = try #require(received.all.first)
    #expect(set.origin == "shop" && !set.isForeign)
    #expect(try set.entryLines == ["41", "ordered"])
    #expect(try store.user(zoe)?[.age] == 41 && other.value("SELECT item FROM orders") == "book")
  }

  @Test func `several calls make one set with what was written before, under the last origin`() throws {
    let before = try store.read { try $0.cursor }
    try other.script("BEGIN; UPDATE users SET name = 'a'")
    try other.writing(to: store, origin: "one") { users in
      #expect(try users.cursor == before && users.pendingChanges.map(\.new) == [.text("a")])
      try users.rename(zoe, to: "b")
    }
    try other.script("UPDATE users SET name = 'c'")
    try other.writing(to: store, origin: "two") { try $0.rename(zoe, to: "d") }
    // It changes nothing, so it ends nothing.
    try other.writing(to: store, origin: "three") { try $0.rename(zoe, to: "d") }
    try other.writing(to: store, origin: "four") { users in
      try users.post("done")
      #expect(try users.pendingChanges.count == 4)
    }
    try other.script("UPDATE users SET name = 'e'; COMMIT")
    let sets = try store.allChanges(after: before)
    #expect(try sets.map { try $0.entryLines } == [["a", "b", "c", "d", "done"], ["e"]])
    #expect(sets.map(\.origin) == ["four", nil] && sets.map(\.isForeign) == [false, true])
    #expect(!sets[0].isContinued)
    #expect(code { try store.write { try $0.undo(sets[0].revision) } } == .conflict)
    #expect(code { try store.write { try $0.undo(sets[1].revision) } } == .revisionNotFound)
    #expect(try store.check().filter { $0.severity == .problem } == [])
    try store.backup(to: folder.path + "/backup.db")
  }

  @Test func `a rollback delivers nothing`() throws {
    let received = Recorder<[String]>()
    store.listeners.bind("all", to: .everything) { received.record(try $0.entryLines) }
    try other.script("BEGIN IMMEDIATE")
    try other.writing(to: store) { try $0.rename(zoe, to: "gone") }
    try other.script("ROLLBACK")
    store.lookForCommits()
    try other.script("BEGIN IMMEDIATE")
    try other.writing(to: store) { try $0.rename(zoe, to: "kept") }
    try other.script("COMMIT")
    store.lookForCommits()
    received.wait(for: 1)
    #expect(received.all == [["kept"]])
  }

  @Test func `an error undoes what the closure has done, and nothing else`() throws {
    try other.script("BEGIN; INSERT INTO orders VALUES (1, 'book')")
    try other.writing(to: store) { try $0.rename(zoe, to: "first") }
    #expect(throws: Cancelled.self) {
      try other.writing(to: store) { users in
        try users.rename(zoe, to: "second")
        throw Cancelled()
      }
    }
    #expect(try other.reading(store) { try $0.user(zoe)?.name } == "first")
    try other.script("COMMIT")
    #expect(try store.user(zoe)?.name == "first" && other.value("SELECT count(*) FROM orders") == .integer(1))
    #expect(try store.allChanges().last?.entryLines == ["first"])
  }

  private struct Cancelled: Error {}

  @Test func `an error that ends the transaction is reported, also if the closure ignores it`() throws {
    try other.script("PRAGMA max_page_count = 1; BEGIN IMMEDIATE")
    let large = String(repeating: "x", count: 1_000_000)
    #expect(code { try other.writing(to: store) { try $0.set(Attribute("note"), of: zoe, to: large) } } == .diskFull)
    try? other.script("ROLLBACK")
    try other.script("BEGIN IMMEDIATE")
    let error = code {
      try other.writing(to: store) { _ in try other.script("ROLLBACK") }
    }
    #expect(error == .transactionEnded)
  }

  // MARK: Refusals

  @Test func `outside of a transaction, and on another database, it is a misuse`() throws {
    #expect(code { try other.writing(to: store) { _ in } } == .misuse)
    #expect(code { try other.reading(store) { _ in } } == .misuse)
    let file = try Folder()
    try file.open().close()
    for path in [file.database, ":memory:", ""] {
      let connection = try PlainConnection(path)
      try connection.script("BEGIN")
      #expect(code { try connection.writing(to: store) { _ in } } == .misuse)
      #expect(code { try connection.reading(store) { _ in } } == .misuse)
    }
    try other.script("BEGIN")
    let memory = try UserStore.inMemory()
    #expect(code { try other.writing(to: memory) { _ in } } == .misuse)
    // The same file by another name is the same file.
    try folder.link("link.db", to: folder.database)
    let linked = try PlainConnection(folder.path + "/link.db")
    try linked.script("BEGIN")
    #expect(try linked.reading(store) { try $0.count() } == 1)
  }

  @Test func `a file that has replaced the store's is refused`() throws {
    try folder.shell("VACUUM INTO '\(folder.path)/copy.db'")
    try Files.place(folder.path + "/copy.db", at: folder.path + "/moved.db")
    try other.script("BEGIN")
    _ = try Program.run("mv", [folder.path + "/moved.db", folder.database])
    #expect(code { try other.writing(to: store) { _ in } } == .moved)
  }

  @Test func `missing or disabled triggers are refused, also if the transaction has removed them`() throws {
    try other.script("BEGIN IMMEDIATE; DROP TRIGGER users_after_update")
    #expect(code { try other.writing(to: store) { _ in } } == .logIncomplete)
    // Another schema gets the number of the one that was refused, or accepted.
    try other.script("ROLLBACK; BEGIN IMMEDIATE; CREATE TABLE notes (text)")
    try other.writing(to: store) { try $0.rename(zoe, to: "a") }
    try other.script("ROLLBACK; DROP TRIGGER users_after_update; BEGIN IMMEDIATE")
    #expect(code { try other.writing(to: store) { _ in } } == .logIncomplete)
    try other.script("ROLLBACK")
    store.close()
    let again = try folder.open()
    try other.script("BEGIN IMMEDIATE")
    try other.writing(to: again) { try $0.rename(zoe, to: "b") }
    unsafe other.withHandle { handle in
      _ = unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    }
    #expect(code { try other.writing(to: again) { _ in } } == .misuse)
    #expect(try other.reading(again) { try $0.user(zoe)?.name } == "b")
  }

  @Test(arguments: [
    "CREATE TEMP TABLE Changes (seq)", "CREATE TEMP VIEW users AS SELECT 1 AS id",
    "CREATE TEMP TRIGGER t AFTER UPDATE ON main.users BEGIN SELECT 1; END",
    "CREATE TRIGGER t AFTER UPDATE ON users BEGIN SELECT 1; END",
  ])
  func `what stands on the store's tables, or hides them, is refused`(sql: String) throws {
    try other.script(
      "BEGIN; CREATE TEMP TABLE orders (id); CREATE TEMP TRIGGER o AFTER DELETE ON temp.orders BEGIN SELECT 1; END")
    #expect(try other.reading(store) { try $0.count() } == 1)
    try other.script(sql)
    #expect(code { try other.writing(to: store) { _ in } } == .schemaChanged)
    #expect(code { try other.reading(store) { _ in } } == .schemaChanged)
  }

  @Test func `a store that is closed, or only reads, or is in a transaction is refused`() throws {
    try other.script("BEGIN")
    try store.read { _ in #expect(code { try other.writing(to: store) { _ in } } == .nested) }
    try other.reading(store) { _ in #expect(code { try store.read { _ in } } == .nested) }
    let reader = try folder.open { $0.access = .readOnly }
    #expect(code { try other.writing(to: reader) { _ in } } == .readOnly)
    #expect(try other.reading(reader) { try $0.count() } == 1)
    store.close()
    #expect(code { try other.writing(to: store) { _ in } } == .closed)
    #expect(code { try other.reading(store) { _ in } } == .closed)
    try other.script("ROLLBACK")
  }

  @Test func `a transaction that has read an older state can only be begun again`() throws {
    try other.script("BEGIN; SELECT * FROM users")
    try store.write { try $0.rename(zoe, to: "newer") }
    unsafe other.withHandle { handle in _ = unsafe sqlite3_extended_result_codes(handle, 0) }
    do {
      try other.writing(to: store) { _ in Issue.record("it wrote") }
    } catch let error as StoreError {
      #expect(error.code == .busy && error.hint == "begin it with BEGIN IMMEDIATE")
    }
    #expect(try other.reading(store) { try $0.user(zoe)?.name } == "Zoë")
    try other.script("ROLLBACK; PRAGMA busy_timeout = 0; BEGIN")
    let writer = try PlainConnection(folder.database)
    try writer.script("BEGIN IMMEDIATE")
    #expect(code { try other.writing(to: store) { _ in } } == .busy)
  }

  // MARK: The connection

  @Test func `the connection keeps its settings, and no statement is left on it`() throws {
    let pragmas = [
      "foreign_keys", "recursive_triggers", "trusted_schema", "query_only", "synchronous", "busy_timeout", "temp_store",
      "secure_delete", "wal_autocheckpoint", "defer_foreign_keys", "cell_size_check", "journal_size_limit",
    ]
    func settings() throws -> [[[PlainValue]]] { try pragmas.map { try other.run("PRAGMA \($0)") } }
    try other.script("PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF; PRAGMA busy_timeout = 7")
    let before = try settings()
    try other.script("BEGIN IMMEDIATE")
    var kept: SQLiteSession?
    try unsafe other.withHandle { handle in
      try unsafe store.write(on: handle) { users in
        try users.set(.age, of: zoe, to: 41)
        _ = try users.users(matching: Query(where: Attribute<Int>.age == 41))
        kept = try users.session as? SQLiteSession
      }
      try unsafe store.read(on: handle) { _ = try $0.count() }
      #expect(unsafe sqlite3_next_stmt(handle, nil) == nil)
    }
    #expect(try settings() == before)
    try other.script("COMMIT")
    #expect(kept?.connection.isBorrowed == true)
  }

  @Test func `statements that the other library keeps stay with it`() throws {
    try other.script("BEGIN IMMEDIATE")
    let lent = Recorder<String>()
    try unsafe other.withHandle { handle in
      _ = try unsafe store.writeReporting(
        on: handle, origin: nil,
        statements: { sql in
          var statement: OpaquePointer?
          _ = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
          guard let statement = unsafe statement else { return nil }
          lent.record(sql)
          return unsafe (statement, lent)
        }, { try $0.rename(zoe, to: "a") })
      var left: [String] = []
      while let statement = unsafe sqlite3_next_stmt(handle, nil) {
        unsafe left.append(String(cString: sqlite3_sql(statement)))
        unsafe sqlite3_finalize(statement)
      }
      #expect(left.sorted() == lent.all.sorted() && left.contains { $0.hasPrefix("UPDATE users") }, "\(left)")
    }
    try other.script("COMMIT")
    #expect(try store.user(zoe)?.name == "a")
  }

  @Test func `what the connection may not do is an error`() throws {
    try other.script("BEGIN IMMEDIATE; PRAGMA query_only = ON")
    #expect(code { try other.writing(to: store) { try $0.rename(zoe, to: "x") } } == .readOnly)
    try other.script("PRAGMA query_only = OFF")
    unsafe other.withHandle { handle in
      _ = unsafe sqlite3_set_authorizer(
        handle, { _, action, _, _, _, _ in action == SQLITE_UPDATE ? SQLITE_DENY : SQLITE_OK }, nil)
    }
    #expect(code { try other.writing(to: store) { try $0.rename(zoe, to: "x") } } == .noPermission)
    unsafe other.withHandle { handle in _ = unsafe sqlite3_set_authorizer(handle, nil, nil) }
    try other.writing(to: store) { try $0.rename(zoe, to: "y") }
    try other.script("COMMIT")
    #expect(try store.user(zoe)?.name == "y")
  }
}

extension PlainConnection {
  /// Runs typed operations in the open transaction.
  @discardableResult
  func writing<Result>(
    to store: UserStore, origin: String? = nil, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    try unsafe withHandle { handle in try unsafe store.write(on: handle, origin: origin, body) }
  }

  /// Reads with typed operations in the open transaction.
  func reading<Result>(_ store: UserStore, _ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try unsafe withHandle { handle in try unsafe store.read(on: handle, body) }
  }
}

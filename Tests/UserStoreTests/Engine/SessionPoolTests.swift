import CUserStoreSQLite
import Testing

@testable import UserStore

/// A session that is returned to the pool is as good as new for the next borrower.
@Suite(.bounded, .serialized) struct SessionPoolTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.open().close()
  }

  @Test func `a session that is returned with an open transaction does not block writers`() throws {
    let pool = SessionPool(limit: 1, adopting: try folder.session())
    let session = SQLiteSession.own(try pool.take())
    try session.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('a')")
    pool.give(back: session)
    let other = try Connection(path: folder.database, access: .readWrite, busyTimeout: 0)
    try other.execute("INSERT INTO users (name) VALUES ('b')")
    #expect(try SQLiteSession.own(pool.take()).connection.text("SELECT group_concat(name) FROM users") == "b")
  }

  // In a process of its own, because the memory limit applies to all connections of a process.

  @Test func `a transaction is rolled back even without memory`() async {
    await #expect(processExitsWith: .success) {
      let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
      try connection.execute("CREATE TABLE t (value); BEGIN; INSERT INTO t VALUES (zeroblob(100000))")
      sqlite3_hard_heap_limit64(1)
      #expect(throws: StoreError.self) { try connection.execute("ROLLBACK; SELECT 1") }
      connection.rollBack()
      let isOver = !connection.isInTransaction
      #expect(isOver)
      sqlite3_hard_heap_limit64(0)
      #expect(try connection.text("SELECT count(*) FROM t") == "0")
    }
  }
}

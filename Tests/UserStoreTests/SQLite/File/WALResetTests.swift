import CUserStoreSQLite
import TestSupport
import Testing

@testable import UserStore

/// The WAL-reset bug of SQLite 3.7.0 to 3.51.2 (sqlite.org/wal.html#walresetbug), and how the library avoids it.
///
/// A passive checkpoint finds that all frames have been copied. Before it records that, a commit restarts the -wal file.
/// The checkpoint then marks the new frames as copied, and they are overwritten before they have been copied.
@Suite(.bounded, .serialized) struct WALResetTests {
  /// The state of a database after a commit inside a checkpoint.
  struct Outcome: Equatable {
    /// SQLite's result for the commit inside the checkpoint.
    var commit = SQLITE_OK
    var expectedRows = 0
    var rows: Int?
    var integrity = ""

    var isSound: Bool { integrity == "ok" && rows == expectedRows }
  }

  @Test func `without the write lock, a commit inside a checkpoint damages the database`() throws {
    let outcome = try outcome(holdingWriteLock: false)
    #expect(outcome.commit == SQLITE_OK)
    #expect(outcome.isSound == CheckpointRace.isRepaired, "\(outcome)")
  }

  @Test func `a commit cannot enter a checkpoint while the writer holds the write lock`() throws {
    let outcome = try outcome(holdingWriteLock: true)
    #expect(outcome == Outcome(commit: SQLITE_BUSY, expectedRows: 800, rows: 800, integrity: "ok"))
  }

  private func outcome(holdingWriteLock: Bool) throws -> Outcome {
    let folder = try Folder()
    let file = try folder.file("a.db")
    var outcome = Outcome()
    try race(on: file, holdingWriteLock: holdingWriteLock, &outcome)
    try inspect(file, &outcome)
    return outcome
  }

  /// Another program commits inside the second checkpoint, and again after it.
  private func race(on file: String, holdingWriteLock: Bool, _ outcome: inout Outcome) throws {
    let other = try PlainConnection(file)
    try other.script(
      """
      PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE t (id INTEGER PRIMARY KEY, content); CREATE INDEX by_content ON t (content);
      """)
    let writer = try Connection(path: file, access: .readWrite, busyTimeout: 0)
    try OpenedHandles.watch(file)
    let checkpointer = try Connection(path: file, access: .readWrite, busyTimeout: 0)
    let handle = try unsafe OpenedHandles.last(file)
    _ = try checkpointer.text("SELECT count(*) FROM t")
    for _ in 0..<20 { insert(10, into: other, &outcome) }
    try other.script("PRAGMA wal_checkpoint(PASSIVE)")

    if holdingWriteLock { try writer.execute("BEGIN IMMEDIATE") }
    var racing = Outcome()
    try unsafe CheckpointRace.run(
      on: handle, action: { racing.commit = insert(3, into: other, &racing) },
      within: { try checkpointer.checkpoint() })
    if holdingWriteLock { try writer.execute("COMMIT") }

    outcome.commit = racing.commit
    outcome.expectedRows += racing.expectedRows
    for _ in 0..<60 { insert(10, into: other, &outcome) }
    try? other.script("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Commits rows, and counts them if the commit succeeds.
  ///
  /// - Returns: SQLite's result code.
  @discardableResult
  private func insert(_ count: Int, into connection: PlainConnection, _ outcome: inout Outcome) -> Int32 {
    let sql = """
      WITH RECURSIVE row (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM row WHERE i < \(count))
      INSERT INTO t (content) SELECT randomblob(900) FROM row
      """
    do { try connection.script(sql) } catch { return error.code & 0xFF }
    outcome.expectedRows += count
    return SQLITE_OK
  }

  /// Checks the database as the next program would find it.
  private func inspect(_ file: String, _ outcome: inout Outcome) throws {
    let connection = try PlainConnection(file)
    if case .integer(let rows)? = try? connection.value("SELECT count(*) FROM t") { outcome.rows = Int(rows) }
    let integrity = try? connection.value("PRAGMA integrity_check")
    outcome.integrity = (integrity?.utf8).map { String(decoding: $0, as: UTF8.self) } ?? "cannot be checked"
  }
}

import CUserStoreSQLite
import TortureSupport

/// The WAL-reset bug of SQLite 3.7.0 to 3.51.2, which `Tables` must flag.
///
/// A commit during a passive checkpoint damages the file. The store checkpoints only while it holds the write lock, and then
/// `Tables` must find nothing.
enum DamagedFile {
  static func run(_ programs: Stage.Programs, _ report: inout Report) throws {
    let guarded = try violations(holdingWriteLock: true, programs)
    report.judge("a checkpoint that holds the write lock damages nothing", guarded)
    if CheckpointRace.isRepaired { return report.count(0, "damaged files (this SQLite has the fix)") }
    let damage = try violations(holdingWriteLock: false, programs)
    let reason = damage.first?.prefix(60).description ?? ""
    report.control("a checkpoint without the write lock", wasFlagged: !damage.isEmpty, reason)
  }

  private static func violations(holdingWriteLock: Bool, _ programs: Stage.Programs) throws -> [String] {
    let stage = try Stage("wal-reset", programs)
    try stage.tool("init")
    let log = try race(on: stage.database, holdingWriteLock: holdingWriteLock)
    return Tables.violations(in: try stage.look(), log)
  }

  /// Lets another program commit during the second checkpoint and after it, and returns the log as that program sees it.
  private static func race(on database: String, holdingWriteLock: Bool) throws -> LogCopy {
    let (other, checkpointer) = (try open(database), try open(database))
    let writer = try open(database)
    _ = try checkpointer.value("SELECT count(*) FROM users")
    for _ in 0..<20 { add(10, to: other) }
    try other.script("PRAGMA wal_checkpoint(PASSIVE)")
    if holdingWriteLock { try writer.script("BEGIN IMMEDIATE") }
    try unsafe checkpointer.withHandle { handle in
      try unsafe CheckpointRace.run(
        on: handle, action: { add(3, to: other) },
        within: { try checkpointer.script("PRAGMA wal_checkpoint(PASSIVE)") })
    }
    if holdingWriteLock { try writer.script("COMMIT") }
    for _ in 0..<60 { add(10, to: other) }
    var log = LogCopy()
    // The damage may already show here.
    try? log.append(other.run("SELECT \(LogCopy.columns) FROM changes ORDER BY seq"))
    try? other.script("PRAGMA wal_checkpoint(TRUNCATE)")
    return log
  }

  private static func open(_ database: String) throws -> PlainConnection {
    let connection = try PlainConnection(database)
    try connection.script("PRAGMA wal_autocheckpoint = 0")
    return connection
  }

  /// Fails while another connection holds the write lock.
  private static func add(_ count: Int, to connection: PlainConnection) {
    try? connection.script(
      """
      WITH RECURSIVE row (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM row WHERE i < \(count))
      INSERT INTO users (name) SELECT hex(randomblob(450)) FROM row
      """)
  }
}

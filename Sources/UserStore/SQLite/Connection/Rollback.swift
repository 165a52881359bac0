import CUserStoreSQLite

/// Takes back a connection's transaction: prepared when that is opened, because it must not fail for want of memory.
///
/// Not `Sendable`: it belongs to its connection.
@safe final class Rollback {
  private var statement: OpaquePointer?

  init(on connection: OpaquePointer) throws(SQLiteError) {
    let code = unsafe sqlite3_prepare_v3(connection, "ROLLBACK", -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
  }

  /// What it comes to is seen from the connection.
  func run() {
    unsafe sqlite3_step(statement)
    unsafe sqlite3_reset(statement)
  }

  /// Finalizes now: the connection closes right after.
  func finish() {
    unsafe sqlite3_finalize(statement)
    unsafe statement = nil
  }
}

import CUserStoreSQLite

extension Connection {
  /// The number of pages that are copied between two calls of `shouldContinue`: 2 MiB with the usual page size.
  private static var pagesPerStep: Int32 { 1_024 }

  /// Copies the database to another, empty one, page by page, with its page size.
  ///
  /// The caller has a transaction open and has read in it: then all steps copy one state, and no commit makes the copy start
  /// again (sqlite.org/backup.html describes this for a source that changes). If `shouldContinue` returns false, the copy ends
  /// and throws.
  func copyPages(
    to target: borrowing Connection, for purpose: String, shouldContinue: (_ remaining: Int, _ total: Int) -> Bool
  ) throws(StoreError) {
    guard let backup = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw unsafe StoreError(SQLiteError(sqlite3_errcode(target.handle), on: target.handle), purpose)
    }
    var code = SQLITE_OK
    while code == SQLITE_OK {
      code = unsafe sqlite3_backup_step(backup, Self.pagesPerStep)
      let (remaining, total) = unsafe (sqlite3_backup_remaining(backup), sqlite3_backup_pagecount(backup))
      if code == SQLITE_OK, !shouldContinue(Int(remaining), Int(total)) { code = SQLITE_INTERRUPT }
    }
    unsafe sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else { throw unsafe StoreError(SQLiteError(code, on: target.handle), purpose) }
  }

  /// Runs an INSERT for each row of another database's SELECT, with the values exactly as they are stored.
  func insertRows(
    _ insert: String, of select: String, columns: Int32, from source: borrowing Connection, afterEach: () -> Void
  ) throws(StoreError) {
    let reading = unsafe try Statement(SQL(once: "restore", select), on: source.handle)
    let writing = unsafe try Statement(SQL(once: "restore", insert), on: handle)
    while try reading.step() {
      try writing.bind(reading, columns: columns)
      while try writing.step() {}
      try writing.reset()
      afterEach()
    }
  }

  func setTriggers(_ isOn: Bool) throws(StoreError) {
    let code = unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn ? 1 : 0)
    guard code == SQLITE_OK else { throw unsafe StoreError(SQLiteError(code, on: handle), "restore") }
  }
}

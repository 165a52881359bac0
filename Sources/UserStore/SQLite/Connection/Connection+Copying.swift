import CUserStoreSQLite

/// Copying whole databases and tables, and asking the library for its version.
extension Connection {
  /// Pages that are copied between two looks at `goesOn`: 2 MiB of the usual size.
  private static var pagesAtOnce: Int32 { 1_024 }

  /// Makes another, empty database a copy of this one, page by page.
  ///
  /// The caller has a transaction open and has read in it: all steps then copy that one state, and no commit makes them
  /// begin again (sqlite.org/backup.html says of a source that changes that they do).
  ///
  /// - Parameters:
  ///   - target: Takes the page size of this one.
  ///   - purpose: What it is for, for messages.
  ///   - goesOn: Gets the pages that are left, and how many there are; ends the copying with false.
  /// - Throws: `StoreError`, also when it was ended.
  func copyPages(
    to target: borrowing Connection, for purpose: String, goesOn: (_ remaining: Int, _ total: Int) -> Bool
  ) throws(StoreError) {
    guard let backup = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw unsafe StoreError(SQLiteError(sqlite3_errcode(target.handle), on: target.handle), purpose)
    }
    var code = SQLITE_OK
    while code == SQLITE_OK {
      code = unsafe sqlite3_backup_step(backup, Self.pagesAtOnce)
      let (remaining, total) = unsafe (sqlite3_backup_remaining(backup), sqlite3_backup_pagecount(backup))
      if code == SQLITE_OK, !goesOn(Int(remaining), Int(total)) { code = SQLITE_INTERRUPT }
    }
    unsafe sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else { throw unsafe StoreError(SQLiteError(code, on: target.handle), purpose) }
  }

  /// Runs an INSERT for each row of another database's SELECT, value by value as they are stored.
  func insertRows(
    _ insert: String, of select: String, columns: Int32, from source: borrowing Connection, afterEach: () -> Void
  ) throws(StoreError) {
    let reading = unsafe try Statement(Query(once: "restore", select), on: source.handle, isKept: false)
    let writing = unsafe try Statement(Query(once: "restore", insert), on: handle, isKept: false)
    while try reading.step() {
      try writing.bind(reading, columns: columns)
      while try writing.step() {}
      try writing.reset()
      afterEach()
    }
  }

  /// Turns the triggers of this connection's statements off, or on again.
  func setTriggers(_ isOn: Bool) throws(StoreError) {
    let code = unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn ? 1 : 0)
    guard code == SQLITE_OK else { throw unsafe StoreError(SQLiteError(code, on: handle), "restore") }
  }

  /// The version of the SQLite library: 3040001 is 3.40.1.
  static var libraryVersion: Int { Int(sqlite3_libversion_number()) }
}

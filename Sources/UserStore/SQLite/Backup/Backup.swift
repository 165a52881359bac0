/// A backup while it is written: a draft next to its destination, which gets the name when it is complete and checked.
///
/// If the process is killed, the old file or the complete new one has the name, and a draft may be left: `NAME.….partial`.
///
/// It is copied with SQLite's backup API and not with VACUUM INTO: the API copies pages as they are, runs none of the file's SQL,
/// and is three times as fast, which shortens the time for which the snapshot prevents checkpoints from resetting the -wal file.
struct Backup: EngineBackup {
  /// An absolute path without links.
  private let target: String
  private let draft: String
  private let replaces: Bool

  /// Creates an empty draft that only its owner may read.
  init(to path: String, replacing: Bool) throws(StoreError) {
    let place = try WritablePath(path)
    target = try place.file
    if place.content == .file, !replacing { throw StoreError(.alreadyExists, "\(target) already exists") }
    replaces = replacing
    draft = Files.draft(of: target, addition: DatabasePath.longestAddition, longest: DatabasePath.longest)
    for path in [target, draft] { try DatabasePath.checkLength(of: path, .cannotCreate) }
    do { try Files.createNew(draft) } catch { throw StoreError(error, otherwise: .cannotCreate) }
  }

  /// Copies the snapshot that the session's transaction has read from.
  ///
  /// The copy is not in WAL mode: it is one file, which can be read in a folder without write permission. A store that is
  /// opened on it for writing switches it back.
  func copy(_ session: any Session, progress: (Double) throws -> Void) throws {
    let purpose = "write the backup \(target)"
    var interruption: (any Error)?
    do {
      let copy = try Connection(path: draft, access: .readWrite, busyTimeout: 0)
      // `publish` syncs the complete file.
      try copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", to: purpose)
      try SQLiteSession.own(session).connection.copyPages(to: copy, for: purpose) { remaining, total in
        do { try progress(Double(total - remaining) / Double(max(1, total))) } catch { interruption = error }
        return interruption == nil
      }
      try copy.execute("PRAGMA journal_mode = DELETE", to: purpose)
    } catch {
      throw interruption ?? error
    }
  }

  /// Checks that the copy is an undamaged store whose log ends at `end`.
  ///
  /// Checking the store instead would prevent checkpoints from resetting its -wal file for that time.
  func verify(
    endingAt end: Cursor, ignoringProblems: Bool, while shouldContinue: () -> Bool
  ) throws(StoreError) {
    // Counted as an open store is, so that it can be interrupted.
    let file = (try? Files.identity(of: draft)).map {
      FileConnections(path: draft, identity: $0, temporaryFolder: nil)
    }
    let copy = try Connection(path: draft, access: .queryOnly, busyTimeout: 0, of: file)
    // Sorting a log of millions of rows must not take as much memory.
    try copy.execute("PRAGMA temp_store = FILE", to: "read the backup")
    try Schema.check(copy)
    try copy.running(while: shouldContinue) { () throws(StoreError) in
      try StoreCheck.requireIntegrity(copy)
      if !ignoringProblems { try StoreCheck.requireNoProblems(copy) }
    }
    guard try SQLiteSession(copy).logEnd() == end else {
      throw StoreError(.corrupt, "the backup differs from what was copied: the disk or another program changed it")
    }
  }

  /// Syncs the draft, which SQLite must have closed, and gives it its name.
  func publish() throws(StoreError) {
    do throws(SystemError) {
      try Files.sync(draft)
      try Files.publish(draft, as: target, replacing: replaces)
    } catch {
      throw StoreError(error, otherwise: .ioError)
    }
  }

  /// Removes the draft, and the files that SQLite may have created next to it.
  func discard() {
    for addition in [""] + DatabasePath.additions { Files.remove(draft + addition) }
  }
}

/// What is around the database: the file's rights and names, and the library.
extension StoreCheck {
  /// SQLite 3.7.0 to 3.51.2 can damage a WAL database when a checkpoint meets a commit.
  private static let librariesWithWALReset = 3_007_000...3_051_002

  mutating func checkLibrary(version: Int = Connection.libraryVersion) {
    guard Self.librariesWithWALReset.contains(version) else { return }
    let name = [version / 1_000_000, version / 1_000 % 1_000, version % 1_000].map { String($0) }.joined(separator: ".")
    note(
      .warning, .library,
      "SQLite \(name) can damage the file when a checkpoint meets a commit (fixed in 3.51.3); this library keeps its own out of the way, other programs that write to the file do not"
    )
  }

  mutating func checkNames(of file: DatabaseFile) {
    guard let count = try? Files.linkCount(of: file.path), count > 1 else { return }
    note(
      .warning, .links,
      "\(file.path) has \(count) names (hard links): it can be read, and is opened for writing only when it has one")
  }

  /// A read that is held open.
  ///
  /// Nobody can be asked who holds it, and the length of the -wal file says nothing: it stays long after one large
  /// transaction. But what is in the file and not yet in the database is little more than the limit of a checkpoint, unless
  /// something keeps checkpoints from copying it.
  ///
  /// - Parameter connection: One that has just begun to read: a check that takes long holds a read open itself.
  mutating func checkReaders(on connection: borrowing Connection) {
    guard let pages = connection.uncopiedPages, pages > Checkpoints.waitingLimit else { return }
    note(
      .warning, .reader,
      "\(pages) pages of the -wal file are not in the database yet, and the file grows: a program holds a read open, or writes without checkpoints; they are copied by a write after that has ended"
    )
  }

  mutating func checkRights(of file: DatabaseFile) {
    for path in [file.path, file.walPath, file.path + "-shm"] {
      guard let mode = try? Files.mode(of: path), mode & 0o077 != 0 else { continue }
      note(
        .warning, .permissions,
        "others may read or write \(path) (mode \(String(mode & 0o777, radix: 8))); 600 is only yours")
    }
    let folder = Files.split(file.path).folder
    // With the sticky bit, as /tmp has it, others may not take away what is not theirs.
    guard let mode = try? Files.mode(of: folder), mode & 0o022 != 0, mode & 0o1000 == 0 else { return }
    note(
      .warning, .permissions,
      "others may put another file in the place of the store: \(folder) has mode \(String(mode & 0o777, radix: 8))")
  }
}

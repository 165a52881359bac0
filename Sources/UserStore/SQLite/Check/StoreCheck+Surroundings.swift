/// Checks around the database: the SQLite library, and the names, permissions and readers of the files.
extension StoreCheck {
  /// SQLite 3.7.0 to 3.51.2 can damage a WAL database if a checkpoint and a commit coincide.
  private static let librariesWithWALReset = 3_007_000...3_051_002

  mutating func checkLibrary(version: Int = Connection.libraryVersion) {
    guard Self.librariesWithWALReset.contains(version) else { return }
    let name = [version / 1_000_000, version / 1_000 % 1_000, version % 1_000].map { String($0) }.joined(separator: ".")
    note(
      .warning, .library,
      "SQLite \(name) can damage the file if a checkpoint and a commit coincide (fixed in 3.51.3); this library avoids it, other programs that write to the file may not"
    )
  }

  mutating func checkNames(of file: DatabaseFile) {
    guard let count = try? Files.linkCount(of: file.path), count > 1 else { return }
    note(
      .warning, .links,
      "\(file.path) has \(count) names (hard links): it can be read, but is opened for writing only with a single name")
  }

  /// Warns of a read transaction that is held open, on a connection that has just started to read: a long check holds one open.
  ///
  /// SQLite does not report such readers, and the size of the -wal file is no evidence: one large transaction leaves it long.
  /// But the pages in it that are not yet in the database are few more than the limit of a checkpoint, unless it is blocked.
  mutating func checkReaders(on connection: borrowing Connection) {
    guard let pages = connection.uncopiedPages, pages > Checkpoints.waitingLimit else { return }
    note(
      .warning, .reader,
      "\(pages) pages of the -wal file are not in the database yet, and the file grows: a program holds a read transaction open, or writes without checkpoints; the next write after it ends copies them"
    )
  }

  mutating func checkPermissions(of file: DatabaseFile) {
    for path in [file.path, file.walPath, file.path + "-shm"] {
      guard let mode = try? Files.mode(of: path), mode & 0o077 != 0 else { continue }
      note(
        .warning, .permissions,
        "other users may read or write \(path) (mode \(String(mode & 0o777, radix: 8))); 600 restricts it to you")
    }
    let folder = Files.split(file.path).folder
    // With the sticky bit, as on /tmp, others may not remove the owner's files.
    guard let mode = try? Files.mode(of: folder), mode & 0o022 != 0, mode & 0o1000 == 0 else { return }
    note(
      .warning, .permissions,
      "other users may replace the store with another file: \(folder) has mode \(String(mode & 0o777, radix: 8))")
  }
}

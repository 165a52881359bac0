/// What every path must be, and which names belong to a database: SQLite adds to its path to name files of its own.
package enum DatabasePath {
  /// What SQLite adds (sqlite.org/tempfiles.html) for files of its own, which it takes over if they exist, and deletes.
  static let additions = ["-wal", "-shm", "-journal"]

  static let longestAddition = 8

  /// The longest path of a database, to which SQLite can add (MAX_PATHNAME in its os_unix.c).
  static let longest = 512 - longestAddition

  /// Checks what can be known without looking at files.
  static func check(_ path: String, _ code: StoreError.Code) throws(StoreError) {
    let name = Files.split(path).name
    if name.isEmpty || [".", ".."].contains(name) || path.utf8.contains(0) {
      throw StoreError(code, "“\(path.filter { $0 != "\0" })” is not a file name")
    }
    if path.utf8.first != UInt8(ascii: "/"), !Files.hasCurrentFolder {
      throw StoreError(code, "“\(path)” is in no folder: the current one was removed, or cannot be read")
    }
  }

  /// Checks that SQLite can open a database at an absolute path; it would report “unable to open” after creating the file.
  package static func checkLength(of path: String, _ code: StoreError.Code) throws(StoreError) {
    let (folder, name) = Files.split(path)
    let longestName = Files.longestName(in: folder) - longestAddition
    if path.utf8.count <= longest, name.utf8.count <= longestName { return }
    throw StoreError(
      code,
      "the path is too long: that of a database has at most \(longest) bytes, and its name \(longestName), but this one has \(path.utf8.count) and \(name.utf8.count): \(path)"
    )
  }

  /// Checks that no database could take the file for its own, even one that does not exist yet.
  static func checkIsFree(_ path: String) throws(StoreError) {
    let name = Files.split(path).name
    guard let addition = additions.first(where: { name.lowercased().utf8.suffix($0.utf8.count).elementsEqual($0.utf8) })
    else { return }
    throw StoreError(
      .cannotCreate,
      "\(path): a name that ends with \(addition) is SQLite's, which overwrites and deletes such files beside a database"
    )
  }

  /// Checks everything about a path that decides whether a database can be created there; its folder may be missing.
  package static func checkCreation(of given: String) throws(StoreError) {
    try check(given, .cannotOpen)
    let path: String
    do { path = try Files.canonical(given) } catch { throw StoreError(error, otherwise: .cannotCreate) }
    try checkLength(of: path, .cannotOpen)
    try checkIsFree(path)
    if (try? Files.kind(of: Files.split(path).folder)) != .missing {
      _ = try WritablePath(given, createsDatabase: true).file
    }
  }

  /// Whether a file is one that SQLite keeps beside a database, by whatever name it was found.
  static func isAddition(_ file: Files.Identity, to database: String) -> Bool {
    additions.contains { (try? Files.identity(of: database + $0)) == file }
  }
}

import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The few file calls that the store makes beside SQLite's.
///
/// None of them opens a file that SQLite has open: closing it would drop SQLite's POSIX locks
/// (sqlite.org/howtocorrupt.html, 2.2), and a commit that another process had acknowledged was lost that way in a test.
enum Files {
  enum Kind {
    case missing, regular, directory, other
  }

  /// What lies at `path`, links followed.
  static func kind(of path: String) throws(SystemError) -> Kind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return .missing }
      throw SystemError(operation: "look at \(path)")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .regular
    case S_IFDIR: return .directory
    default: return .other
    }
  }

  /// What tells the file at `path` from every other one there is now.
  static func identity(of path: String) throws(SystemError) -> Identity {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(operation: "look at \(path)") }
    return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
  }

  /// How many names the file at `path` has.
  static func linkCount(of path: String) throws(SystemError) -> Int {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(operation: "look at \(path)") }
    return Int(status.st_nlink)
  }

  struct Identity: Hashable {
    let device: UInt64
    let number: UInt64
  }

  /// Whether this process may read the file at `path`.
  static func mayRead(_ path: String) -> Bool { unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 }

  /// Whether this process may write the file or folder at `path`.
  static func mayWrite(_ path: String) -> Bool { unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

  /// The length in bytes of the file at `path`.
  static func size(of path: String) throws(SystemError) -> Int {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(operation: "look at \(path)") }
    return Int(status.st_size)
  }

  /// `path` made absolute, with every link on the way resolved; its last part need not exist.
  static func canonical(_ path: String) throws(SystemError) -> String {
    if let whole = resolved(path) { return whole }
    guard errno == ENOENT else { throw SystemError(operation: "find \(path)") }
    let (folder, name) = split(path)
    guard let folder = resolved(folder) else { throw SystemError(operation: "find the folder \(folder)") }
    return folder == "/" ? "/" + name : folder + "/" + name
  }

  /// The folder and the last part of a path.
  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
  }

  /// Creates an empty file that only its owner may read.
  ///
  /// One that is already there is left alone, unopened.
  ///
  /// - Returns: whether it was not there.
  @discardableResult
  static func createPrivate(_ path: String) throws(SystemError) -> Bool {
    do { try createNew(path) } catch {
      if error.number == EEXIST { return false }
      throw error
    }
    return true
  }

  /// Creates an empty file that only its owner may read, and that was not there.
  static func createNew(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw SystemError(operation: "create \(path)") }
    close(descriptor)
  }

  /// Waits until the file or folder at `path` is on disk.
  ///
  /// Not for a database or -shm file that SQLite has open in this process; on the -wal file it holds no locks.
  static func sync(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { throw SystemError(operation: "open \(path)") }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw SystemError(operation: "sync \(path)") }
  }

  /// Gives a file the name of another one, which is gone then: in one step, whatever happens.
  static func replace(_ target: String, with path: String) throws(SystemError) {
    if unsafe rename(path, target) != 0 { throw SystemError(operation: "write \(target)") }
  }

  /// Gives a file a name that nothing has yet, in one step, so that a crash never leaves it with two names.
  ///
  /// An ordinary rename would take the place of whatever somebody put there a moment ago.
  static func place(_ path: String, at target: String) throws(SystemError) {
    if unsafe userstore_rename_new(path, target) == 0 { return }
    if errno == EEXIST { throw SystemError(operation: "create \(target)") }
    // This rename is not known everywhere; what else is wrong, the other way meets too.
    try placeByLink(path, at: target)
  }

  /// The same where the system or the file system has no such rename.
  ///
  /// A link never takes the place of anything, but a crash between the two steps leaves two names. Where the file system
  /// has no links either, a name that comes to lie there between a look and the rename is lost.
  static func placeByLink(_ path: String, at target: String) throws(SystemError) {
    if unsafe link(path, target) == 0 {
      unsafe unlink(path)
    } else if errno == EEXIST {
      throw SystemError(operation: "create \(target)")
    } else {
      if try kind(of: target) != .missing { throw SystemError(operation: "create \(target)", number: EEXIST) }
      try replace(target, with: path)
    }
  }

  /// Who may do what with the file at `path`: the lower nine bits are the owner's, the group's and everybody's rights.
  static func mode(of path: String) throws(SystemError) -> UInt32 {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(operation: "look at \(path)") }
    return UInt32(status.st_mode) & 0o7777
  }

  /// Creates a folder that only its owner may enter, with those above it that are missing.
  ///
  /// When this returns their names are on disk: a power cut would take them away with every file in them, however well
  /// those are synced.
  static func createPrivateFolder(_ path: String) throws(SystemError) {
    let path = withoutTrailingSlashes(path)
    if unsafe mkdir(path, 0o700) != 0 {
      if errno == EEXIST { return }
      guard errno == ENOENT, path != "/" else { throw SystemError(operation: "create the folder \(path)") }
      try createPrivateFolder(split(path).folder)
      if unsafe mkdir(path, 0o700) != 0 {
        if errno == EEXIST { return }
        throw SystemError(operation: "create the folder \(path)")
      }
    }
    try syncNames(in: split(path).folder)
  }

  /// Waits until the names in a folder are on disk; in one that may not be read nobody can.
  private static func syncNames(in folder: String) throws(SystemError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw SystemError(operation: "sync \(folder)") }
  }

  private static func withoutTrailingSlashes(_ path: String) -> String {
    var path = path[...]
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
    return String(path)
  }

  /// A new private folder among the system's temporary ones.
  static func createTemporaryFolder() throws(SystemError) -> String {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/userstore-XXXXXX").utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe mkdtemp(buffer.baseAddress!).map { unsafe String(cString: $0) }
    }
    guard let made else { throw SystemError(operation: "create a temporary folder in \(base)") }
    return made
  }

  /// Removes a file or an empty folder; one that is not there is no error.
  static func remove(_ path: String) {
    _ = unsafe unlink(path) == 0 || rmdir(path) == 0
  }

  /// Opens a file for reading and closes it, which raises an event for everybody who watches it (`DirectoryEvents`).
  ///
  /// Only for the -wal file, on which SQLite holds no locks. A touch (`utimensat`) would cost less without a sync. But it
  /// changes an inode, and where a block of inodes holds that of the -wal file too, the next fdatasync of the -wal file
  /// writes the block: 106 became 159 µs on ext4 without a journal, for a touch of the -shm file as well.
  ///
  /// A failure is ignored: the slow look of every watcher is the guarantee, the signal only makes it fast. Without
  /// blocking, because somebody may have put a pipe there.
  static func signal(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor >= 0 { close(descriptor) }
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

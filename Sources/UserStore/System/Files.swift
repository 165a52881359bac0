import CUserStoreSystem

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The library's own file operations, in addition to SQLite's.
///
/// None of them opens a file that SQLite has open: closing it would drop SQLite's POSIX locks (sqlite.org/howtocorrupt.html,
/// 2.2). In a test, a commit that another process had acknowledged was lost that way.
package enum Files {
  enum Kind: String, CustomStringConvertible {
    case missing
    case regular = "a regular file"
    case folder = "a folder"
    case pipe = "a pipe"
    case socket = "a socket"
    case device = "a device"
    case disk = "a disk"

    var description: String { rawValue }
  }

  /// Identifies a file among all that exist now.
  struct Identity: Hashable {
    let device: UInt64
    let number: UInt64

    fileprivate init(_ status: stat) {
      (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    }
  }

  /// Follows links; one that leads nowhere is missing.
  static func kind(of path: String) throws(SystemError) -> Kind {
    let mode: mode_t
    do throws(SystemError) { mode = try status(of: path).st_mode } catch {
      if error.isMissing { return .missing }
      throw error
    }
    switch mode & S_IFMT {
    case S_IFDIR: return .folder
    case S_IFIFO: return .pipe
    case S_IFSOCK: return .socket
    case S_IFCHR: return .device
    case S_IFBLK: return .disk
    default: return .regular
    }
  }

  static func identity(of path: String) throws(SystemError) -> Identity {
    Identity(try status(of: path))
  }

  /// The descriptor with which this process writes to the file at a path, such as /dev/stdout or /dev/fd/3; nil if the file is
  /// neither standard output nor standard error, and the path does not name a descriptor.
  static func descriptor(of path: String) -> Int32? {
    let (folder, name) = split(path)
    let folders = ["/dev/fd", "/proc/\(getpid())/fd"]
    if let number = Int32(name), let folder = try? canonical(folder), folders.contains(folder) { return number }
    guard let file = try? identity(of: path) else { return nil }
    return [STDOUT_FILENO, STDERR_FILENO].first { descriptor in
      var status = stat()
      return unsafe fstat(descriptor, &status) == 0 && Identity(status) == file
    }
  }

  /// The number of names (hard links) of a file.
  package static func linkCount(of path: String) throws(SystemError) -> Int { Int(try status(of: path).st_nlink) }

  static func size(of path: String) throws(SystemError) -> Int { Int(try status(of: path).st_size) }

  /// The permissions: the lower nine bits are those of the owner, the group and others.
  static func mode(of path: String) throws(SystemError) -> UInt32 { UInt32(try status(of: path).st_mode) & 0o7777 }

  /// Follows links.
  private static func status(of path: String) throws(SystemError) -> stat {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemError(operation: "access \(path)") }
    return status
  }

  static func mayRead(_ path: String) -> Bool { unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 }

  static func mayWrite(_ path: String) -> Bool { unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

  /// Creates an empty file that only its owner may read, unless it exists, and returns whether it was created.
  @discardableResult
  static func createPrivate(_ path: String) throws(SystemError) -> Bool {
    do { try createNew(path) } catch {
      if error.alreadyExists { return false }
      throw error
    }
    return true
  }

  /// Creates an empty file that only its owner may read; fails if it exists.
  static func createNew(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw SystemError(operation: "create \(path)") }
    close(descriptor)
  }

  /// Creates a folder that only its owner may enter, and its missing parents.
  ///
  /// Syncs their names: otherwise a power cut could remove them with every file in them, even if those were synced.
  static func createPrivateFolder(_ path: String) throws(SystemError) {
    let path = withoutSlashes(path)
    let parent = split(path).folder
    var isCreated = unsafe mkdir(path, 0o700) == 0
    if !isCreated, errno == ENOENT, path != "/" {
      try createPrivateFolder(parent)
      isCreated = unsafe mkdir(path, 0o700) == 0
    }
    if !isCreated, errno == EEXIST { return }
    if !isCreated { throw SystemError(operation: "create the folder \(path)") }
    try syncNames(in: parent)
  }

  /// Creates a private folder in the system's folder for temporary files.
  static func createTemporaryFolder() throws(SystemError) -> String {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/userstore-XXXXXX").utf8CString)
    let path = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe mkdtemp(buffer.baseAddress!).map { unsafe String(cString: $0) }
    }
    guard let path else { throw SystemError(operation: "create a temporary folder in \(base)") }
    return path
  }

  /// Removes a file or an empty folder, if it exists.
  package static func remove(_ path: String) {
    _ = unsafe unlink(path) == 0 || rmdir(path) == 0
  }

  /// Waits until the file or folder is on disk.
  ///
  /// Not for a database or -shm file that SQLite has open in this process; on the -wal file it holds no locks.
  static func sync(_ path: String) throws(SystemError) { try sync(path, O_NOFOLLOW) }

  private static func sync(_ path: String, _ flags: Int32) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
    if descriptor < 0 { throw SystemError(operation: "open \(path)") }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw SystemError(operation: "sync \(path)") }
  }

  /// Waits until the names in a folder are on disk; does nothing if the folder may not be read, and so cannot be synced.
  private static func syncNames(in folder: String) throws(SystemError) {
    do { try sync(folder, O_DIRECTORY) } catch {
      if !SystemError.meansNoPermission(error.number) { throw error }
    }
  }

  /// Renames a complete and synced draft to `target` in one step: at any time the name has the old file or the new one.
  ///
  /// Without `replacing`, fails with `EEXIST` if the name exists. Without `syncsName`, a power cut may bring the old file back.
  package static func publish(
    _ draft: String, as target: String, replacing: Bool, syncsName: Bool = true
  ) throws(SystemError) {
    if replacing { try replace(target, with: draft) } else { try place(draft, at: target) }
    if syncsName { try syncNames(in: split(target).folder) }
  }

  private static func replace(_ target: String, with path: String) throws(SystemError) {
    if unsafe rename(path, target) != 0 { throw SystemError(operation: "write \(target)") }
  }

  /// Renames a file to a name that does not exist, in one step, so that a crash never leaves it with two names.
  static func place(_ path: String, at target: String) throws(SystemError) {
    if unsafe userstore_rename_new(path, target) == 0 { return }
    if errno == EEXIST { throw SystemError(operation: "create \(target)") }
    // The rename may not be supported here; any other error occurs again.
    try placeByLink(path, at: target)
  }

  /// Places a file where the system or the file system does not support that rename.
  ///
  /// A link replaces nothing, but a crash between the two steps leaves two names. On a file system without links, a file that
  /// gets the name between the check and the rename is lost.
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

  /// Opens a file for reading and closes it, which is an event for everyone who watches it (`DirectoryEvents`).
  ///
  /// Only for the -wal file, on which SQLite holds no locks. A touch (`utimensat`) would cost less without a sync. But it
  /// changes an inode, and if the block of inodes also has that of the -wal file, the next fdatasync of the -wal file writes
  /// the block: 159 instead of 106 µs on ext4 without a journal, for a touch of the -shm file as well.
  ///
  /// A failure is ignored: the watchers' regular check is the guarantee, the signal only makes it fast. Opens without blocking,
  /// because someone may have created a pipe with the name.
  static func signal(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor >= 0 { close(descriptor) }
  }
}

extension Files {
  /// Whether relative paths mean something: the current folder may have been removed.
  static var hasCurrentFolder: Bool { resolved(".") != nil }

  /// Returns an absolute path without links, even of a missing file in a folder that may be missing too.
  ///
  /// A link that leads nowhere is followed to where the file would be.
  static func canonical(_ path: String) throws(SystemError) -> String {
    if let whole = resolved(path) { return whole }
    guard errno == ENOENT, path != "." else { throw SystemError(operation: "access \(path)") }
    let (folder, name) = split(path)
    if let target = linkTarget(path) { return try canonical(target.hasPrefix("/") ? target : folder + "/" + target) }
    let parent = try canonical(withoutSlashes(folder))
    return parent == "/" ? "/" + name : parent + "/" + name
  }

  /// Where a link leads, as it is written in the link; nil for anything else.
  private static func linkTarget(_ path: String) -> String? {
    var bytes: [CChar] = Array(repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    return count < 0 ? nil : String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The longest name in a folder, in bytes.
  static func longestName(in folder: String) -> Int {
    let limit = unsafe pathconf(folder, Int32(_PC_NAME_MAX))
    return limit > 0 ? Int(limit) : 255
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    if let text = unsafe String(validatingCString: resolved) { return text }
    // A folder on the way has a name that is not valid UTF-8.
    errno = EILSEQ
    return nil
  }

  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
  }

  static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }

  /// Returns a new name beside a file, for what will replace it or become it: `NAME.….partial`.
  ///
  /// NAME is shortened if necessary, so that a file whose name fits has a draft whose name fits too. The path has at most
  /// `longest` bytes, and `addition` more bytes can be added to the name.
  package static func draft(of path: String, addition: Int = 0, longest: Int = Int(PATH_MAX) - 1) -> String {
    let (folder, name) = split(path)
    let suffix = "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".partial"
    let beside = folder == "/" ? "/" : folder + "/"
    let room = min(longestName(in: folder) - addition, longest - beside.utf8.count) - suffix.utf8.count
    var start = name.unicodeScalars
    while start.count > 1, String(start).utf8.count > room { start.removeLast() }
    return beside + String(start) + suffix
  }
}

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

  struct Identity: Hashable {
    let device: UInt64
    let number: UInt64
  }

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
  static func createPrivate(_ path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 {
      if errno == EEXIST { return }
      throw SystemError(operation: "create \(path)")
    }
    close(descriptor)
  }

  /// Creates a folder that only its owner may enter, with those above it that are missing.
  static func createPrivateFolder(_ path: String) throws(SystemError) {
    if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, path != "/" else { throw SystemError(operation: "create the folder \(path)") }
    try createPrivateFolder(split(path).folder)
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw SystemError(operation: "create the folder \(path)")
    }
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

  /// Sets the times of the file to now, which raises an event for everybody who watches its folder.
  ///
  /// NULL times are the only form that somebody who may write the file, but does not own it, may use. A failure is
  /// ignored: the slow look of every watcher is the guarantee, the touch only makes it fast.
  static func touch(_ path: String) {
    _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

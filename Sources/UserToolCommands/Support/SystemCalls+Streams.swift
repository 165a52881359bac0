import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that are read and written piece by piece.
extension System {
  static let standardInput = STDIN_FILENO
  static let standardOutput = STDOUT_FILENO

  // MARK: Reading

  /// Opens a file for reading; throws if there is none, or if it is a folder.
  static func openInput(_ path: String) throws(Failure) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(lastError)")
    }
    var status = stat()
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw Failure(.noInput, "cannot read \(path): it is a folder")
    }
    return descriptor
  }

  /// Waits for bytes and reads those that are available, at most `count`; none at the end, nil with `errno` if reading fails.
  static func read(_ descriptor: Int32, atMost count: Int) -> [UInt8]? {
    var result = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      repeat {
        result = unsafe systemReadRaw(descriptor, buffer.baseAddress, count)
      } while result < 0 && isToRepeat(descriptor, POLLIN)
      initialized = max(0, result)
    }
    return result < 0 ? nil : bytes
  }

  /// The position of the next line feed.
  static func firstLineFeed(in bytes: [UInt8], from start: Int) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress else { return nil }
      return unsafe memchr(base + start, 0x0A, bytes.count - start).map { unsafe UnsafeRawPointer($0) - base }
    }
  }

  /// The size of a regular file in bytes; nil for anything else.
  static func size(of descriptor: Int32) -> Int64? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  static func rewind(_ descriptor: Int32) {
    lseek(descriptor, 0, SEEK_SET)
  }

  // MARK: Writing

  /// Creates a file without a name, which is deleted when it is closed, and returns what messages call it.
  static func openTemporary() throws(Failure) -> (descriptor: Int32, name: String) {
    // /tmp comes last: it is often in memory, and the file may be large.
    for folder in [environment("TMPDIR"), "/var/tmp", "/tmp"].compactMap(\.self) {
      var template = Array("\(folder)/usertool-XXXXXX".utf8CString)
      let descriptor = unsafe mkstemp(&template)
      if descriptor < 0 { continue }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      unsafe unlink(template)
      return (descriptor, "a temporary file in \(folder)")
    }
    throw Failure(.cannotCreate, "cannot create a temporary file: \(lastError)", hint: temporaryHint)
  }

  static let temporaryHint = "set TMPDIR to a folder that can hold it"

  /// Creates a file that only its owner can read; throws if the path exists.
  static func createNew(_ path: String) throws(Failure) -> Int32 {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { return descriptor }
    if errno == EEXIST { throw alreadyExists(path) }
    throw Failure(errno == EACCES ? .noPermission : .cannotCreate, "cannot create \(path): \(lastError)")
  }

  /// Opens a pipe or a device for writing; waits for the reader of a pipe.
  static func openStream(_ path: String) throws(Failure) -> Int32 {
    while true {
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      if descriptor >= 0 { return descriptor }
      if errno == EINTR { continue }
      throw Failure(errno == EACCES ? .noPermission : .cannotCreate, "cannot write \(path): \(lastError)")
    }
  }

  /// Renames a complete and synced draft to `path` in one step.
  ///
  /// - Throws: `Failure` if the path exists and must not be replaced, even if it was created a moment ago.
  static func publish(
    _ draft: String, as path: String, replacing: Bool, syncsName: Bool = true
  ) throws(Failure) {
    do throws(SystemError) {
      try Files.publish(draft, as: path, replacing: replacing, syncsName: syncsName)
    } catch {
      throw error.alreadyExists ? alreadyExists(path) : Failure(.cannotCreate, "\(error)")
    }
  }

  static func alreadyExists(_ path: String) -> Failure {
    Failure(.cannotCreate, "\(path) already exists", hint: "choose another file, or replace it with --force")
  }

  /// Whether the path exists, even as a dangling link.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  static func remove(_ path: String) {
    unsafe unlink(path)
  }

  /// Waits until the file's content is on disk.
  static func sync(_ descriptor: Int32) -> Bool {
    fsync(descriptor) == 0
  }

  static func close(_ descriptor: Int32) {
    systemClose(descriptor)
  }
}

private func systemReadRaw(_ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}

private func systemClose(_ descriptor: Int32) {
  _ = close(descriptor)
}

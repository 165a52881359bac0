import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files, and descriptors that are read and written piece by piece.
extension System {
  static let standardInput = STDIN_FILENO
  static let standardOutput = STDOUT_FILENO
  static let standardError = STDERR_FILENO

  static var lastError: String {
    unsafe String(cString: strerror(errno))
  }

  /// Whether the last call failed because the reader of a pipe has closed it.
  static var isClosedPipe: Bool { errno == EPIPE }

  // MARK: Waiting

  /// Whether to repeat a failed call: it was interrupted, or would have blocked; then this method waits.
  ///
  /// A program that shares the standard descriptors, such as ssh or Node, may have made them non-blocking.
  private static func isToRepeat(_ descriptor: Int32, _ events: Int32) -> Bool {
    if errno == EINTR { return true }
    guard errno == EAGAIN else { return false }
    var descriptors = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
    return unsafe poll(&descriptors, 1, -1) > 0 || errno == EINTR
  }

  /// Waits until `output` accepts bytes, `waker` has bytes, or the time has passed; -1 stands for no descriptor, and no limit.
  ///
  /// - Returns: Whether a write to the output would not block; it may fail.
  @discardableResult
  static func wait(output: Int32 = -1, waker: Int32 = -1, milliseconds: Int32 = -1) -> Bool {
    var descriptors = [
      pollfd(fd: output, events: Int16(POLLOUT), revents: 0), pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&descriptors, 2, milliseconds) < 0 {
      if errno != EINTR { return true }
    }
    return descriptors[0].revents != 0
  }

  /// Waits until the reader closes the pipe; returns false at once if the descriptor is not a pipe or socket.
  static func waitUntilUnread(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
      return false
    }
    var descriptors = [pollfd(fd: descriptor, events: 0, revents: 0)]
    while unsafe poll(&descriptors, 1, -1) < 0 {
      if errno != EINTR { return false }
    }
    return true
  }

  // MARK: Reading

  static func openInput(_ path: String) throws(Failure) -> Int32 {
    let descriptor = try open(path, O_RDONLY, .noInput, "read \(path)")
    var status = stat()
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw Failure(.noInput, "cannot read \(path): it is a folder")
    }
    return descriptor
  }

  private static func open(
    _ path: String, _ flags: Int32, _ status: ExitStatus, _ action: String
  ) throws(Failure) -> Int32 {
    while true {
      let descriptor = systemOpen(path, flags | O_CLOEXEC)
      if descriptor >= 0 { return descriptor }
      if errno != EINTR { throw Failure(errno == EACCES ? .noPermission : status, "cannot \(action): \(lastError)") }
    }
  }

  /// Waits for bytes and reads at most `count` of them; none at the end, nil with `errno` if reading fails.
  static func read(_ descriptor: Int32, atMost count: Int) -> [UInt8]? {
    var result = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      repeat {
        result = unsafe systemRead(descriptor, buffer.baseAddress, count)
      } while result < 0 && isToRepeat(descriptor, POLLIN)
      initialized = max(0, result)
    }
    return result < 0 ? nil : bytes
  }

  /// The next bytes of a file, at most `count`, which the next `read` returns again.
  static func peek(_ descriptor: Int32, atMost count: Int) -> [UInt8] {
    let bytes = read(descriptor, atMost: count) ?? []
    lseek(descriptor, -off_t(bytes.count), SEEK_CUR)
    return bytes
  }

  /// The contents of a file of less than 4 KiB; nil if there is no file.
  static func read(_ path: String) throws(Failure) -> [UInt8]? {
    if !exists(path) { return nil }
    // Non-blocking, so that opening a pipe does not hang.
    let descriptor = try open(path, O_RDONLY | O_NONBLOCK, .noInput, "read \(path)")
    defer { close(descriptor) }
    guard let bytes = read(descriptor, atMost: 4_096) else {
      throw Failure(.noInput, "cannot read \(path): \(lastError)")
    }
    if bytes.count < 4_096 { return bytes }
    throw Failure(.badData, "\(path) is too large: expected less than 4 KiB")
  }

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

  /// Whether the path exists, even as a dangling link.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  static func isMissingOrEmpty(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 || (status.st_mode & S_IFMT == S_IFREG && status.st_size == 0)
  }

  static func rewind(_ descriptor: Int32) { lseek(descriptor, 0, SEEK_SET) }

  static func close(_ descriptor: Int32) { systemClose(descriptor) }

  // MARK: Writing

  static func sync(_ descriptor: Int32) -> Bool { fsync(descriptor) == 0 }

  /// Writes some of the bytes and returns their number: 0 if the call must be repeated, negative if writing fails.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
    let count = unsafe bytes.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
    return count < 0 && [EINTR, EAGAIN].contains(errno) ? 0 : count
  }

  /// Writes all bytes, waiting if necessary; returns false, with `errno`, if that fails.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(rest, to: descriptor)
      if count < 0 || count == 0 && !isToRepeat(descriptor, POLLOUT) { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Creates a file that is deleted when it is closed; the returned name is for messages.
  static func openTemporary() throws(Failure) -> (descriptor: Int32, name: String) {
    // /tmp last: it is often in memory, and the file may be large.
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
    do throws(Failure) { return try open(path, O_WRONLY | O_CREAT | O_EXCL, .cannotCreate, "create \(path)") } catch {
      throw exists(path) ? alreadyExists(path) : error
    }
  }

  static func alreadyExists(_ path: String) -> Failure {
    Failure(.cannotCreate, "\(path) already exists", hint: "choose another file, or replace it with --force")
  }

  /// Opens a pipe or a device for writing; waits for the reader of a pipe.
  static func openStream(_ path: String) throws(Failure) -> Int32 {
    try open(path, O_WRONLY | O_NOCTTY, .cannotCreate, "write \(path)")
  }

  /// Held while a file is replaced, so that the process does not end and leave the draft behind.
  static let replacing = Lock(())

  /// Replaces a file's contents in one step: even after a crash, a reader finds either the old or the new contents.
  ///
  /// After a power cut it may be the old contents, and a consumer with an old position receives some changes again. A file that
  /// did not exist before is on disk when this returns: without a position, a consumer would start from the current state and
  /// miss changes.
  ///
  /// - Throws: `Failure` if the file cannot be written; the old contents then stay.
  static func replace(_ path: String, with bytes: [UInt8]) throws {
    try replacing.withLock { _ in
      try writeDraft(of: path, replacing: true, syncsName: !exists(path)) { descriptor in
        if writeAll(bytes, to: descriptor), sync(descriptor) { return }
        throw Failure(.cannotCreate, "cannot write \(path): \(lastError)")
      }
    }
  }

  /// Creates a draft, which `write` must fill and sync, and renames it to `path` in one step, or removes it if anything fails.
  ///
  /// - Throws: `Failure` if the path exists and must not be replaced, even if it was created a moment ago.
  static func writeDraft(
    of path: String, replacing: Bool, syncsName: Bool = true, _ write: (Int32) throws -> Void
  ) throws {
    let draft = Files.draft(of: path)
    let descriptor = try open(draft, O_WRONLY | O_CREAT | O_EXCL, .cannotCreate, "write \(path)")
    do {
      defer { close(descriptor) }
      try write(descriptor)
      try Files.publish(draft, as: path, replacing: replacing, syncsName: syncsName)
    } catch {
      Files.remove(draft)
      guard let error = error as? SystemError else { throw error }
      throw error.alreadyExists ? alreadyExists(path) : Failure(.cannotCreate, "\(error)")
    }
  }
}

/// System functions that the methods of the same name hide.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags, 0o600) }
private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

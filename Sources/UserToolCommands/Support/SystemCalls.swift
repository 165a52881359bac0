import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The tool's system calls, which are its only unsafe code.
///
/// They replace Foundation, which takes longer to load than most commands run.
enum System {
  /// Ends the process at once, without exit handlers: all output is written, and other threads may still be running.
  static func exit(_ status: ExitStatus) -> Never {
    replacing.withLock { _ in }
    LiveTerminal.shared.end()
    _exit(status.rawValue)
  }

  /// Held while a file is replaced, so that the process does not end and leave the draft behind.
  private static let replacing = Lock(())

  /// Opens /dev/null for each of standard input, output and error that the parent process closed.
  ///
  /// Otherwise the next file or pipe would get that descriptor, and with it the tool's output.
  static func fillStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Whether the process can open `count` more files; Swift's runtime and Dispatch crash if they cannot open theirs.
  static func hasDescriptors(_ count: Int) -> Bool {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < count {
      let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
      if descriptor < 0 { return errno != EMFILE }
      taken.append(descriptor)
    }
    return true
  }

  /// The value of an environment variable; nil if it is not set or empty.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Ignores a signal.
  static func ignore(_ number: Int32) {
    _ = signal(number, SIG_IGN)
  }

  /// Whether a signal is ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    // Not `signal`, which would have to ignore it for a moment, and so would discard one that is pending.
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #elseif canImport(Glibc)
      let handler = unsafe action.__sigaction_handler.sa_handler
    #elseif canImport(Musl)
      let handler = unsafe action.__sa_handler.sa_handler
    #endif
    // Functions cannot be compared; SIG_IGN is 1 in the <signal.h> of every system.
    return unsafe unsafeBitCast(handler, to: Int.self) == 1
  }

  /// The signals that `Signals` handles and that were ignored when the program started, as after `trap '' INT` in a shell.
  static let ignoredAtStart = [SIGPIPE, SIGINT, SIGTERM].filter(isIgnored)

  /// The system's message for the last call's error.
  static var lastError: String {
    unsafe String(cString: strerror(errno))
  }

  // MARK: Descriptors

  /// Writes some of the bytes and returns their number, which is negative, with `errno`, if none could be written.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
  }

  /// Writes all of the bytes, and waits when the descriptor accepts no more; returns false, with `errno`, if that fails.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(rest, to: descriptor)
      if count < 0, !isToRepeat(descriptor, POLLOUT) { return false }
      rest = rest.dropFirst(max(0, count))
    }
    return true
  }

  /// Whether a call that failed is to be repeated: it was interrupted, or it would have had to wait, which this method does.
  ///
  /// The standard descriptors may be ones that do not wait: another program can share them, for example ssh or Node.
  static func isToRepeat(_ descriptor: Int32, _ events: Int32) -> Bool {
    if errno == EINTR { return true }
    guard errno == EAGAIN else { return false }
    var descriptors = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
    return unsafe poll(&descriptors, 1, -1) > 0 || errno == EINTR
  }

  /// Creates a pipe that wakes a thread in `poll`; nil if the system has no descriptors left.
  static func pipe() -> (reader: Int32, writer: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard systemPipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Waits until `output` accepts bytes, `waker` has bytes, or the time has passed.
  ///
  /// - Parameters:
  ///   - output: A descriptor to write to; negative for none.
  ///   - waker: A descriptor to read from; negative for none.
  ///   - milliseconds: The longest wait; negative for no limit.
  /// - Returns: whether a write to the output would not block (it may fail), and whether the waker has bytes.
  static func wait(output: Int32, waker: Int32, milliseconds: Int32) -> (output: Bool, waker: Bool) {
    var descriptors = [
      pollfd(fd: output, events: Int16(POLLOUT), revents: 0), pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&descriptors, 2, milliseconds) < 0 {
      if errno != EINTR { return (true, false) }
    }
    return (descriptors[0].revents != 0, descriptors[1].revents != 0)
  }

  /// Waits until the pipe's reader has closed it; returns false at once if the descriptor is not a pipe or socket.
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

  // MARK: Time

  /// Milliseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Milliseconds on a monotonic clock, for measuring durations.
  static var uptime: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// The offset of the local time from UTC at a time, in seconds.
  static func utcOffset(atSecond second: Int64) -> Int64 {
    var time = time_t(second)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
  }

  // MARK: Files

  /// The content of a file of less than 4 KiB; nil if there is no file.
  static func read(_ path: String) throws(Failure) -> [UInt8]? {
    // Non-blocking, so that opening a pipe does not hang.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(lastError)")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = Array(repeating: 0, count: 4_096)
    let count = systemRead(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw Failure(.noInput, "cannot read \(path): \(lastError)") }
    guard count < bytes.count else {
      throw Failure(.badData, "\(path) is too large: expected less than \(bytes.count >> 10) KiB")
    }
    return Array(bytes.prefix(count))
  }

  /// Replaces a file's content in one step: a reader, even after a crash, finds either the old content or the new.
  ///
  /// After a power cut it may be the old content, but a file that did not exist before is on disk when this returns. A
  /// consumer that finds an old position receives some changes again; one that finds no position would start from the
  /// current state and miss changes.
  ///
  /// - Throws: `Failure` if the file cannot be written; the old content then stays.
  static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
    try replacing.withLock { _ throws(Failure) in try replaceWhole(path, with: bytes) }
  }

  private static func replaceWhole(_ path: String, with bytes: [UInt8]) throws(Failure) {
    let draft = Files.draft(of: path)
    let isNew = !exists(path)
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(errno == EACCES ? .noPermission : .cannotCreate, "cannot write \(path): \(lastError)")
    }
    do throws(Failure) {
      defer { close(descriptor) }
      guard writeAll(bytes, to: descriptor), fsync(descriptor) == 0 else {
        throw Failure(.cannotCreate, "cannot write \(path): \(lastError)")
      }
      try publish(draft, as: path, replacing: true, syncsName: isNew)
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  /// Whether the path does not exist, or is an empty file.
  static func isMissingOrEmpty(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 || (status.st_mode & S_IFMT == S_IFREG && status.st_size == 0)
  }
}

/// System functions that the methods of the same name hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

private func systemPipe(_ ends: inout [Int32]) -> Int32 {
  unsafe pipe(&ends)
}

private func systemRead(_ descriptor: Int32, _ bytes: inout [UInt8], _ count: Int) -> Int {
  unsafe read(descriptor, &bytes, count)
}

import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The few system calls of the tool, and its only unsafe steps.
///
/// Not Foundation's: loading it takes longer than most commands run.
enum System {
  /// Ends the process at once.
  ///
  /// What is to be written was written, and other threads may be in the middle of things.
  static func exit(_ status: ExitStatus) -> Never {
    replacing.withLock { _ in }
    _exit(status.rawValue)
  }

  /// Held while a file is replaced: a process that ends in the middle would leave its draft behind.
  private static let replacing = Lock(())

  /// Gives standard input, output and error something to be, where whoever started the process closed them.
  ///
  /// The next file or pipe that is opened would take their place, and get what is printed.
  static func fillStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Whether the process may open so many files more.
  ///
  /// Swift's runtime and Dispatch crash where they get none.
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

  /// How many columns the terminal has; nil when it is none, or does not say.
  static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard isTerminal(descriptor), unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }

  /// An environment variable that is set to something.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }

  /// Which argument is not valid UTF-8; Swift repairs them silently.
  static var invalidArgument: Int? {
    (1..<max(1, Int(CommandLine.argc))).first { index in
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe String(validatingCString: argument) == nil
    }
  }

  /// Ignores a signal.
  static func ignore(_ number: Int32) {
    _ = signal(number, SIG_IGN)
  }

  /// Whether a signal is ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    let before = signal(number, SIG_IGN)
    signal(number, before)
    // SIG_IGN is 1 in every system's <signal.h>; functions cannot be compared.
    return unsafe unsafeBitCast(before, to: Int.self) == 1
  }

  /// The system's words for the error of the last call.
  static var lastError: String {
    unsafe String(cString: strerror(errno))
  }

  // MARK: Descriptors

  /// Writes some of the bytes.
  ///
  /// - Returns: how many; negative with `errno` when none could be written.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
  }

  /// Two ends of a pipe, for waking who polls; nil when there is none to be had.
  static func pipe() -> (reader: Int32, writer: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard systemPipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Waits until `output` takes bytes, `waker` has some, or the time has passed.
  ///
  /// - Parameters:
  ///   - output: Negative to leave it out.
  ///   - waker: Negative to leave it out.
  ///   - milliseconds: Negative for ever.
  /// - Returns: whether the output takes bytes, or would say why it does not, and whether the waker has some.
  static func wait(output: Int32, waker: Int32, milliseconds: Int32) -> (output: Bool, waker: Bool) {
    var descriptors = [
      pollfd(fd: output, events: Int16(POLLOUT), revents: 0), pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&descriptors, 2, milliseconds) < 0 {
      if errno != EINTR { return (true, false) }
    }
    return (descriptors[0].revents != 0, descriptors[1].revents != 0)
  }

  /// Waits until nobody reads the pipe any more.
  ///
  /// - Returns: false at once when it is no pipe or socket.
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

  /// Milliseconds on a clock that nobody sets: for how long something takes.
  static var uptime: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// How far the local time is from UTC at a time, in seconds.
  static func utcOffset(atSecond second: Int64) -> Int64 {
    var time = time_t(second)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe Int64(parts.tm_gmtoff)
  }

  // MARK: Files

  /// The content of a small file; nil when there is none.
  ///
  /// - Throws: `Failure` for one that cannot be read, or is larger than 4 KiB.
  static func read(_ path: String) throws(Failure) -> [UInt8]? {
    // Non-blocking, so that a pipe does not hang.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(lastError)")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = Array(repeating: 0, count: 4_096)
    let count = systemRead(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw Failure(.noInput, "cannot read \(path): \(lastError)") }
    guard count < bytes.count else { throw Failure(.badData, "\(path) is too large to be what is expected") }
    return Array(bytes.prefix(count))
  }

  /// Replaces a file whole: whoever reads it, after a crash too, finds the old content or the new.
  ///
  /// After a power cut it may be the old one, except where there was none: then the new one is on disk when this returns.
  /// A consumer that finds its old place hears some things again; one that finds no place begins with the present, and
  /// has missed something.
  ///
  /// - Throws: `Failure` when it cannot be written; the old one is still there then.
  static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
    try replacing.withLock { _ throws(Failure) in try replaceWhole(path, with: bytes) }
  }

  private static func replaceWhole(_ path: String, with bytes: [UInt8]) throws(Failure) {
    let draft = path + ".\(getpid()).tmp"
    let isNew = !exists(path)
    // One of a process that was killed, and had the same number.
    unsafe unlink(draft)
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(errno == EACCES ? .noPermission : .cannotCreate, "cannot write \(path): \(lastError)")
    }
    do throws(Failure) {
      defer { close(descriptor) }
      guard write(bytes[...], to: descriptor) == bytes.count, fsync(descriptor) == 0 else {
        throw Failure(.cannotCreate, "cannot write \(path): \(lastError)")
      }
      try publish(draft, as: path, replacing: true, syncsName: isNew)
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  /// Whether nothing lies at the path.
  static func isMissing(_ path: String) -> Bool {
    !exists(path)
  }

  /// Whether nothing lies at the path, or an empty file.
  static func isMissingOrEmpty(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 || (status.st_mode & S_IFMT == S_IFREG && status.st_size == 0)
  }
}

/// The system's functions whose names the methods have.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

private func systemPipe(_ ends: inout [Int32]) -> Int32 {
  unsafe pipe(&ends)
}

private func systemRead(_ descriptor: Int32, _ bytes: inout [UInt8], _ count: Int) -> Int {
  unsafe read(descriptor, &bytes, count)
}

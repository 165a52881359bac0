import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The tool's system calls, which are its only unsafe code: of the process, its signals, and other programs.
///
/// They replace Foundation, which takes longer to load than most commands run.
enum System {
  /// Ends the process at once, without exit handlers: all output is written, and other threads may still be running.
  static func exit(_ status: ExitStatus) -> Never {
    replacing.withLock { _ in }
    LiveTerminal.shared.end()
    _exit(status.rawValue)
  }

  /// Opens /dev/null for each of standard input, output and error that the parent process closed.
  ///
  /// Otherwise the next file or pipe would get that descriptor, and with it the tool's output.
  static func fillStandardDescriptors() {
    for descriptor in standardInput...standardError where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Whether the process can open `count` more files; Swift's runtime and Dispatch crash if they cannot open theirs.
  static func hasDescriptors(_ count: Int) -> Bool {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < count {
      let descriptor = fcntl(standardError, F_DUPFD_CLOEXEC, 0)
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

  // MARK: Signals

  static func ignore(_ number: Int32) {
    _ = signal(number, SIG_IGN)
  }

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

  // MARK: Other programs

  /// Where a program may be: beside this one, if the system says where that is, and then in the folders of PATH.
  static func places(of program: String) -> [String] {
    let own = ownPath.map { path in String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
    let folders = environment("PATH")?.split(separator: ":").map(String.init) ?? []
    return ([own].compactMap { $0 } + folders).map { $0 + "/" + program }
  }

  private static var ownPath: String? {
    #if canImport(Darwin)
      var size = UInt32(PATH_MAX)
      var bytes = [CChar](repeating: 0, count: Int(size))
      guard unsafe _NSGetExecutablePath(&bytes, &size) == 0 else { return nil }
      return unsafe String(cString: bytes)
    #else
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
      if count > 0 { return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) }
      // Without /proc, use the first argument, unless it is a name that was looked up in PATH.
      return ProgramArguments.all.first.flatMap { $0.contains("/") ? $0 : nil }
    #endif
  }

  /// Runs a program in place of this one; returns if there is none at the path.
  static func replaceProcess(by path: String, _ arguments: [String]) {
    // The program would inherit it. Handlers end with this program.
    signal(SIGPIPE, SIG_DFL)
    ignoredAtStart.forEach(ignore)
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &words)
    unsafe words.forEach { word in unsafe free(word) }
    ignore(SIGPIPE)
  }
}

import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The tool's only unsafe code: system calls on the process, its signals, and other programs.
///
/// They replace Foundation, which takes longer to load than most commands take to run.
enum System {
  /// Ends the process at once, without exit handlers: all output is written, and other threads may still be running.
  static func exit(_ status: ExitStatus) -> Never {
    replacing.withLock { _ in }
    LiveTerminal.shared.end()
    _exit(status.rawValue)
  }

  /// Opens /dev/null for each standard descriptor that the parent process has closed; another file or pipe would get its number,
  /// and the tool's output.
  static func fillStandardDescriptors() {
    for descriptor in standardInput...standardError where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Whether the process can open `count` more files, without which Swift's runtime and Dispatch would crash.
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
    // Not `signal`: it would have to ignore the signal for a moment, and so discard a pending one.
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

  /// The signals of `Signals` that were ignored when the program started, as after `trap '' INT` in a shell.
  static let ignoredAtStart = [SIGPIPE, SIGINT, SIGTERM].filter(isIgnored)

  // MARK: Other programs

  /// The possible paths of a program: beside this one, if that is known, then in the folders of PATH.
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
      // Without /proc: the first argument, unless it is a name that was found in PATH.
      return ProgramArguments.all.first.flatMap { $0.contains("/") ? $0 : nil }
    #endif
  }

  /// Runs a program in place of this one; returns if there is none at the path.
  static func replaceProcess(by path: String, _ arguments: [String]) {
    // The new program would inherit ignored signals; handlers end with this program.
    signal(SIGPIPE, SIG_DFL)
    ignoredAtStart.forEach(ignore)
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &words)
    unsafe words.forEach { word in unsafe free(word) }
    ignore(SIGPIPE)
  }
}

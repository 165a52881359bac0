import Foundation
import Synchronization
import Testing

/// A real process: what it writes is read line by line as it comes.
final class Child {
  let id: pid_t
  let output: LineReader
  let errors: LineReader
  private var input: Int32
  private var status: Int32?

  /// While pipes are made and inherited nobody else starts a process, which would inherit them too.
  private static let starting = Mutex(())

  /// Starts a program; `output` may be a descriptor of the caller's instead of a pipe to here.
  init(_ command: [String], environment: [String: String], output descriptor: Int32? = nil) throws {
    var started: pid_t = 0
    var ends: (input: [Int32], output: [Int32], errors: [Int32]) = ([], [], [])
    try Self.starting.withLock { _ in
      ends = (try Self.pipe(), try Self.pipe(), try Self.pipe())
      started = try Self.spawn(command, environment, [ends.input[0], descriptor ?? ends.output[1], ends.errors[1]])
      for end in [ends.input[0], ends.output[1], ends.errors[1]] { close(end) }
    }
    id = started
    input = ends.input[1]
    output = LineReader(ends.output[0])
    errors = LineReader(ends.errors[0])
  }

  deinit {
    if status == nil {
      kill(id, SIGKILL)
      _ = wait()
    }
    endInput()
  }

  func send(_ signal: Int32) {
    kill(id, signal)
  }

  /// Writes to its standard input.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
  }

  /// Its standard input comes to its end.
  func endInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Waits for its end: the exit code, or 128 and the signal.
  func wait() -> Int32 {
    if let status { return status }
    var code: Int32 = 0
    while unsafe waitpid(id, &code, 0) < 0, errno == EINTR {}
    let signal = code & 0x7F
    let result = signal == 0 ? code >> 8 & 0xFF : 128 + signal
    status = result
    return result
  }

  /// How much memory it had at its most, in bytes; only while it runs.
  func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) << 10
  }

  /// Reads standard error to the line with which `watch` says that nothing is missed from here on.
  func waitUntilWatching(sourceLocation: SourceLocation = #_sourceLocation) throws {
    var seen: [String] = []
    while let line = errors.next() {
      if line.hasPrefix("watching ") { return }
      seen.append(line)
    }
    try #require(Bool(false), "it never watched: \(seen)", sourceLocation: sourceLocation)
  }

  // MARK: Parts

  private static func pipe() throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe Foundation.pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], _ descriptors: [Int32]
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    var id: pid_t = 0
    let code = unsafe posix_spawnp(&id, command[0], &actions, nil, &arguments, &variables)
    try #require(code == 0, "cannot start \(command[0]): \(unsafe String(cString: strerror(code)))")
    return id
  }
}

/// Reads a descriptor line by line.
final class LineReader {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isOpen = true

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    closeEnd()
  }

  /// The next line, as soon as it is there; nil at the end.
  func next() -> String? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        defer { start = end + 1 }
        return String(decoding: buffer[start..<end], as: UTF8.self)
      }
      searched = buffer.count
      guard fill() else {
        defer { start = buffer.count }
        return start < buffer.count ? String(decoding: buffer[start...], as: UTF8.self) : nil
      }
    }
  }

  /// So many lines, or those that there are.
  func next(_ count: Int) -> [String] {
    var lines: [String] = []
    while lines.count < count, let line = next() { lines.append(line) }
    return lines
  }

  /// All that is left.
  func rest() -> [UInt8] {
    while fill() {}
    defer { start = buffer.count }
    return Array(buffer[start...])
  }

  /// Reads no more: who writes gets EPIPE.
  func closeEnd() {
    if isOpen { close(descriptor) }
    isOpen = false
  }

  private func fill() -> Bool {
    guard isOpen else { return false }
    var bytes: [UInt8] = Array(repeating: 0, count: 65_536)
    var count = unsafe read(descriptor, &bytes, bytes.count)
    while count < 0, errno == EINTR { count = unsafe read(descriptor, &bytes, bytes.count) }
    if count <= 0 { return false }
    buffer += bytes[..<count]
    return true
  }
}

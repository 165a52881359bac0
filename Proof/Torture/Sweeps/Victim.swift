import Foundation

/// A process that gets a fault.
///
/// Its output goes to files, so that it never waits for a reader, and waits have a deadline.
final class Victim {
  enum End: Equatable {
    case exit(Int32), signal(Int32), stopped
    /// It did not end in time. The text has the stacks of its threads.
    case hung(String)
  }

  let id: pid_t
  private let output: String
  private let errors: String
  private var input: Int32
  private var isOver = false

  /// Starts a command in an environment, with output to the files `NAME.out` and `NAME.err`.
  init(_ command: [String], environment: [String: String], name: String) throws {
    (output, errors) = (name + ".out", name + ".err")
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw Failure("cannot create a pipe", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    input = ends[1]
    id = try Self.spawn(command, environment, input: ends[0], output, errors)
  }

  deinit {
    if !isOver { kill() }
    endInput()
  }

  func endInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  func send(_ signal: Int32) { Foundation.kill(id, signal) }

  func kill() {
    send(SIGKILL)
    _ = wait(seconds: 10)
  }

  /// Waits until it ends or stops, and kills it if it does neither in time.
  func wait(seconds: Double) -> End {
    let deadline = Date(timeIntervalSinceNow: seconds)
    var pause: UInt32 = 100
    while Date() < deadline {
      if let end = poll() { return end }
      usleep(pause)
      pause = min(pause * 2, 5_000)
    }
    let stacks = Self.stacks(of: id)
    send(SIGKILL)
    while poll() == nil { usleep(1_000) }
    return .hung(stacks)
  }

  /// Waits until it has printed a line.
  func wait(for line: String, seconds: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while Date() < deadline {
      if lines.contains(line) { return true }
      usleep(1_000)
    }
    return false
  }

  /// The complete lines of its output.
  ///
  /// A kill during a write may leave part of a line.
  var lines: [String] {
    Self.read(output).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
  var errorText: String { Self.read(errors) }

  private static func read(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }

  private func poll() -> End? {
    var status: Int32 = 0
    let found = unsafe waitpid(id, &status, WNOHANG | WUNTRACED)
    guard found == id else { return nil }
    if status & 0xFF == 0x7F { return .stopped }
    isOver = true
    return status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
  }

  /// Stacks from gdb, if it is installed.
  private static func stacks(of id: pid_t) -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gdb", "-p", "\(id)", "--batch", "-ex", "thread apply all bt 12"]
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
    guard (try? process.run()) != nil else { return "no stacks, because gdb is not installed" }
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("#") || $0.hasPrefix("Thread") }.joined(separator: "\n")
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], input: Int32, _ output: String, _ errors: String
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    for (number, file) in [(1, output), (2, errors)] as [(Int32, String)] {
      unsafe posix_spawn_file_actions_addopen(&actions, number, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    var id: pid_t = 0
    let code = unsafe posix_spawn(&id, command[0], &actions, nil, &arguments, &variables)
    guard code == 0 else { throw Failure("cannot start \(command[0])", code) }
    return id
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ code: Int32) {
      description = "\(what): \(unsafe String(cString: strerror(code)))"
    }
  }
}

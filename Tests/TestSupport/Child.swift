package import Foundation
import Synchronization

/// A child process, whose output is read line by line as it arrives.
package final class Child {
  package let id: pid_t
  package let output: LineReader
  package let errors: LineReader
  private var input: Int32
  private var status: Int32?

  /// Not a version manager's script of that name, which takes five times as long to start.
  package static let python = "/usr/bin/python3"

  /// Held while pipes are created and inherited, because a process started meanwhile would inherit them too.
  private static let starting = Mutex(())

  /// Starts a program.
  ///
  /// The signals that programs handle have their default action even if the caller ignores them, as the tests do if they were
  /// started with nohup, or in the background.
  ///
  /// - Parameters:
  ///   - command: The program's name or path, and its arguments.
  ///   - environment: The program's whole environment.
  ///   - descriptor: The program's standard output; nil for a pipe to `output`.
  ///   - group: The process group to join; nil for the caller's.
  /// - Throws: `ChildError` if the program cannot be started.
  package init(
    _ command: [String], environment: [String: String], output descriptor: Int32? = nil, group: pid_t? = nil
  ) throws(ChildError) {
    var started: pid_t = 0
    var ends: (input: [Int32], output: [Int32], errors: [Int32]) = ([], [], [])
    try Self.starting.withLock { _ throws(ChildError) in
      ends = (try Self.pipe(), try Self.pipe(), try Self.pipe())
      let descriptors = [ends.input[0], descriptor ?? ends.output[1], ends.errors[1]]
      started = try Self.spawn(command, environment, descriptors, group)
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

  package func send(_ signal: Int32) {
    kill(id, signal)
  }

  /// Writes to the child's standard input.
  package func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
  }

  /// Closes the child's standard input.
  package func endInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Waits until the child exits, and returns its exit code, or 128 plus the signal that ended it.
  package func wait() -> Int32 {
    if let status { return status }
    var code: Int32 = 0
    while unsafe waitpid(id, &code, 0) < 0, errno == EINTR {}
    let signal = code & 0x7F
    let result = signal == 0 ? code >> 8 & 0xFF : 128 + signal
    status = result
    return result
  }

  // MARK: Parts

  private static func pipe() throws(ChildError) -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard unsafe Foundation.pipe(&ends) == 0 else { throw ChildError("cannot create a pipe", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], _ descriptors: [Int32], _ group: pid_t?
  ) throws(ChildError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var flags = POSIX_SPAWN_SETSIGDEF
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM] { unsafe sigaddset(&signals, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    if let group {
      flags |= POSIX_SPAWN_SETPGROUP
      unsafe posix_spawnattr_setpgroup(&attributes, group)
    }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    var id: pid_t = 0
    let code = unsafe posix_spawnp(&id, command[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw ChildError("cannot start \(command[0])", code) }
    return id
  }
}

/// The reason why a program could not be started.
package struct ChildError: Error, CustomStringConvertible {
  package let description: String

  fileprivate init(_ what: String, _ code: Int32) {
    description = "\(what): \(unsafe String(cString: strerror(code)))"
  }
}

import Foundation
import TortureSupport

/// The store that all roles work on, and the programs that use it.
final class Stage: Sendable {
  let scratch: Scratch
  let processes: ProcessGroup
  let tally = Tally()
  let programs: Programs
  var database: String { scratch.folder + "/users.db" }

  /// The paths of the programs.
  struct Programs: Sendable {
    let tool: String
    let embedder: String

    /// The tool is at USERTOOL, which scripts/torture sets, or next to this executable, as the embedder is.
    static func found() throws -> Programs {
      let executable =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
      let folder = URL(fileURLWithPath: executable).deletingLastPathComponent().path
      let tool = ProcessInfo.processInfo.environment["USERTOOL"] ?? folder + "/usertool"
      let programs = Programs(tool: tool, embedder: folder + "/embedder")
      for path in [programs.tool, programs.embedder] where !FileManager.default.isExecutableFile(atPath: path) {
        throw TortureError("there is no \(path): scripts/torture builds it")
      }
      return programs
    }
  }

  init(_ name: String, _ programs: Programs) throws {
    scratch = try Scratch(name)
    processes = ProcessGroup(group: scratch.group)
    self.programs = programs
  }

  /// The environment of a child, without the developer's own settings.
  private var environment: [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return ["HOME": scratch.folder, "USERTOOL_DB": database, "TZ": "UTC", "LC_ALL": "C.UTF-8", "PATH": path]
  }

  func start(_ command: [String], _ more: [String: String] = [:]) throws -> Child {
    try processes.start(command, environment: environment.merging(more) { $1 })
  }

  /// Starts the tool, with a long busy timeout so that a busy database is not a failure.
  func startTool(_ arguments: [String]) throws -> Child {
    try start([programs.tool] + arguments + ["--busy-timeout", "60s"])
  }

  func startEmbedder(_ arguments: [String], _ more: [String: String] = [:]) throws -> Child {
    try start([programs.embedder] + arguments, more)
  }

  struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    var trouble: String { "exit \(status): \(errors)" }
  }

  /// Reads a process's output to the end, and waits for it.
  func finish(_ child: Child) -> Outcome {
    // There are few messages, which fit into their pipe while the output is read.
    let output = String(decoding: child.output.rest(), as: UTF8.self)
    let errors = String(decoding: child.errors.rest(), as: UTF8.self)
    return Outcome(status: processes.wait(for: child), output: output, errors: errors)
  }

  /// Runs the tool, which must succeed.
  @discardableResult
  func tool(_ arguments: String...) throws -> String { try tool(arguments) }

  @discardableResult
  func tool(_ arguments: [String]) throws -> String {
    let outcome = finish(try startTool(arguments))
    guard outcome.status == 0 else { throw TortureError("usertool \(arguments): \(outcome.trouble)") }
    return outcome.output
  }

  /// Runs SQL in the sqlite3 shell, which must not fail.
  ///
  /// The shell makes no checkpoints: SQLite before 3.51.3 damages a database when one meets a commit, and usertool
  /// checkpoints.
  func shell(_ sql: String) throws {
    let outcome = finish(
      try start([
        "sqlite3", "-batch", "-bail", "-cmd", ".timeout 60000", database, "PRAGMA wal_autocheckpoint = 0; " + sql,
      ]))
    guard outcome.status == 0 else { throw TortureError("sqlite3: \(outcome.trouble)") }
  }

  /// Opens the database in this process, read-only, so that closing the last connection leaves the -wal file as it is.
  func look() throws -> PlainConnection {
    try PlainConnection(database, busyTimeout: 60_000, isReadOnly: true)
  }

  var isOver: Bool { processes.isOver }

  /// Sleeps for a time, or until the round is over.
  func rest(milliseconds: Int) {
    let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1_000)
    while !isOver, case let left = end.timeIntervalSinceNow, left > 0 { usleep(UInt32(min(left, 0.02) * 1_000_000)) }
  }
}

import Foundation
import TestSupport
import Testing

/// A test's own folder, with a database that the tool finds through USERTOOL_DB.
final class Workspace {
  let folder: String
  var database: String

  /// The tool that was built with this test, next to the test's executable.
  static let tool: String = {
    let executable =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: executable).deletingLastPathComponent().appendingPathComponent("usertool").path
  }()

  /// The folder of the package.
  static let project = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The variables with which a program finds the server of `scripts/postgres run`; nil if the tests run on SQLite.
  static let server: [String: String]? = {
    let environment = ProcessInfo.processInfo.environment
    guard environment["USERSTORE_ENGINE"] == "postgres" else { return nil }
    return environment.filter { $0.key.hasPrefix("PG") }
  }()

  init() throws {
    var template = Array("/tmp/usertool-test-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
    folder = try #require(made)
    database = folder + "/users.db"
    if let server = Self.server {
      let name = "w\(UInt64.random(in: 0 ... .max))"
      database = "postgres:///\(name)"
      try #require(finish(["psql", "-qc", "CREATE DATABASE \(name)"], server).status == 0)
    }
    try #require(FileManager.default.isExecutableFile(atPath: Self.tool), "there is no usertool at \(Self.tool)")
  }

  /// Contains files that another workspace had, which no process had open.
  convenience init(_ files: [String: Data]) throws {
    try self.init()
    for (name, bytes) in files { try write(bytes, to: name) }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The files in the folder, from which other tests make workspaces: running the tool for each takes much longer.
  func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return try Dictionary(uniqueKeysWithValues: names.map { ($0, try #require(bytes(of: $0))) })
  }

  /// The environment of child processes, without the developer's own settings.
  var environment: [String: String] {
    var environment = ["HOME": folder, "USERTOOL_DB": database, "TZ": "UTC", "LC_ALL": "C.UTF-8"]
    // The last two are those of `scripts/mutants`.
    for name in ["PATH", "LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS", "USERSTORE_MUTANT", "USERSTORE_REACHED"] {
      environment[name] = ProcessInfo.processInfo.environment[name]
    }
    environment.merge(Self.server ?? [:]) { $1 }
    // By default, the sanitizer lets a process sleep for a second before it exits, to catch late races.
    environment["TSAN_OPTIONS"] = "atexit_sleep_ms=0:" + (environment["TSAN_OPTIONS"] ?? "")
    return environment
  }

  // MARK: Processes

  struct Outcome: CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
    var description: String { "exit \(status)\n\(output)\(errors)" }
  }

  /// Starts the tool.
  func start(_ arguments: String..., environment: [String: String] = [:]) throws -> Child {
    try start([Self.tool] + arguments, environment)
  }

  /// Runs the tool to its end.
  @discardableResult
  func run(_ arguments: String..., environment: [String: String] = [:], input: String = "") throws -> Outcome {
    try finish([Self.tool] + arguments, environment, input)
  }

  /// Lets a watch save its position, as a consumer or in a cursor file, and ends it.
  func takePosition(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
    let watcher = try start([Self.tool, "watch"] + arguments)
    try watcher.waitUntilWatching()
    watcher.send(SIGINT)
    _ = watcher.output.rest()
    #expect(watcher.wait() == 130, sourceLocation: sourceLocation)
  }

  /// Runs the tool until it has printed so many lines, and then ends it with SIGINT.
  func firstLines(_ count: Int, _ arguments: String...) throws -> Outcome {
    let child = try start([Self.tool] + arguments)
    let lines = child.output.next(count)
    child.send(SIGINT)
    let output = lines.map { $0 + "\n" }.joined() + String(decoding: child.output.rest(), as: UTF8.self)
    let errors = String(decoding: child.errors.rest(), as: UTF8.self)
    return Outcome(status: child.wait(), output: output, errors: errors)
  }

  /// Runs the tool until its output has a text, also in a line that has not ended, and then ends it with SIGINT.
  func endedAfter(_ text: String, _ arguments: String...) throws -> Outcome {
    let file = "printed-\(UInt64.random(in: 0 ... .max))"
    let child = try start(["sh", "-c", #"exec "$@" >"$0""#, folder + "/" + file, Self.tool] + arguments)
    func printed() -> String { bytes(of: file).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    while !printed().contains(text) { usleep(1_000) }
    child.send(SIGINT)
    let (errors, status) = (String(decoding: child.errors.rest(), as: UTF8.self), child.wait())
    return Outcome(status: status, output: printed(), errors: errors)
  }

  /// Runs any program to its end.
  @discardableResult
  func finish(_ command: [String], _ environment: [String: String] = [:], _ input: String = "") throws -> Outcome {
    let child = try start(command, environment)
    child.type(input)
    // The few messages fit into their pipe while the output is read.
    let output = child.output.rest()
    let errors = child.errors.rest()
    return Outcome(
      status: child.wait(), output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Runs the tool to its end, and returns its peak memory in bytes.
  func measured(_ arguments: [String]) throws -> (outcome: Outcome, peak: Int) {
    let script = """
      import resource, subprocess, sys
      code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
      sys.exit(code)
      """
    let outcome = try finish([Child.python, "-c", script, Self.tool] + arguments)
    let kibibytes = Int(outcome.output.trimmingCharacters(in: .newlines))
    return (outcome, try #require(kibibytes, "\(outcome)") << 10)
  }

  func start(_ command: [String], _ environment: [String: String] = [:]) throws -> Child {
    try Child(command, environment: self.environment.merging(environment) { $1 })
  }

  // MARK: Foreign writers

  /// Runs SQL in the `sqlite3` shell, without the library.
  @discardableResult
  func sqlite(_ sql: String) throws -> Outcome {
    try finish(["sqlite3", "-batch", "-cmd", ".timeout 20000", database, sql])
  }

  /// Runs SQL in psql, on the database of a server, without the library.
  @discardableResult
  func psql(_ sql: String) throws -> String {
    let name = String(database.dropFirst("postgres:///".count))
    let outcome = try finish(["psql", "-qtAX", "-v", "ON_ERROR_STOP=1", "-d", name, "-c", sql])
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output.trimmingCharacters(in: .newlines)
  }

  /// Runs a Python program that has a connection `db` in autocommit mode.
  func python(_ program: String) throws -> Child {
    let head =
      "import sqlite3, sys\ndb = sqlite3.connect(\(database.debugDescription), timeout=20, isolation_level=None)\n"
    return try start([Child.python, "-c", head + program])
  }

  /// Everything in the tables and the log, to check that nothing changed.
  func dump() throws -> String {
    let outcome = try sqlite(
      "SELECT * FROM users; SELECT * FROM attributes; SELECT seq, op, user, attribute FROM changes")
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  func bytes(of name: String = "users.db") -> Data? {
    FileManager.default.contents(atPath: folder + "/" + name)
  }

  func write(_ bytes: Data, to name: String) throws {
    try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
  }
}

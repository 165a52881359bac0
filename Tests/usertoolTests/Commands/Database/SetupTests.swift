import Foundation
import Testing

/// `scripts/setup`, with an `apt-get` that fails as the real one does while another program holds a lock.
@Suite(.bounded, .serialized) struct `Setting up` {
  private let workspace: Workspace

  /// What apt-get and dpkg print, in versions 2.6 and 1.8, while another program holds each of their locks.
  private static let locked = [
    "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 998 (apt-get)",
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 998 (unattended-upgr)",
    "E: Could not get lock /var/lib/dpkg/lock. It is held by process 998 (dpkg)",
    "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 998 (aptitude)",
    "dpkg: error: dpkg database lock was locked by another process with pid 998",
    "E: Could not get lock /var/lib/apt/lists/lock - open (11: Resource temporarily unavailable)",
  ]
  private static let refused = [
    "E: Unable to locate package libsqlite3-dev",
    "E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)",
    "E: Failed to fetch http://deb.example/pool/lock_1.deb  404  Not Found",
  ]

  init() throws {
    workspace = try Workspace()
    try program(
      "apt-get",
      #"""
      echo "$@" >>"$FAKES/calls"
      [ "$(wc -l <"$FAKES/calls")" -gt "$FAILURES" ] || { echo "$MESSAGE" >&2; exit 100; }
      """#)
    try program("dpkg-query", "echo config-files")
    try program("sudo", #"exec "$@""#)
    try program("sleep", #"echo sleep >>"$FAKES/sleeps""#)
  }

  /// Writes a program that is found before the machine's.
  ///
  /// Another process writes it: a program that this process starts at the same moment would inherit the open file, and a file that
  /// is open for writing cannot be run.
  private func program(_ name: String, _ script: String) throws {
    let write = #"printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod 755 "$1""#
    try #require(
      try workspace.finish(["/bin/sh", "-c", write, "sh", workspace.folder + "/" + name, script]).status == 0)
  }

  private var path: String { workspace.folder + ":" + (workspace.environment["PATH"] ?? "") }

  private func setUp(failures: Int, _ message: String, patience: Int = 600, isVerbose: Bool = false) throws
    -> Workspace.Outcome
  {
    try workspace.finish(
      [Workspace.project.appendingPathComponent("scripts/setup").path, "zsh"],
      [
        "PATH": path, "FAKES": workspace.folder, "FAILURES": "\(failures)", "MESSAGE": message,
        "USERSTORE_SETUP_PATIENCE": "\(patience)", "VERBOSE": isVerbose ? "1" : "",
      ])
  }

  private func lines(of name: String) -> [String] {
    let text = (try? String(contentsOfFile: workspace.folder + "/" + name, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  @Test func `what is missing is installed after the lists were updated`() throws {
    let outcome = try setUp(failures: 0, "")
    #expect(outcome.status == 0, "\(outcome)")
    let install = "-qq install -y --no-install-recommends libsqlite3-dev pkg-config zsh"
    #expect(lines(of: "calls") == ["-qq update", install])
    #expect(outcome.errors == "setup: installing libsqlite3-dev pkg-config zsh\n")
  }

  @Test(arguments: locked) func `it waits while another program holds a lock, and says so once`(message: String) throws
  {
    let outcome = try setUp(failures: 3, message)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines(of: "calls").count == 5 && lines(of: "sleeps").count == 3)
    #expect(outcome.errors.components(separatedBy: "setup: waiting for another program").count == 2, "\(outcome)")
  }

  @Test(arguments: locked) func `it does not wait forever`(message: String) throws {
    let outcome = try setUp(failures: 3, message, patience: 0)
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.errors.contains(message), "\(outcome)")
    #expect(outcome.errors.contains("run this again when it has ended"), "\(outcome)")
    #expect(lines(of: "calls").count == 1)
  }

  @Test(arguments: refused) func `any other failure is shown at once`(message: String) throws {
    let outcome = try setUp(failures: 3, message)
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.errors.hasSuffix("setup: error: apt-get update failed\n\(message)\n"), "\(outcome)")
    #expect(lines(of: "calls").count == 1 && lines(of: "sleeps").isEmpty)
  }

  @Test func `who is not root and may not use sudo reads what to install`() throws {
    try program("id", "echo 1000")
    try program("sudo", "echo 'zoe is not in the sudoers file.' >&2; exit 1")
    let outcome = try setUp(failures: 0, "")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(
      outcome.errors.hasSuffix(
        """
        setup: error: apt-get update failed; you can run this as root: apt-get install libsqlite3-dev pkg-config zsh
        zoe is not in the sudoers file.

        """), "\(outcome)")
    #expect(lines(of: "calls").isEmpty)
  }

  @Test func `what apt-get prints is shown on request`() throws {
    try program("apt-get", #"echo "printed by $1""#)
    #expect(try !setUp(failures: 0, "").errors.contains("printed"))
    #expect(try setUp(failures: 0, "", isVerbose: true).errors.hasSuffix("printed by -q\nprinted by -q\n"))
  }

  @Test func `scripts/test works from any folder`() throws {
    try program("dpkg-query", "echo installed")
    func test(_ arguments: String) throws -> Workspace.Outcome {
      try workspace.finish(
        ["sh", "-c", "cd '\(Workspace.project.path)/scripts' && exec ./test \(arguments)"], ["PATH": path])
    }
    let stage = try test("--stage setup")
    #expect(stage.status == 0 && stage.lines.count { $0.hasPrefix("setup ") && $0.contains(" ok ") } == 2, "\(stage)")
    let mistake = try test("--nothing")
    #expect(mistake.status == 64 && mistake.errors.contains("scripts/test --quick"), "\(mistake)")
  }

  @Test func `a step is one line, and one that fails names its command and its log`() throws {
    let step = Workspace.project.appendingPathComponent("scripts/step").path
    let name = "Step of test \(UUID().uuidString)"
    let done = try workspace.finish([step, name, "echo", "noise"])
    #expect(done.status == 0 && done.output.isEmpty, "\(done)")
    #expect(try done.errors.wholeMatch(of: Regex("\(name): [0-9]+ s\n")) != nil, "\(done)")
    let failed = try workspace.finish([step, name, "sh", "-c", "echo reason; exit 3"])
    #expect(failed.status == 3 && failed.errors.hasPrefix("\(name): failed with status 3\nreason\n"), "\(failed)")
    #expect(failed.errors.contains("  command: sh -c echo reason; exit 3\n"))
    let log = try #require(failed.errors.split(separator: "  log: ").last).trimmingCharacters(in: .newlines)
    #expect(try String(contentsOfFile: log, encoding: .utf8) == "reason\n")
    try FileManager.default.removeItem(atPath: log)
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Ending a watch` {
  @Test(arguments: [(Int32(SIGINT), Int32(130)), (Int32(SIGTERM), Int32(143))])
  func `a signal ends the watch, which prints where it stopped`(signal: Int32, status: Int32) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--listener", "A=name", "--no-initial", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "1", "Zoë")
    let cursor = try #require(try watcher.output.next().map(Line.decode)?.cursor)
    watcher.send(signal)
    #expect(watcher.wait() == status)
    let last = try #require(watcher.errors.next())
    // The watch may have printed the set without having recorded its position yet.
    #expect(last.hasPrefix("stopped at revision"), "\(last)")
    #expect(last.contains("continue with --after v1-"))
    let resumed = try workspace.run("watch", "--after", cursor, "--timeout", "2s", "--listener", "A=name")
    #expect(resumed.output.isEmpty)
  }

  @Test(arguments: [("2> errors", false), ("> output", true)])
  func `the message is on a line of its own after ^C, which only a terminal shows`(
    redirection: String, isOnTerminal: Bool
  ) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let path = "\(redirection.dropLast(6))'\(workspace.folder)/\(redirection.suffix(6))'"
    let session = try TerminalSession(
      ["watch", "--cursor-file", workspace.folder + "/cursor"], redirection: path, columns: 100, rows: 20,
      in: workspace,
      [.run(["sh", "-c", "until [ -s '\(workspace.folder)/cursor' ]; do sleep 0.01; done"]), .signal(SIGINT)])
    #expect(session.status == 130)
    let errors = isOnTerminal ? Data(session.output) : try #require(workspace.bytes(of: "errors"))
    let text = String(decoding: errors, as: UTF8.self)
    #expect(text.contains(isOnTerminal ? ")\r\n\r\nstopped at revision" : ")\nstopped at revision"), "\(text)")
  }

  @Test func `a signal in the first milliseconds of a watch ends it`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    for round in 0..<60 {
      let watcher = try workspace.start("watch", "--timeout", "20s")
      // The delay varies with the round, so that the signal arrives before, while and after its handler is installed.
      usleep(UInt32(round * 200))
      watcher.send(SIGINT)
      #expect(watcher.wait() == 130, "round \(round)")
    }
  }

  @Test(arguments: ["jsonl", "plain", "table"])
  func `a signal ends a watch whose output nobody reads`(format: String) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO users (name) SELECT 'u' || i FROM n"
    )
    let watcher = try workspace.start("watch", "--format", format, "--timeout", "300s")
    try watcher.waitUntilWatching()
    // One set that does not fit into the pipe either.
    try workspace.sqlite("UPDATE users SET name = name || 'x'")
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
  }

  @Test func `a closed pipe ends an idle watch silently with exit code 141`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--timeout", "300s")
    try watcher.waitUntilWatching()
    watcher.output.closeEnd()
    #expect(watcher.wait() == 141)
    #expect(watcher.errors.rest().isEmpty)
  }

  @Test(.disabled(if: Sanitizer.isThread, "the thread sanitizer's own thread wakes ten times a second"))
  func `an idle watch wakes at most four times a second`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--timeout", "300s")
    try watcher.waitUntilWatching()
    _ = watcher.output.next(6)
    // The watch may still be busy after its start: the least of three measurements counts.
    let seconds = 4
    var fewest = Int.max
    for _ in 0..<3 where fewest > 4 * seconds {
      let before = try wakes(of: watcher.id)
      sleep(UInt32(seconds))
      fewest = min(fewest, try wakes(of: watcher.id) - before)
    }
    #expect(fewest <= 4 * seconds)
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
  }

  /// The number of voluntary context switches of all threads.
  private func wakes(of id: pid_t) throws -> Int {
    let folder = "/proc/\(id)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, thread in
      let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
  }
}

import Foundation
import TestSupport
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `The state at the start of a watch` {
  private func makeWorkspace(users: Int) throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      """
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(users))
      INSERT INTO users (name) SELECT 'user ' || n FROM n
      """)
    return workspace
  }

  /// The listener of the last line of a user.
  private static let lastListener = "ThirdScreen.background"

  private func lines(
    _ arguments: [String], columns: Int = 80, rows: Int, gate: String, then: String = "", in workspace: Workspace
  ) throws -> [String] {
    let session = try TerminalSession(
      ["watch", "--color", "always"] + arguments, columns: columns, rows: rows, in: workspace,
      [.wait(for: gate, then: then), .type("\u{3}")])
    #expect(session.status == 130)
    return String(decoding: session.outputBeforeLast, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func `on a terminal it is that of the users that fit, and the others are counted`() throws {
    let workspace = try makeWorkspace(users: 10_000)
    let lines = try lines([], rows: 24, gate: "--initial all", in: workspace)
    // Seven lines for each user.
    #expect(lines.count == 1 + 3 * 7 + 1, "\(lines)")
    #expect(lines[0].hasPrefix("watching all users") && lines.last == "and 9,997 more; --initial all prints them too")
  }

  @Test func `a signal while it is read leaves no wrong number behind`() throws {
    let workspace = try makeWorkspace(users: 60_000)
    for delay in 0..<8 {
      let session = try TerminalSession(
        ["watch"], columns: 80, rows: 24, in: workspace,
        [.run(["sleep", "0.0\(delay)"]), .signal(SIGINT)])
      let output = String(decoding: session.output, as: UTF8.self)
      #expect(!output.contains(" more; ") || output.contains("and 59,997 more; "), "\(delay): \(output)")
    }
  }

  @Test func `it fills a screen of any size, and has at least one user`() throws {
    let workspace = try makeWorkspace(users: 9)
    for (columns, rows) in [(80, 1), (80, 10), (80, 17), (20, 24), (7, 40), (200, 66), (1, 1)] {
      let (gate, then) = rows == 66 ? ("user 9", Self.lastListener) : ("--initial all", "")
      let lines = try lines([], columns: columns, rows: rows, gate: gate, then: then, in: workspace)
      let state = lines.filter { !$0.hasPrefix("watching") && !$0.hasPrefix("and ") && !$0.hasPrefix("\u{3}") }
      let height = state.reduce(0) { $0 + $1.rows(of: columns) }
      let first = state.prefix(7).reduce(0) { $0 + $1.rows(of: columns) }
      #expect(
        height <= max(first, rows - 3) && height > rows - 3 - 2 * first || rows == 66, "\(columns)×\(rows): \(lines)")
      #expect(rows != 66 || state.count == 9 * 7)
    }
  }

  @Test func `a user without a line is not counted`() throws {
    let workspace = try makeWorkspace(users: 100)
    for user in 50...99 { try workspace.run("set", "\(user)", "age=\(user)", "-q") }
    let lines = try lines(
      ["--listener", "A=age"], rows: 24, gate: "--initial all", in: workspace)
    #expect(lines.count == 1 + 2 * 10 + 1 && lines.last == "and 40 more; --initial all prints them too", "\(lines)")
  }

  @Test func `in a pipe, in JSON, and with --initial all it is whole`() throws {
    let workspace = try makeWorkspace(users: 50)
    let whole = ["--timeout", "300s", "--listener", "A=name"]
    for arguments in [["--format", "table"], [], ["--format", "csv"], ["--initial", "all"]] {
      let watcher = try workspace.start([Workspace.tool, "watch"] + arguments + whole)
      #expect(watcher.output.wait(for: "user 50"))
    }
    let all = try lines(["--initial", "all"], rows: 5, gate: "user 50", then: Self.lastListener, in: workspace)
    #expect(all.count == 1 + 50 * 7)
    #expect(try lines(["--format", "jsonl"], rows: 5, gate: "user 50", in: workspace).count > 50)
    let screen = try workspace.start([Workspace.tool, "watch", "--initial", "screen"] + whole)
    #expect(screen.errors.wait(for: "and 29 more; --initial all"))
    #expect(screen.output.next(21).count == 21)
  }

  @Test func `after a reset it is a screenful too, and one user is always whole`() throws {
    let workspace = try makeWorkspace(users: 30)
    try workspace.takePosition("--cursor-file", workspace.folder + "/cursor")
    try workspace.run("rename", "1", "later")
    try workspace.run("compact", "--keep", "0")
    let arguments = ["--cursor-file", workspace.folder + "/cursor"]
    let lines = try lines(arguments, rows: 12, gate: "--initial all", in: workspace)
    #expect(lines[1].hasPrefix("reset: compacted") && lines.last?.hasPrefix("and 29 more; ") ?? false, "\(lines)")
    let one = try self.lines(["1"], rows: 1, gate: Self.lastListener, in: workspace)
    #expect(one.count == 8 && !one.joined().contains("--initial"), "\(one)")
  }

  @Test func `both options for the state exclude each other`() throws {
    let outcome = try Workspace().run("watch", "--initial", "all", "--no-initial")
    #expect(outcome.status == 64 && outcome.errors.contains("--initial and --no-initial cannot be combined"))
  }

  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (9_987, "9,987"), (123_456, "123,456"),
    (1_000_000, "1,000,000"),
  ]) func `a large number has groups of three digits`(number: Int, text: String) {
    #expect(number.grouped == text)
  }
}

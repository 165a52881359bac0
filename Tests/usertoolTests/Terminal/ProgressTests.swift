import Foundation
import TestSupport
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Progress` {
  @Test func `an operation that counts users shows a line after a second, with the number, the rate, and the share`() {
    var line = ProgressLine(verb: "imported", start: 10_000, users: 0)
    #expect(line.text(at: 11_000) == nil && !line.hasShown)
    (line.users, line.fraction) = (900, 0.5)
    #expect(line.text(at: 10_999) == nil && !line.hasShown)
    line.users = 1_000
    #expect(line.text(at: 11_000) == "50%  imported 1000 users, 1000 per second" && line.hasShown)
    (line.users, line.fraction) = (3_000, nil)
    #expect(line.text(at: 12_000) == "imported 3000 users, 1500 per second")
  }

  @Test func `an operation that rarely reports progress shows a line with the elapsed time`() {
    var line = ProgressLine(verb: "checking", start: 10_000)
    #expect(line.text(at: 10_999) == nil && !line.hasShown)
    #expect(line.text(at: 11_000) == "checking, 1 s" && line.hasShown)
    line.fraction = 0.304
    #expect(line.text(at: 19_900) == "30%  checking, 9 s")
  }

  @Test func `on a terminal, a long command shows the elapsed time, and removes the line at the end`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    for number in 1...3 { try workspace.run("rename", "1", "NIX \(number)") }
    let holder = try workspace.python("db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.readline()")
    #expect(holder.output.next() == "held")
    let command = "'\(Workspace.tool)' --color never compact --keep 0 --busy-timeout 60s"
    let tool = try workspace.start(["script", "-qec", command, "/dev/null"], ["TERM": "xterm"])
    #expect(tool.output.wait(for: "\r\u{1B}[Kcompacting, "))
    holder.type("\n")
    #expect(holder.wait() == 0)
    let lines = Screen(String(decoding: tool.output.rest(), as: UTF8.self)).lines
    #expect(tool.wait() == 0)
    #expect(lines == ["WRITES  CHANGES  BYTES  HORIZON", "     4        5    639        9"])
  }

  @Test func `in a pipe, a long command shows no progress`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let holder = try workspace.python("db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.readline()")
    #expect(holder.output.next() == "held")
    let arguments = ["compact", "--keep", "0", "--busy-timeout", "1500ms"]
    let tool = try workspace.start([Workspace.tool] + arguments)
    #expect(tool.wait() == 5)
    let errors = String(decoding: tool.errors.rest(), as: UTF8.self)
    #expect(errors.hasPrefix("usertool: error: ") && !errors.contains("compacting"), "\(errors)")
    // Standard output may be a terminal.
    let session = try TerminalSession(
      arguments, redirection: "2> '\(workspace.folder)/errors'", columns: 80, rows: 10, in: workspace, [])
    #expect(session.status == 5 && session.output.isEmpty)
    #expect(workspace.bytes(of: "errors") == Data(errors.utf8))
  }

  @Test func `a long import shows no progress if standard error is not a terminal`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.write(Data(#"{"name":"NIX"}"#.utf8), to: "in.jsonl")
    let free = workspace.folder + "/free"
    let holder = try workspace.python(
      """
      import os, time
      db.execute('BEGIN IMMEDIATE'); print('held', flush=True)
      while not os.path.exists('\(free)'): time.sleep(0.01)
      """)
    #expect(holder.output.next() == "held")
    // The sleep gives a line that must not be shown the time to be due.
    let session = try TerminalSession(
      ["import", workspace.folder + "/in.jsonl", "--busy-timeout", "60s", "--color", "never"],
      redirection: "2> '\(workspace.folder)/errors'", columns: 80, rows: 10, in: workspace,
      [.run(["sleep", "1.5"]), .run(["touch", free])])
    #expect(session.status == 0 && holder.wait() == 0)
    let errors = try #require(workspace.bytes(of: "errors"))
    #expect(!errors.contains(0x1B), "\(String(decoding: errors, as: UTF8.self))")
  }
}

/// The lines that a terminal shows for a text, with the few control codes that the tool writes.
private struct Screen {
  private(set) var lines: [String] = []

  init(_ text: String) {
    var line: [Unicode.Scalar] = []
    var column = 0
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n":
        lines.append(String(String.UnicodeScalarView(line)))
        (line, column) = ([], 0)
      case "\u{1B}" where scalars.starts(with: "[K".unicodeScalars):
        scalars.removeFirst(2)
        line.removeSubrange(min(column, line.count)...)
      default:
        if column < line.count { line[column] = scalar } else { line.append(scalar) }
        column += 1
      }
    }
    if !line.isEmpty { lines.append(String(String.UnicodeScalarView(line))) }
  }
}

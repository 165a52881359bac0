import Foundation
import TestSupport
import Testing

/// `list --follow` on a terminal.
@Suite(.bounded, .serialized) struct `A list that is followed on a terminal` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    for (name, age) in [("NIX", 41), ("Zoë", 18), ("日本語", 30)] {
      try workspace.run("add", name, "--set", "age=\(age)")
    }
    return workspace
  }

  private static let list = ["list", "--where", "age>=18", "--sort", "age", "--follow", "--color", "never"]

  private func screen(_ bytes: [UInt8], columns: Int, rows: Int) -> TerminalScreen {
    TerminalScreen(bytes, columns: columns, rows: rows)
  }

  private static func tool(_ arguments: String...) -> TerminalSession.Action {
    .run([Workspace.tool] + arguments + ["--quiet"])
  }

  @Test func `the table is updated in place, and stays when Ctrl-C ends the command`() throws {
    let workspace = try makeWorkspace()
    let session = try TerminalSession(
      Self.list, columns: 60, rows: 12, in: workspace,
      [
        .wait(for: "rev 12"), Self.tool("set", "1", "age=20"), .wait(for: "rev 14"), Self.tool("rename", "2", "Zoe"),
        .wait(for: "rev 16"), Self.tool("set", "3", "age=1"), .wait(for: "rev 18"), .type("\u{3}"),
      ])
    #expect(session.status == 130)
    let screen = screen(session.output, columns: 60, rows: 12)
    #expect(
      screen.lines == [
        "ID  NAME  HAIR COLOR  age", " 2  Zoe                18", " 1  NIX                20",
        "2 users  rev 18  (Ctrl-C to stop)", "stopped at revision 18",
      ], "\(screen.lines)")
    #expect(screen.showsCursor && session.showsTyping)
    let before = self.screen(session.outputBeforeLast, columns: 60, rows: 12)
    #expect(!before.showsCursor && before.lines.count == 4)
  }

  @Test(
    arguments: [
      (.type("\u{3}"), 130), (.signal(SIGINT), 130), (.signal(SIGTERM), 143), (.signal(SIGHUP), 129),
    ] as [(TerminalSession.Action, Int32)])
  func `whatever ends the command, the terminal is as before, and typed text is discarded`(
    end: TerminalSession.Action, status: Int32
  ) throws {
    let workspace = try makeWorkspace()
    let session = try TerminalSession(
      Self.list, columns: 60, rows: 12, in: workspace, [.wait(for: "rev 12"), .type("rm -r x\n"), end])
    #expect(session.status == status && session.showsTyping && session.unread.isEmpty)
    let screen = screen(session.output, columns: 60, rows: 12)
    #expect(screen.showsCursor && screen.lines.last == "stopped at revision 12", "\(screen.lines)")
    #expect(!screen.lines.joined().contains("rm -r"))
  }

  @Test func `a timeout and an error leave a usable terminal too`() throws {
    let workspace = try makeWorkspace()
    let late = try TerminalSession(Self.list + ["--timeout", "1s"], columns: 60, rows: 12, in: workspace, [])
    #expect(late.status == 124 && late.showsTyping)
    #expect(screen(late.output, columns: 60, rows: 12).showsCursor)
    let failed = try TerminalSession(
      Self.list, columns: 60, rows: 12, in: workspace,
      [.wait(for: "rev 12"), .run(["sh", "-c", "rm '\(workspace.database)'*; echo x > '\(workspace.database)'"])])
    let shown = screen(failed.output, columns: 60, rows: 12)
    #expect(failed.status == 65 && failed.showsTyping && shown.showsCursor, "\(shown.lines)")
    #expect(shown.lines.contains { $0.hasPrefix("usertool: error: ") }, "\(shown.lines)")
  }

  @Test func `after a resize, the table fits again`() throws {
    let workspace = try makeWorkspace()
    for number in 1...20 { try workspace.run("add", "user \(number)", "--set", "age=50", "--set", "note=\(number)") }
    let session = try TerminalSession(
      Self.list, columns: 80, rows: 12, in: workspace,
      [
        .wait(for: "… 14 more"), .resize(columns: 34, rows: 6), .wait(for: "… 20 more"), .resize(columns: 80, rows: 30),
        .wait(for: "user 20"), .type("\u{3}"),
      ])
    let frames = String(decoding: session.output, as: UTF8.self).components(separatedBy: "\r\u{1B}[?7l")
    let small = frames.first { $0.contains("… 20 more") } ?? ""
    let lines = screen(Array(("\u{1B}[?7l" + small).utf8), columns: 34, rows: 6).lines
    #expect(lines.count == 6 && lines[0].hasSuffix("age"), "\(lines)")
    #expect(frames.last?.contains("user 20") ?? false, "\(frames.last ?? "")")
    #expect(session.status == 130)
  }

  @Test func `changed cells are marked for a moment, and only with colors`() throws {
    let workspace = try makeWorkspace()
    let colored = try TerminalSession(
      Self.list.dropLast(2) + ["--color", "always"], columns: 60, rows: 12, in: workspace,
      [
        .wait(for: "rev 12"), Self.tool("set", "1", "age=42"), .wait(for: "\u{1B}[7m 42\u{1B}[0m"),
        // Drawn once more when the mark ends.
        .wait(for: "  42"), .type("\u{3}"),
      ])
    #expect(colored.status == 130)
    #expect(screen(colored.output, columns: 60, rows: 12).marked.allSatisfy { $0 == " 42" })
    let plain = try TerminalSession(
      Array(Self.list.dropLast(2)), columns: 60, rows: 12, in: workspace, environment: ["NO_COLOR": "1"],
      [.wait(for: "rev 14"), Self.tool("set", "1", "age=43"), .wait(for: "rev 16"), .type("\u{3}")])
    #expect(!String(decoding: plain.output, as: UTF8.self).contains("m"), "no SGR code, in a table without an m")
  }

  @Test func `a hostile name acts neither on the terminal nor on the table`() throws {
    let workspace = try makeWorkspace()
    // The tool refuses such a name; other programs do not.
    try workspace.sqlite(
      """
      INSERT INTO users (name) VALUES (char(27, 91, 50, 74, 27) || '[?25h' || char(13, 10, 8238) || 'evil');
      INSERT INTO attributes SELECT max(id), 'age', 99 FROM users
      """)
    let session = try TerminalSession(
      Self.list, columns: 80, rows: 12, in: workspace, [.wait(for: "4 users"), .type("\u{3}")])
    let lines = screen(session.output, columns: 80, rows: 12).lines
    #expect(lines[4].contains(#"\u{1B}[2J\u{1B}[?25h\r\n\u{202E}evil"#), "\(lines)")
    #expect(lines.count == 7 && lines[5].hasPrefix("4 users"), "\(lines)")
  }

  @Test func `a terminal that cannot move the cursor gets JSON lines`() throws {
    let workspace = try makeWorkspace()
    let session = try TerminalSession(
      Self.list, columns: 80, rows: 12, in: workspace, environment: ["TERM": "dumb"],
      [.wait(for: "\"index\":2"), .type("\u{3}")])
    #expect(session.status == 130 && !session.output.contains(0x1B))
  }
}

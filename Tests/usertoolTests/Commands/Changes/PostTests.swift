import Foundation
import Testing
import UserStore

@Suite(.bounded, .serialized) struct `Post` {
  let workspace: Workspace

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "Zoë")
  }

  @Test func `an event is printed, kept, and delivered in order with the changes`() throws {
    let posted = try workspace.run("post", "invited", "--about", "Zoë", #"{"by":2}"#, "--format", "table")
    #expect(posted.status == 0 && posted.lines.count == 1)
    #expect(posted.lines[0].hasSuffix(#"user 1  event invited {"by":2}"#), "\(posted.lines)")
    try workspace.run("post", "restarted")
    try workspace.run("rename", "1", "x")
    let log = try workspace.run("log", "--format", "table").lines.suffix(3).map {
      $0.split(separator: "  ").dropFirst(2)
    }
    #expect(
      log.map { $0.joined(separator: "  ") } == [
        #"user 1  event invited {"by":2}"#, "event restarted", #"user 1  name "Zoë" → "x""#,
      ])
    let lines = try workspace.run("log", "--format", "jsonl", "--limit", "3").lines
    #expect(lines[0].contains(#""op":"event","event":"invited","user":1,"payload":"{\"by\":2}","at":"#))
    #expect(lines[1].contains(#""event":"restarted","user":null,"payload":null"#))
    let csv = try workspace.run("log", "--format", "csv").lines
    #expect(csv[3].hasPrefix("5,v1-") && csv[3].contains(#",event,1,invited,,"{""by"":2}","#), "\(csv)")
  }

  @Test func `a watch prints an event once, without a listener, and can choose events`() throws {
    let last = try #require(try workspace.run("log", "--format", "jsonl").lines.last)
    let start = try #require(last.split(separator: "\"").first { $0.hasPrefix("v1-") })
    try workspace.run("rename", "1", "x")
    try workspace.run("post", "invited", "--about", "1")
    try workspace.run("set", "1", "age=1")
    try workspace.run("rename", "1", "y")
    /// The operations of the first lines; the last of them is known, so that a line too many or too few shows.
    func watched(_ count: Int, _ options: String...) throws -> [String] {
      let outcome = try workspace.finish(
        [
          Workspace.tool, "watch", "--after", String(start), "--timeout", "60s", "--count", "\(count)", "--format",
          "jsonl",
        ]
          + options)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.lines.map { line in
        line.contains(#""event":"invited""#) ? "event" : line.contains(#""attribute":"age""#) ? "age" : "name"
      }
    }
    let names = ["name", "name", "name"]
    #expect(try watched(7) == names + ["event"] + names)
    let event = try workspace.finish(
      [Workspace.tool, "watch", "--after", String(start), "--timeout", "60s", "--count", "4", "--format", "jsonl"])
    #expect(event.lines.last?.hasSuffix(#""listener":null}"#) == true, "\(event)")
    #expect(try watched(4, "--per-change") == ["name", "event", "age", "name"])
    #expect(try watched(1, "--op", "event") == ["event"])
    #expect(try watched(2, "--attribute", "name", "--per-change") == ["name", "name"])
    #expect(try watched(4, "1", "--per-change") == ["name", "event", "age", "name"])
  }

  @Test func `a dry run posts nothing`() throws {
    let dry = try workspace.run("post", "invited", "--about", "1", "--dry-run", "--format", "table")
    #expect(dry.lines.count == 1 && dry.lines[0].contains("dry run") && dry.errors.contains("nothing was changed"))
    #expect(try workspace.run("log", "--format", "jsonl").lines.count == 2)
  }

  @Test(
    arguments: [
      ([""], 65, "cannot be empty"), (["a\u{1B}b"], 65, "control"), (["x", "--about", "nobody"], 3, "nobody"),
      (["x", "--about", "99"], 3, "99"), ([], 64, "event"),
    ] as [([String], Int32, String)])
  func `a bad event is refused, and nothing is written`(_ arguments: [String], _ status: Int32, _ text: String) throws {
    let outcome = try workspace.finish([Workspace.tool, "post"] + arguments)
    #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome)")
    #expect(try workspace.run("log", "--format", "jsonl").lines.count == 2)
  }

  @Test func `a hostile event does not reach the terminal`() throws {
    try workspace.sqlite(
      "INSERT INTO changes (op, old, new) VALUES (6, 'x' || char(27) || '[2J', char(27) || ']0;owned' || char(7) || char(10))"
    )
    let outcome = try workspace.finish(
      ["script", "-qec", "'\(Workspace.tool)' log --color never", "/dev/null"], [:], "")
    #expect(
      outcome.output.contains("event x") && !outcome.output.contains("\u{1B}[2J"), "\(outcome.output.debugDescription)")
    #expect(!outcome.output.contains("\u{1B}]0"))
    // In JSON, everything is escaped.
    #expect(try !workspace.run("log", "--format", "jsonl").output.contains("\u{1B}"))
  }
}

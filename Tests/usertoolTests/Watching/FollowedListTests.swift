import Foundation
import TestSupport
import Testing

/// `list --follow` in a pipe.
@Suite(.bounded) struct `A list that is followed in a pipe` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    for (name, age) in [("NIX", 41), ("Zoë", 18), ("Ann", 3)] { try workspace.run("add", name, "--set", "age=\(age)") }
    return workspace
  }

  private func follow(_ workspace: Workspace, _ further: String...) throws -> Child {
    let child = try workspace.start(
      [Workspace.tool, "list", "--where", "age>=18", "--sort", "age", "--follow"] + further)
    try child.waitUntilWatching()
    return child
  }

  /// Lines without their cursors, which differ in each run; `cursor` stands for one.
  private func lines(_ count: Int, of child: Child) -> [String] {
    child.output.next(count).map { $0.replacing(#/"cursor":"v1-[^"]*"/#, with: "cursor") }
  }

  @Test func `the rows come first, then a line for each step, and the last line of a version has a cursor`() throws {
    let workspace = try makeWorkspace()
    let child = try follow(workspace)
    #expect(
      lines(2, of: child) == [
        #"{"revision":12,"op":"snapshot","index":0,"user":2,"record":{"id":2,"name":"Zoë","hair_color":null,"age":18}}"#,
        #"{"revision":12,cursor,"op":"snapshot","index":1,"user":1,"record":{"id":1,"name":"NIX","hair_color":null,"age":41}}"#,
      ])
    try workspace.run("set", "3", "age=20", "note=x")
    #expect(
      lines(1, of: child) == [
        #"{"revision":15,cursor,"op":"insert","index":1,"user":3,"record":{"id":3,"name":"Ann","hair_color":null,"age":20,"note":"x"}}"#
      ])
    try workspace.run("set", "3", "--unset", "note")
    #expect(
      lines(1, of: child) == [
        #"{"revision":17,cursor,"op":"update","index":1,"user":3,"changed":{"note":null},"record":{"id":3,"name":"Ann","hair_color":null,"age":20}}"#
      ])
    try workspace.run("set", "2", "age=50")
    #expect(
      lines(1, of: child) == [
        #"{"revision":19,cursor,"op":"move","from":0,"index":2,"user":2,"changed":{"age":50},"record":{"id":2,"name":"Zoë","hair_color":null,"age":50}}"#
      ])
    try workspace.sqlite("UPDATE attributes SET value = 1 WHERE name = 'age' AND user_id IN (1, 3)")
    let removed = lines(2, of: child)
    #expect(removed.count { $0.contains("cursor") } == 1 && removed[1].contains("cursor"))
    #expect(removed[0].hasSuffix(#""op":"remove","index":1,"user":1}"#), "\(removed)")
    #expect(removed[1].hasSuffix(#""op":"remove","index":0,"user":3}"#), "\(removed)")
    child.send(SIGINT)
    #expect(child.wait() == 130 && child.output.rest().isEmpty)
    #expect(String(decoding: child.errors.rest(), as: UTF8.self).hasPrefix("stopped at revision "))
  }

  @Test func `a limit is kept, and the next user moves up`() throws {
    let workspace = try makeWorkspace()
    let child = try follow(workspace, "--limit", "1")
    #expect(lines(1, of: child)[0].contains(#""index":0,"user":2"#))
    try workspace.run("remove", "2", "--yes")
    let steps = lines(2, of: child)
    #expect(steps[0].hasSuffix(#""op":"remove","index":0,"user":2}"#), "\(steps)")
    #expect(steps[1].contains(#"cursor,"op":"insert","index":0,"user":1"#), "\(steps)")
    child.send(SIGTERM)
    #expect(child.wait() == 143)
  }

  @Test func `in JSON, all lines are one array`() throws {
    let workspace = try makeWorkspace()
    let child = try follow(workspace, "--format", "json")
    #expect(child.output.next(2).count == 2)
    child.send(SIGINT)
    #expect(child.wait() == 130)
    let empty = try workspace.run("list", "--follow", "--where", "age>99", "--format", "json", "--timeout", "2s")
    #expect(empty.status == 124 && empty.lines.count == 3 && empty.lines[1].contains(#""op":"empty""#), "\(empty)")
  }

  @Test func `a version without rows is a line with the cursor`() throws {
    let workspace = try makeWorkspace()
    let child = try follow(workspace, "--where", "age>99")
    #expect(lines(1, of: child) == [#"{"revision":12,cursor,"op":"empty"}"#])
    try workspace.run("set", "3", "age=100")
    #expect(lines(1, of: child)[0].contains(#"cursor,"op":"insert","index":0,"user":3"#))
    child.send(SIGINT)
    #expect(child.wait() == 130)
  }

  @Test func `after a reset to an empty list, a line has the cursor`() throws {
    let workspace = try makeWorkspace()
    let backup = workspace.folder + "/backup.db"
    try workspace.run("backup", backup)
    try workspace.run("set", "3", "age=100")
    let child = try follow(workspace, "--where", "age>99")
    #expect(lines(1, of: child)[0].contains(#"cursor,"op":"snapshot","index":0,"user":3"#))
    try #require(workspace.run("restore", backup, "--yes").status == 0)
    let lines = lines(2, of: child)
    #expect(
      lines[0] == #"{"op":"reset","reason":"diverged"}"# && lines[1].hasSuffix(#"cursor,"op":"empty"}"#), "\(lines)")
    child.send(SIGINT)
    #expect(child.wait() == 130)
  }

  @Test func `a count is printed each time it changes`() throws {
    let workspace = try makeWorkspace()
    let child = try workspace.start("list", "--where", "age>=18", "--count", "--follow", "--format", "jsonl")
    #expect(child.output.next() == #"{"count":2}"#)
    try workspace.run("set", "3", "age=100")
    #expect(child.output.next() == #"{"count":3}"#)
    try workspace.run("rename", "3", "Anne")
    try workspace.run("remove", "2", "--yes")
    #expect(child.output.next() == #"{"count":2}"#)
    child.send(SIGINT)
    #expect(child.wait() == 130 && child.output.rest().isEmpty)
    #expect(
      String(decoding: child.errors.rest(), as: UTF8.self)
        == "watching the number of users (Ctrl-C to stop)\nstopped\n")
    for (format, output) in [("plain", "2\n"), ("csv", "count\n2\n"), ("json", "[\n{\"count\":2}\n]\n")] {
      let outcome = try workspace.run("list", "--count", "--follow", "--timeout", "2s", "--format", format)
      #expect(outcome.status == 124 && outcome.output == output, "\(outcome)")
    }
  }

  @Test func `a count follows the file that takes the place of the database`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("backup", workspace.folder + "/backup.db")
    try workspace.run("add", "Zora")
    let child = try workspace.start("list", "--count", "--follow")
    #expect(child.output.next() == "4")
    try workspace.finish([
      "sh", "-c", "cd '\(workspace.folder)'; rm -f users.db-wal users.db-shm; mv backup.db users.db",
    ])
    #expect(child.output.next() == "3")
    child.send(SIGTERM)
    #expect(child.wait() == 143)
  }

  @Test func `an attribute that nobody has is noted, and the list waits for it`() throws {
    let workspace = try makeWorkspace()
    let child = try workspace.start("list", "--where", "agee=1", "--follow")
    #expect(child.errors.next() == #"no user has "agee" (did you mean "age"?)"#)
    try child.waitUntilWatching()
    try workspace.run("set", "1", "agee=1")
    #expect(lines(2, of: child).last?.contains(#""op":"insert","index":0,"user":1"#) ?? false)
    child.send(SIGINT)
    #expect(child.wait() == 130)
  }

  @Test(arguments: ["replaced", "diverged"]) func `after another file or log, the rows are printed again`(
    reason: String
  ) throws {
    let workspace = try makeWorkspace()
    let backup = workspace.folder + "/backup.db"
    try workspace.run("backup", backup)
    let child = try follow(workspace)
    #expect(child.output.next(2).count == 2)
    if reason == "replaced" {
      try workspace.finish([
        "sh", "-c", "cd '\(workspace.folder)'; rm -f users.db-wal users.db-shm; mv backup.db users.db",
      ])
    } else {
      try #require(workspace.run("restore", backup, "--yes").status == 0)
    }
    let lines = lines(3, of: child)
    #expect(lines[0] == #"{"op":"reset","reason":"\#(reason)"}"#, "\(lines)")
    #expect(lines[1].contains(#""op":"snapshot","index":0,"user":2"#), "\(lines)")
    try workspace.run("rename", "1", "Nix")
    #expect(child.output.next()?.contains(#""op":"update","index":1,"user":1,"changed":{"name":"Nix"}"#) ?? false)
    child.send(SIGINT)
    #expect(child.wait() == 130)
  }

  @Test func `a reader that goes away ends the command silently`() throws {
    let workspace = try makeWorkspace()
    let child = try follow(workspace)
    child.output.closeEnd()
    #expect(child.wait() == 141 && child.errors.rest().isEmpty)
  }
}

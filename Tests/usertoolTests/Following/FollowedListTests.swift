import Foundation
import TestSupport
import Testing

/// `list --follow` in a pipe.
@Suite(.bounded, .serialized) struct `A list that is followed in a pipe` {
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

  @Test func `lists and counts that start beside a program that never stops to write are exact when it stops`() throws {
    let workspace = try Workspace()
    for number in 0..<20 { try workspace.run("add", "user \(number)", "--set", "age=17", "-q") }
    let writer = try workspace.python(
      """
      import itertools, random, select
      db.execute("PRAGMA busy_timeout=60000")
      db.execute("PRAGMA synchronous=OFF")
      for number in itertools.count(1):
        db.execute("UPDATE attributes SET value = ? WHERE user_id = ? AND name = 'age'",
          (random.choice([17, 18, 40]), random.randint(1, 20)))
        if number == 2: print("writing", flush=True)
        if select.select([sys.stdin], [], [], 0)[0]: break
      """)
    #expect(writer.output.next() == "writing")
    let lists = try (0..<6).map { _ in try follow(workspace) }
    let counts = try (0..<6).map { _ in try workspace.start("list", "--where", "age>=18", "--count", "--follow") }
    for count in counts { #expect(count.output.next() != nil) }
    writer.endInput()
    #expect(writer.wait() == 0)
    try workspace.run("add", "last", "--set", "age=99", "-q")
    let expected = try workspace.run("list", "--where", "age>=18", "--sort", "age", "--format", "jsonl").lines.map {
      try JSONDecoder().decode(Row.self, from: Data($0.utf8)).id
    }
    for list in lists {
      var rows: [Int] = []
      while rows.last != expected.last {
        let step = try JSONDecoder().decode(Step.self, from: Data((list.output.next() ?? "").utf8))
        step.apply(to: &rows)
      }
      #expect(rows == expected)
    }
    for count in counts {
      // The last change is that of the user who was added last.
      while let line = count.output.next(), line != "\(expected.count)" {}
      count.send(SIGINT)
      #expect(
        (count.output.rest().split(separator: 0x0A).last.map { String(decoding: $0, as: UTF8.self) }
          ?? "\(expected.count)") == "\(expected.count)")
    }
  }

  private struct Row: Decodable { let id: Int }

  /// A line of a followed list.
  private struct Step: Decodable {
    let op: String
    let index: Int?
    let from: Int?
    let user: Int?

    func apply(to rows: inout [Int]) {
      guard let index, let user else { return }
      switch op {
      case "snapshot", "insert": rows.insert(user, at: index)
      case "remove": rows.remove(at: index)
      case "move": rows.insert(rows.remove(at: from ?? index), at: index)
      default: break
      }
    }
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
    let empty = try workspace.endedAfter("}", "list", "--follow", "--where", "age>99", "--format", "json")
    #expect(empty.status == 130 && empty.lines.count == 3 && empty.lines[1].contains(#""op":"empty""#), "\(empty)")
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
      let outcome = try workspace.endedAfter("2", "list", "--count", "--follow", "--format", format)
      #expect(outcome.status == 130 && outcome.output == output, "\(outcome)")
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

import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Importing` {
  private func importing(_ text: String, as name: String = "in.jsonl", _ options: String..., in workspace: Workspace)
    throws -> Workspace.Outcome
  {
    try workspace.write(Data(text.utf8), to: name)
    return try workspace.finish([Workspace.tool, "import", workspace.folder + "/" + name] + options)
  }

  /// Fields of each line of the rejects, as Python reads them.
  private func read(_ rejects: String, _ fields: String, in workspace: Workspace) throws -> [String] {
    let program = "import json; [print(\(fields)) for r in map(json.loads, open('\(rejects)'))]"
    return try workspace.finish([Child.python, "-c", program]).lines
  }

  @Test func `import adds users with new ids in one change set`() throws {
    let workspace = try Workspace()
    let outcome = try importing(
      """
      {"id":7,"name":"A","hair-color":"auburn","age":41,"real":1.0,"yes":true,"gone":null,"photo":{"base64":"AP8="}}

       { "name" : "B\\u00e9\\ud83d\\ude00\\/" }\u{20}
      """, in: workspace)
    #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
    let note = "note: the ids in the file are not used: each record adds a user with a new id (--update, --keep-ids)"
    #expect(outcome.errors == "created \(workspace.database)\n\(note)\nimported 2 users as one change set\n")
    #expect(
      try workspace.run("list").output
        == "1\tA\t#a52a2a\tage=41\tphoto={\"base64\":\"AP8=\"}\treal=1.0\tyes=1\n2\tBé😀/\t\n")
    #expect(try workspace.sqlite("SELECT count(*) FROM changes WHERE op = 0").output == "1\n")
  }

  @Test func `CSV needs only names, and may have a byte order mark, CRLF and quoted line breaks`() throws {
    let workspace = try Workspace()
    let outcome = try importing(
      "\u{FEFF}\"name\",age,hair-color,note\r\n\"O'Hara, \"\"Bob\"\"\",41,auburn,\"a\r\nb\"\r\n\r\n7,007,,:=7",
      as: "in.csv", in: workspace)
    #expect(outcome.status == 0 && outcome.errors.hasSuffix("imported 2 users as one change set\n"), "\(outcome)")
    #expect(
      try workspace.run("list", "--format", "jsonl").output == """
        {"id":1,"name":"O'Hara, \\"Bob\\"","hair_color":"#a52a2a","age":41,"note":"a\\r\\nb"}
        {"id":2,"name":"7","hair_color":null,"age":"007","note":"7"}

        """)
  }

  @Test func `with --keep-ids, import keeps the ids, and rejects an id that exists`() throws {
    let workspace = try Workspace()
    #expect(try importing("{\"id\":40,\"name\":\"A\"}", "--keep-ids", in: workspace).status == 0)
    #expect(try workspace.run("add", "B").output == "41\n")
    let before = try workspace.dump()
    let taken = try importing("{\"id\":1,\"name\":\"x\"}\n{\"id\":40,\"name\":\"y\"}", "--keep-ids", in: workspace)
    #expect(taken.status == 65 && taken.errors.contains("in.jsonl:2: user 40 already exists"), "\(taken)")
    let none = try importing("{\"name\":\"x\"}", "--keep-ids", in: workspace)
    #expect(none.status == 65 && none.errors.contains("in.jsonl:1: the record has no id"), "\(none)")
    #expect(try workspace.dump() == before)
  }

  @Test func `with --update, import updates only the named attributes, null removes them, and new users are added`()
    throws
  {
    let workspace = try Workspace()
    try workspace.run("add", "A", "--set", "age=1", "--set", "note=x", "--hair-color", "red")
    try workspace.run("add", "B")
    let outcome = try importing(
      """
      {"id":1,"age":2,"note":null}
      {"id":2,"name":"B"}
      {"id":9,"name":"C"}
      {"name":"D"}
      """, "--update", in: workspace)
    #expect(outcome.errors == "imported 4 users (2 added, 1 changed) as one change set\n")
    #expect(try workspace.run("list").output == "1\tA\t#ff0000\tage=2\n2\tB\t\n9\tC\t\n10\tD\t\n")
    let same = try importing("{\"id\":2,\"name\":\"B\"}", "--update", in: workspace)
    #expect(same.status == 0 && same.errors == "nothing was changed: 1 user (0 added, 0 changed)\n")
    // In CSV, an empty field removes the attribute.
    _ = try importing("id,age\n1,\n", as: "in.csv", "--update", in: workspace)
    #expect(try workspace.run("get", "1").output == "1\tA\t#ff0000\n")
  }

  @Test func `a dry run reports the result, and changes nothing, even if the database is missing`() throws {
    let workspace = try Workspace()
    let record = "{\"name\":\"A\"}"
    #expect(try importing(record, "-n", in: workspace).errors == "dry run: would import 1 user; nothing was changed\n")
    #expect(workspace.bytes() == nil)
    try workspace.run("add", "A")
    let before = try workspace.dump()
    #expect(try importing(record, "-n", in: workspace).status == 0)
    #expect(try importing(record + "\n{}", "-n", in: workspace).status == 65)
    #expect(try workspace.dump() == before)
  }

  @Test func `standard input is read to its end before the database is locked`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let importer = try workspace.start("import", "-")
    importer.type("{\"name\":\"A\"}\n")
    // Others can write while it waits for the rest.
    #expect(try workspace.run("add", "B", "--busy-timeout", "0s").output == "1\n")
    importer.type("{\"name\":\"C\"}\n")
    importer.endInput()
    #expect(importer.wait() == 0)
    #expect(try workspace.run("list").output == "1\tB\t\n2\tA\t\n3\tC\t\n")
  }

  @Test func `each batch is a change set, and an error keeps the batches before it`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let good = (1...7).map { "{\"name\":\"u\($0)\"}\n" }.joined()
    let outcome = try importing(good, "--batch", "3", in: workspace)
    #expect(outcome.errors == "imported 7 users as 3 change sets\n")
    #expect(try workspace.sqlite("SELECT count(*) FROM changes WHERE op = 0").output == "3\n")
    let bad = try importing(good + "{\"name\":\"\"}\n", "--batch", "3", in: workspace)
    #expect(bad.status == 65 && bad.errors.contains("in.jsonl:8: a name cannot be empty"), "\(bad)")
    #expect(bad.errors.contains("the 6 users up to line 6 were imported"), "\(bad)")
    #expect(try workspace.sqlite("SELECT count(*) FROM users").output == "13\n")
  }

  @Test func `bad records can be skipped, and saved unchanged with the reason`() throws {
    let workspace = try Workspace()
    let lines = [
      "{\"name\":\"A\"}", "{\"name\":\"B\",\"a\":[1]}", "{\"name\":\"\",\"age\":1}", "{\"name\":\"C\"}", "{\"na",
    ]
    let text = lines.joined(separator: "\n")
    let reported = try importing(text, "--skip-bad", in: workspace)
    #expect(reported.status == 0)
    #expect(reported.errors.contains("usertool: skipped \(workspace.folder)/in.jsonl:3: a name cannot be empty\n"))
    #expect(reported.errors.hasSuffix("imported 2 users (3 skipped) as one change set\n"), "\(reported)")
    let rejects = workspace.folder + "/rejects.jsonl"
    let saved = try importing(text, "--rejects", rejects, in: workspace)
    #expect(saved.errors == "imported 2 users (3 skipped) as one change set\n")
    let written = try read(rejects, "r['line'], r['column'], r['record']", in: workspace)
    #expect(written == ["2 17 " + lines[1], "3 None " + lines[2], "5 5 " + lines[4]])
    let again = try importing(text, "--rejects", rejects, in: workspace)
    #expect(again.status == 73 && again.errors.contains("already exists"))
    #expect(try workspace.run("list").lines.count == 4)
  }

  @Test func `in CSV, only the bad record is skipped, including the lines inside its quotes`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let text = "name,note\nA,5\" disk\nB,\"x\ny\",z\nC,\"two\nlines\"\nD\nE,ok\n"
    let rejects = workspace.folder + "/rejects.jsonl"
    let outcome = try importing(text, as: "in.csv", "--rejects", rejects, in: workspace)
    #expect(outcome.errors == "imported 2 users (3 skipped) as one change set\n", "\(outcome)")
    let written = try read(rejects, "r['line'], repr(r['record'])", in: workspace)
    #expect(written == ["2 'A,5\" disk'", "3 'B,\"x\\ny\",z'", "7 'D'"])
    #expect(try workspace.run("list").output == "1\tC\t\tnote=two\\nlines\n2\tE\t\tnote=ok\n")
  }

  @Test func `a watch prints an import like any other write`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let watcher = try workspace.start("watch", "--listener", "A=name", "--no-initial", "--count", "3000")
    try watcher.waitUntilWatching()
    let text = (1...3_000).map { "{\"name\":\"u\($0)\"}\n" }.joined()
    #expect(try importing(text, in: workspace).status == 0)
    let lines = watcher.output.next(3_000)
    let decoded = try lines.map { try Line.decode($0) }
    #expect(decoded.map(\.new) == (1...3_000).map { .text("u\($0)") })
    #expect(Set(decoded.map(\.revision)).count == 1)
    #expect(watcher.wait() == 0)
  }
}

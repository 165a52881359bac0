import Foundation
import Testing

/// `list` with conditions, an order, and pages.
@Suite(.bounded, .serialized) struct `Listing by a query` {
  private func makeWorkspace() throws -> Workspace { try Workspace(Self.files.get()) }

  private static let files = Result {
    let workspace = try Workspace()
    let users: [(name: String, attributes: [String])] = [
      ("Zoë", ["age=41", "note=abc"]), ("NIX", ["age=18"]), ("Zora", ["age:=18"]), ("O'Hara", ["age=17.5"]),
      ("Ann", ["note=xabcx", "hair_color=auburn"]), ("Zoe", ["age=41"]),
    ]
    try workspace.run("init")
    for user in users {
      try workspace.finish([Workspace.tool, "add", user.name] + user.attributes.flatMap { ["--set", $0] })
    }
    return try workspace.files()
  }

  private func ids(_ arguments: String..., in workspace: Workspace) throws -> [String] {
    let outcome = try workspace.finish([Workspace.tool, "list", "--format", "plain"] + arguments)
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.lines.map { String($0.split(separator: "\t")[0]) }
  }

  @Test(arguments: [
    ("age>=18", ["1", "2", "6"]), ("age<18", ["4"]), ("age:>=1", ["3"]), ("age!=41", ["2", "3", "4", "5"]),
    ("name^=Zo", ["1", "3", "6"]), ("note*=abc", ["1", "5"]), ("hair_color=auburn", ["5"]), ("id>4", ["5", "6"]),
    ("name<O", ["2", "5"]),
  ]) func `where compares within a class`(condition: String, expected: [String]) throws {
    let workspace = try makeWorkspace()
    #expect(try ids("--where", condition, in: workspace) == expected)
    let count = try workspace.run("list", "--count", "--where", condition)
    #expect(count.output == "\(expected.count)\n")
    #expect(try workspace.run("export", "--where", condition).lines.count == expected.count)
  }

  @Test func `several conditions must all hold`() throws {
    let workspace = try makeWorkspace()
    #expect(try ids("--where", "age>17", "--where", "name^=Z", in: workspace) == ["1", "6"])
    #expect(try ids("--with", "note", in: workspace) == ["1", "5"])
    #expect(try ids("--with", "note", "--without", "hair-color", in: workspace) == ["1"])
    #expect(try ids("--without", "age", in: workspace) == ["5"])
  }

  @Test func `users are sorted by several attributes, and those without are last in both directions`() throws {
    let workspace = try makeWorkspace()
    #expect(try ids("--sort", "age", "--sort", "name", in: workspace) == ["4", "2", "6", "1", "3", "5"])
    #expect(try ids("--sort", "age:desc", "--sort", "name:asc", in: workspace) == ["3", "6", "1", "2", "4", "5"])
    #expect(try ids("--sort", "id:desc", in: workspace) == ["6", "5", "4", "3", "2", "1"])
  }

  @Test(arguments: [[], ["--sort", "age:desc", "--sort", "name"], ["--sort", "note", "--where", "id>1"]])
  func `each page starts where the note of the page before says`(arguments: [String]) throws {
    let workspace = try makeWorkspace()
    let whole = try workspace.finish([Workspace.tool, "list"] + arguments).lines
    var pages: [String] = []
    var next = ""
    repeat {
      // The note is typed at a shell as it is.
      let words = arguments.map { "'\($0)'" }.joined(separator: " ")
      let page = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' list \(words) --limit 2 \(next)"])
      #expect(page.status == 0 && page.lines.count <= 2, "\(page)")
      pages += page.lines
      let more = page.errors.split(separator: "\n").last.map(String.init) ?? ""
      next = more.hasPrefix("more: ") ? String(more.dropFirst(6)) : ""
    } while !next.isEmpty
    #expect(pages == whole)
  }

  @Test func `only a page that is followed by another one has a note`() throws {
    let workspace = try makeWorkspace()
    #expect(try workspace.run("list", "--limit", "6").errors.isEmpty)
    #expect(try workspace.run("list", "--limit", "5").errors == "more: --after 5\n")
    #expect(try workspace.run("list", "--limit", "5", "--quiet").errors.isEmpty)
    #expect(try workspace.run("list", "--limit", "\(Int.max)").lines.count == 6)
    #expect(try ids("--limit", "2", "--after", "99", in: workspace) == [])
  }

  @Test func `a count is a number, or an object in JSON`() throws {
    let workspace = try makeWorkspace()
    #expect(try workspace.run("list", "--count").output == "6\n")
    for format in ["json", "jsonl"] {
      #expect(try workspace.run("list", "--count", "--format", format).output == "{\"count\":6}\n")
    }
    #expect(try workspace.run("list", "--count", "--format", "csv").output == "count\n6\n")
  }

  @Test(arguments: [
    (["--limit", "0"], "--limit must be 1 or more"), (["--limit", "-1"], "--limit"),
    (["--count", "--limit", "1"], "--count and --limit cannot be combined"),
    (["--count", "--sort", "age"], "--count and --sort cannot be combined"),
    (["--timeout", "1s"], "needs --follow"),
    (["--follow", "--format", "csv"], "--follow has no format csv"),
    (["--follow", "--format", "table"], "only on a terminal: use --format jsonl"),
    (["--sort", "age", "--sort", "age:desc"], "\"age\" is given twice"),
    (["--where", "age"], "the operator is missing"),
  ]) func `options that make no sense are usage errors`(arguments: [String], message: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish([Workspace.tool, "list"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(message) && outcome.output.isEmpty, "\(outcome)")
  }

  @Test func `a mistake in a condition is shown with a caret and a correction`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("list", "--where", "age=>18")
    #expect(
      outcome.errors.hasPrefix(
        """
        usertool: error: --where: there is no operator =>
          age=>18
             ^^
        usertool: hint: did you mean --where 'age>=18'?
        """), "\(outcome)")
    #expect(outcome.status == 64)
    let note = try workspace.run("list", "--where", "id=x")
    #expect(note.status == 0 && note.errors == "note: no user can meet id=x: an id is a number\n", "\(note)")
  }

  @Test func `an attribute that nobody has is noted, also for a count and a limit`() throws {
    let workspace = try makeWorkspace()
    let note = "no user has \"agee\" (did you mean \"age\"?)\n"
    for arguments in [
      ["--where", "agee>1"], ["--count", "--where", "agee>1"], ["--with", "agee"], ["--without", "agee"],
      ["--where", "agee!=1", "--limit", "6"], ["--sort", "agee:desc"], ["--count", "--without", "agee"],
      ["--count", "--where", "agee!=1"],
    ] {
      #expect(try workspace.finish([Workspace.tool, "list"] + arguments).errors == note, "\(arguments)")
    }
    #expect(try workspace.run("list", "--where", "age>99", "--sort", "note").errors.isEmpty)
  }

  @Test func `with an index, a note reads only some users`() throws {
    let workspace = try makeWorkspace()
    try workspace.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
      INSERT INTO users (name) SELECT 'user ' || i FROM n;
      INSERT INTO attributes SELECT max(id), 'rare', 1 FROM users
      """)
    // Without an index, the list has read all users, and the note may too.
    #expect(try workspace.run("list", "--where", "age=99", "--where", "rare=2").errors.isEmpty)
    try workspace.run("index", "add", "age")
    #expect(
      try workspace.run("list", "--where", "age=99", "--where", "rare=2").errors
        == "none of the first 10000 users has \"rare\"\n")
    try workspace.run("index", "add", "rare")
    #expect(try workspace.run("list", "--where", "age=99", "--where", "rare=2").errors.isEmpty)
  }
}

import TestSupport
import Testing

/// Mistakes of people who tried `list` and `index`.
@Suite(.bounded, .serialized) struct `Mistakes in lists` {
  private func makeWorkspace() throws -> Workspace { try Workspace(Self.files.get()) }

  private static let files = Result {
    let workspace = try Workspace()
    for (name, values) in [("Ann", ["age=41", "city=Ulm"]), ("Zoë", ["age=18"]), ("NIX", ["age=7", "city=Bonn"])] {
      try workspace.finish([Workspace.tool, "add", name] + values.flatMap { ["--set", $0] })
    }
    return try workspace.files()
  }

  /// What a command shows on a terminal of the given width.
  private func lines(_ arguments: String, columns: Int = 80, in workspace: Workspace) throws -> [String] {
    let command = "stty cols \(columns); '\(Workspace.tool)' \(arguments) --color never"
    let outcome = try workspace.finish(["script", "-qec", command, "/dev/null"], ["TERM": "xterm"])
    return outcome.output.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test(arguments: [
    (["--where", "age!>18"], "there is no operator !>", "--where 'age<=18'"),
    (["--where", "18<=age"], "the attribute goes on the left", "--where 'age>=18'"),
    (["--sort", "age,name"], "no user has \"age,name\"", "--sort age --sort name"),
    (["--sort", "age desc"], "no user has \"age desc\"", "--sort age:desc"),
  ]) func `an attribute that looks like a mistake is an error if no user has it`(
    arguments: [String], message: String, meant: String
  ) throws {
    let workspace = try makeWorkspace()
    let isSort = arguments[0] == "--sort"
    for further in [[], isSort ? ["--limit", "1"] : ["--count"], ["--follow"]] {
      let outcome = try workspace.finish([Workspace.tool, "list"] + arguments + further)
      #expect(outcome.status == 64 && outcome.output.isEmpty && outcome.errors.contains(message), "\(outcome)")
      #expect(outcome.errors.hasSuffix("hint: did you mean \(meant)?\n"), "\(outcome)")
    }
    if !isSort { #expect(try workspace.finish([Workspace.tool, "export"] + arguments).status == 64) }
    let names = ["age!", "18", "age,name", "age desc"]
    try workspace.finish([Workspace.tool, "add", "x"] + names.flatMap { ["--set", "\($0)=x"] })
    #expect(try workspace.finish([Workspace.tool, "list"] + arguments).status == 0)
  }

  @Test(arguments: [
    ("name=\"Ann\"", "note: the quotes in name=\"Ann\" are a part of the value (did you mean --where 'name=Ann'?)"),
    ("city=null", "note: city=null finds the text \"null\"; --without city finds users without the attribute"),
    ("city=", "note: city= finds the text \"\"; --without city finds users without the attribute"),
    ("age>=x", "note: age>=x compares text, but \"age\" has numbers"),
    ("age:=41", "note: age:=41 compares text, but \"age\" has numbers"),
  ]) func `a condition that nobody meets has a hint`(condition: String, hint: String) throws {
    let workspace = try makeWorkspace()
    for further in [[], ["--count"]] {
      let outcome = try workspace.finish([Workspace.tool, "list", "--where", condition] + further)
      #expect(outcome.status == 0 && outcome.errors == hint + "\n", "\(outcome)")
    }
    let child = try workspace.start("list", "--where", condition, "--follow")
    #expect(child.errors.next() == hint)
    child.send(15)
    #expect(child.wait() == 143)
    #expect(try workspace.run("list", "--where", condition, "--quiet").errors.isEmpty)
    let quoted = "'" + condition + "'"
    #expect(try lines("list --where \(quoted)", in: workspace) == ["no user matches", hint])
    // With a user who meets it, it is no mistake.
    try workspace.sqlite(
      """
      INSERT INTO users (name) VALUES ('"Ann"');
      INSERT INTO attributes SELECT max(id), 'age', '41' FROM users;
      INSERT INTO attributes SELECT max(id), 'city', \(condition == "city=" ? "''" : "'null'") FROM users
      """)
    if condition != "age>=x" {
      let outcome = try workspace.run("list", "--where", condition)
      #expect(outcome.errors.isEmpty && outcome.lines.count == 1, "\(outcome)")
    }
  }

  @Test(arguments: [
    ("list --sort -age", "did you mean --sort age:desc?"),
    ("list --sort -age,name", "did you mean --sort age:desc --sort name?"),
    ("list --json", "did you mean --format json?"),
    ("list 'age>=18'", "did you mean: usertool list --where 'age>=18'"),
    ("list --count 'age>=18' city=Ulm", "did you mean: usertool list --where 'age>=18' --where 'city=Ulm' --count"),
    ("list age '>=' 18", "did you mean: usertool list --where 'age>=18'"), ("list Ann", "see usertool list --help"),
    ("index rm age", "did you mean: usertool index remove age"),
    ("index ad age", "did you mean: usertool index add age"),
    ("index age", "see usertool index --help"),
  ]) func `the hint has the command line that was probably meant`(command: String, hint: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(command)"])
    #expect(outcome.status == 64 && outcome.errors.hasSuffix("usertool: hint: \(hint)\n"), "\(outcome)")
  }

  @Test func `as many conditions as the limit says can be given`() throws {
    let workspace = try makeWorkspace()
    for condition in ["age>1", "age!=1"] {
      let conditions = Array(repeating: ["--where", condition], count: 500).flatMap { $0 }
      #expect(try workspace.finish([Workspace.tool, "list", "--count"] + conditions).output == "3\n")
      let more = try workspace.finish([Workspace.tool, "list"] + conditions + ["--with", "age"])
      #expect(more.errors.contains("at most 500 parts, not 501"), "\(more)")
    }
  }

  @Test func `an attribute that only a listed user has is known, however many users there are`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    // More than are looked at for a note.
    try workspace.sqlite(
      """
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10003)
      INSERT INTO users (name) SELECT 'user ' || n FROM n;
      INSERT INTO attributes VALUES (10002, 'city', 'Ulm'), (10003, 'city', 'Ulm')
      """)
    func hasNote(_ condition: String) throws -> Bool {
      let outcome = try workspace.run("list", "--where", condition, "--limit", "1")
      #expect(outcome.status == 0 && outcome.errors.contains("more: --after"), "\(outcome)")
      return outcome.errors.contains("none of the first 10000 users has \"city\"")
    }
    #expect(try !hasNote("city=Ulm"))
    #expect(try hasNote("city!=Ulm"))
  }

  @Test func `a user without a name is not suggested`() throws {
    let workspace = try makeWorkspace()
    try workspace.sqlite("INSERT INTO users (name) VALUES ('')")
    let outcome = try workspace.run("set", "Y", "a=1")
    #expect(outcome.status == 3 && !outcome.errors.contains("did you mean"), "\(outcome)")
  }

  @Test func `an index that is removed twice is named`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("index", "add", "age")
    let outcome = try workspace.run("index", "remove", "age", "age")
    #expect(
      outcome.errors == "removed the index of \"age\"\nunchanged: \"age\" has no index any more\n", "\(outcome)")
  }

  @Test func `a narrow table keeps the attributes of the command line, and has no empty column`() throws {
    let workspace = try makeWorkspace()
    for user in ["Ann", "Zoë", "NIX"] {
      try workspace.run("set", user, "address=A long way from here 17", "phone=1234567")
    }
    let lines = try lines("list --where 'city^=U' --sort age", columns: 36, in: workspace)
    #expect(lines[0] == "ID  NAME  age  MORE" && lines.allSatisfy { $0.count <= 36 }, "\(lines)")
    #expect(lines[1].hasPrefix(" 1  Ann    41  city=Ulm  "), "\(lines)")
    #expect(try self.lines("list", columns: 120, in: workspace)[0].hasPrefix("ID  NAME  HAIR COLOR  address "))
  }

  @Test func `only the tool's own headers are in capitals`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("set", "Ann", "Age=3", "first_name=x")
    #expect(
      try workspace.run("list", "--format", "table").lines[0] == "ID  NAME  HAIR COLOR  Age  age  city  first_name")
    try workspace.run("index", "add", "age")
    #expect(try workspace.run("index", "--format", "table").lines == ["ATTRIBUTE", "age"])
  }
}

import Foundation
import TestSupport
import Testing
import UserStoreText

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Columns of CSV` {
  private func importing(_ text: String, _ options: [String] = [], in workspace: Workspace) throws -> Workspace.Outcome
  {
    try workspace.write(Data(text.utf8), to: "in.csv")
    return try workspace.finish([Workspace.tool, "import", workspace.folder + "/in.csv"] + options)
  }

  @Test func `white space around names does not count, and the names that users have can be capitalized`() throws {
    let workspace = try Workspace()
    let outcome = try importing(
      " Name\u{A0}, age ,Hair Color\u{3000},ID\nZoë, 41, red ,7\n", ["--keep-ids"], in: workspace)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      try workspace.run("list", "--format", "jsonl").output
        == ##"{"id":7,"name":"Zoë","hair_color":"#ff0000","age":41}"## + "\n")
  }

  @Test func `columns can be renamed, and hold the names`() throws {
    let workspace = try Workspace()
    let text = "Full name,Name,a=b\nZoë,zoe,1\n"
    let options = ["--name-column", "Full name", "--rename", "Name=login", "--rename", "a=b=c"]
    #expect(try importing(text, options, in: workspace).status == 0)
    #expect(try workspace.run("list").output == "1\tZoë\t\tc=1\tlogin=zoe\n")
  }

  @Test func `a type of a column reads what an export has marked`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "A", "--set", "zip:=10115")
    try workspace.run("add", "B", "--set", "zip:=01067")
    let export = try workspace.run("export", "--format", "csv").output
    #expect(export.contains(":=10115") && export.contains("01067"))
    for (options, values) in [
      (["--text", "zip"], [#""zip":"10115""#, #""zip":"01067""#]),
      (["--type", "zip=integer"], [#""zip":10115"#, #""zip":1067"#]),
    ] {
      let other = try Workspace()
      #expect(try importing(export, options, in: other).status == 0)
      let lines = try other.run("list", "--format", "jsonl").lines
      #expect(lines.count == 2 && zip(lines, values).allSatisfy { $0.contains($1) }, "\(lines)")
    }
  }

  private static let long = String(repeating: "n", count: 201)

  /// Header lines without a name, or with one that no attribute can have, what their message says, and the options of its hint, which are accepted.
  private static let nameless: [(header: String, words: String, options: [String])] = [
    ("Full name,age", "its columns are \"Full name\", \"age\"", ["--name-column", "Full name"]),
    ("Alter;Nachname", "its columns are \"Alter\", \"Nachname\"", ["--name-column", "Nachname"]),
    ("氏名,年齢", "its columns are \"氏名\", \"年齢\"", ["--name-column", "氏名"]),
    ("x,y", "its columns are \"x\", \"y\"", ["--name-column", "x"]),
    ("name,\"a\nb\"", "the column \"a\\nb\" cannot become an attribute: ", ["--rename", "a\nb=other"]),
    ("name,\"a\tb\"", "cannot become an attribute: ", ["--rename", "a\tb=other"]),
    ("name,\(long)", "cannot become an attribute: ", ["--rename", long + "=other"]),
    ("Name,name", "two columns are named \"name\": \"Name\" and \"name\"", ["--rename", "Name=other"]),
  ]

  @Test func `a header line without a name is an error that lists the columns, and names the option`() throws {
    for (header, words, options) in Self.nameless {
      let workspace = try Workspace()
      let row = header.contains(";") ? "\nA;B\n" : "\nA,B\n"
      let outcome = try importing(header + row, in: workspace)
      #expect(outcome.status == 65 && outcome.errors.contains("in.csv:1: "), "\(outcome)")
      #expect(outcome.errors.contains(words), "\(outcome)")
      let typed = options.map { $0.shellWord() }.joined(separator: " ")
      #expect(outcome.errors.contains("usertool: hint: nothing was changed; \(typed) "), "\(outcome)")
      #expect(try importing(header + row, options, in: workspace).status == 0, "\(options)")
    }
  }

  @Test func `options for columns that do not exist, or cannot have them, are errors`() throws {
    let workspace = try Workspace()
    for (options, words) in [
      (["--text", "plz"], "there is no column \"plz\" (did you mean \"PLZ\"?)"),
      (["--rename", "x=y"], "the columns are \"name\", \"PLZ\""), (["--name-column", "N"], "there is no column \"N\""),
      (["--type", "PLZ=number"], "\"number\" is not a type"), (["--type", "name=integer"], "is the name"),
      (["--rename", "PLZ"], "--rename"), (["--rename", "PLZ=name"], "two columns are named \"name\""),
    ] {
      let outcome = try importing("name,PLZ\nA,1\n", options, in: workspace)
      #expect([64, 65].contains(outcome.status) && outcome.errors.contains(words), "\(options): \(outcome)")
    }
    try workspace.write(Data("{\"name\":\"A\"}".utf8), to: "in.jsonl")
    for options in [
      ["--text", "a"], ["--delimiter", ";"], ["--rename", "a=b"], ["--type", "a=real"], ["--name-column", "a"],
    ] {
      let outcome = try workspace.finish([Workspace.tool, "import", workspace.folder + "/in.jsonl"] + options)
      #expect(outcome.status == 64 && outcome.errors.contains("\(options[0]) is for CSV"), "\(outcome)")
    }
    #expect(workspace.bytes() == nil)
  }

  @Test func `a column without a name may be empty; otherwise the message says which one it is`() throws {
    let workspace = try Workspace()
    #expect(try importing("name,age,\nA,1,\nB,2\nC,3,,,\n", in: workspace).status == 0)
    #expect(try importing(",name,,age\n,D,,4\n", in: workspace).status == 0)
    #expect(try workspace.run("list").output == "1\tA\t\tage=1\n2\tB\t\tage=2\n3\tC\t\tage=3\n4\tD\t\tage=4\n")
    for (text, words) in [
      ("name,,age\nA,x,1\n", "in.csv:2: column 2, after \"name\", has no name, but here it has the field \"x\""),
      (",name\n0,A\n", "in.csv:2: column 1 has no name, but here it has the field \"0\""),
      ("name,age,\nA,1,x\n", "in.csv:2: column 3, after \"age\", has no name, but here it has the field \"x\""),
      ("name,age\nA\n", "in.csv:2: the header has 2 columns, but this record has 1"),
    ] {
      let outcome = try importing(text, in: workspace)
      #expect(outcome.status == 65 && outcome.errors.contains(words), "\(outcome)")
    }
  }

  @Test func `a column with numbers and their lookalikes is noted, with an option that is accepted`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let decimal = try importing("Name;Betrag\nA;1,5\nB;12\n", ["-n"], in: workspace)
    #expect(decimal.errors.contains("--type Betrag=decimal-comma stores all as numbers"), "\(decimal)")
    let mixed = try importing("name,my plz,price,n\nA,01067,1.50,1\nB,80331,2.25,2\n", in: workspace)
    #expect(
      mixed.errors == """
        note: the column "my plz" has numbers (80331), and text that as a number would be written in another way (01067); \
        --text 'my plz' stores all as text
        note: the column "price" has numbers (2.25), and text that as a number would be written in another way (1.50); \
        --type price=real stores all as numbers
        imported 2 users as one change set

        """)
    let options = ["--text", "my plz", "--type", "price=real"]
    let typed = try importing("name,my plz,price,n\nA,01067,1.50,1\nB,80331,2.25,2\n", options, in: workspace)
    #expect(typed.errors == "imported 2 users as one change set\n")
    #expect(
      try workspace.run("list", "--format", "jsonl", "--where", "id>=3").output == """
        {"id":3,"name":"A","hair_color":null,"my plz":"01067","n":1,"price":1.5}
        {"id":4,"name":"B","hair_color":null,"my plz":"80331","n":2,"price":2.25}

        """)
  }

  @Test func `the option that a note names stores all as the note says`() throws {
    let fields = ["12", "1,5", "1.50", "01067", "1.234,56", "-1.234.567", "1.234", "n/a", "1.23,4", "", "7"]
    for seed in (0..<30).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let rows = (0..<Int.random(in: 2...4, using: &random)).map { _ in fields.randomElement(using: &random)! }
      let text = "name;x\n" + rows.map { "A;\($0)\n" }.joined()
      let workspace = try Workspace()
      let note = try importing(text, ["-n"], in: workspace).errors
      guard note.contains("note: the column") else { continue }
      let option = try #require(note.firstMatch(of: /--[^ ]+ [^ ]+/)).0
      let outcome = try importing(text, option.split(separator: " ").map(String.init), in: workspace)
      #expect(outcome.status == 0 && !outcome.errors.contains("note:"), "\(rows): \(note)\(outcome)")
      let isNumber = note.contains("stores all as numbers")
      let types = try workspace.sqlite("SELECT DISTINCT typeof(value) FROM attributes").lines
      #expect(types == [isNumber ? "real" : "text"], "\(rows): \(note)")
    }
  }

  @Test func `a note names a type only if every field is of that type`() throws {
    let workspace = try Workspace()
    for (rows, option) in [
      ("1,5;12", "--type x=decimal-comma stores all as numbers"), ("1,5;12;n/a", "--text x stores all as text"),
      ("1.234,5;12", "--type x=decimal-comma stores all as numbers"), ("1,5;1.50;3", "--text x stores all as text"),
      ("1.50;3;x", "--text x stores all as text"), ("1.50;3", "--type x=real stores all as numbers"),
    ] {
      let text = "name;x\n" + rows.split(separator: ";").map { "A;\($0)\n" }.joined()
      let outcome = try importing(text, ["-n"], in: workspace)
      #expect(outcome.errors.contains(option), "\(rows): \(outcome)")
    }
  }

  @Test func `a column has one type`() throws {
    let workspace = try Workspace()
    for options in [["--text", "x", "--type", "x=integer"], ["--type", "x=real", "--type", "x=integer"]] {
      let outcome = try importing("name,x\nA,1\n", options, in: workspace)
      #expect(outcome.status == 64 && outcome.errors.contains("the column \"x\" has two types"), "\(outcome)")
    }
    #expect(try importing("name,x\nA,1\n", ["--text", "x", "--type", "x=text"], in: workspace).status == 0)
  }

  @Test func `UTF-16 without a byte order mark is an error that names the encoding`() throws {
    let workspace = try Workspace()
    for (encoding, text) in [("UTF-16LE", "name,age\nZoë,1\n"), ("UTF-16BE", "{\"name\":\"Zoë\"}\n")] {
      let isBig = encoding.hasSuffix("BE")
      let units = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      let bytes = isBig ? text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } : units
      let file = workspace.folder + (isBig ? "/in.jsonl" : "/in.csv")
      try workspace.write(Data(bytes), to: isBig ? "in.jsonl" : "in.csv")
      let outcome = try workspace.run("import", file)
      #expect(outcome.status == 65 && outcome.errors.contains("pass --encoding \(encoding)"), "\(outcome)")
      #expect(try workspace.run("import", file, "--encoding", encoding).status == 0)
    }
  }

  @Test func `ids that are not used, and attributes that are new, are noted`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41")
    let ignored = "note: the ids in the file are not used: each record adds a user with a new id (--update, --keep-ids)"
    let new = "new attribute \"Age\": no user had it before (did you mean \"age\"?)\n"
    let outcome = try importing("id,name,Age\n1,Zoë,1\n", ["-n"], in: workspace)
    #expect(outcome.status == 0 && outcome.errors.contains(ignored) && outcome.errors.contains(new), "\(outcome)")
    let updating = try importing("id,name,Age\n1,Zoë,1\n", ["--update"], in: workspace)
    #expect(!updating.errors.contains("ids in the file") && updating.errors.contains(new), "\(updating)")
    let again = try importing("name,Age,age\nZoë,1,2\n", in: workspace)
    #expect(again.errors == "imported 1 user as one change set\n", "\(again)")
  }

  @Test func `a dry run shows the first five users as they would be stored, with their types`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "note=x")
    let rows = "1,Nix,1,01067\n,B,2.5,\n" + (1...5).map { ",u\($0),,\n" }.joined()
    let outcome = try importing("id,name,age,plz\n" + rows, ["--update", "-n"], in: workspace)
    #expect(
      outcome.output == """
        user 1
          name  text     "Nix"
          age   integer  1
          note  text     "x"
          plz   text     "01067"
        user 2
          name  text     "B"
          age   real     2.5
        user 3
          name  text     "u1"
        user 4
          name  text     "u2"
        user 5
          name  text     "u3"

        """)
    #expect(outcome.errors == "dry run: would import 7 users (6 added, 1 changed); nothing was changed\n")
    #expect(try importing("name\nA\n", ["-n", "-q"], in: workspace).output.isEmpty)
  }
}

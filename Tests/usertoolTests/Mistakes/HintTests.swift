import ArgumentParser
import Foundation
import TestSupport
import Testing
import UserStoreText

@testable import UserToolCommands

/// What a hint says to type is accepted.
@Suite(.bounded, .serialized) struct Hints {
  private func makeWorkspace() throws -> Workspace { try Workspace(Self.files.get()) }

  private static let files = Result {
    let workspace = try Workspace()
    for (name, age) in [("Ann", 41), ("Zoë Müller", 18), ("7", 7)] {
      try workspace.run("add", name, "--set", "age=\(age)", "--set", "city=Ulm", "--hair-color", "red")
    }
    try workspace.sqlite("INSERT INTO users (id, name) VALUES (-5, 'minus'), (90, 'bad ' || CAST(x'ff' AS TEXT))")
    return try workspace.files()
  }

  // MARK: In real runs

  /// Mistakes whose hint is a whole command line, after `did you mean: `, `hint: `, or another text.
  @Test(arguments: [
    "add Zoë Müller", "add Zoë age=41", "add Zoë Müller age=41 city Bonn", "add Zoë age = 41 -q",
    "rename Ann O'Hara Smith",
    "remove Zoë Müller --yes", "remove --yes Zoë Müller", "set Ann age 41", "set Ann age = 41 room 7", "set 1 =7",
    "set 1 age= 41 -q", "set --busy-timeout 5s Ann age", "set Ann name=Zoë Müller", "set 1 = 7", "get Zoë Müller",
    "get Zoë Müller --format json", "get 1 -5", "rename 1 -5", "rename -5 -6", "log Zoë Müller --limit 2",
    "watch Zoë Müller --timeout 1ms", "list age>=18", "list --count age>=18 city=Ulm", "list age >= 18",
    "list 18<=age", "list hair_color=redd", "list age!>3", "index rm age", "index ad age", "index create age",
    "get 99", "get Nobody", "get Ann agee", "get id:-5 agee", "get 90 name", "purge minus --yes", "purge Ann --yes",
    "undo 99", "--db", "lst", "list --limit", "index remove city", "consumers remove x --yes", "export u.json",
    "export u.xml --where age>=18", "set Ann hair_color=", "remove Ann", "log --after x", "list --after x",
    "add Zoë --set =7", "watch --attribute nmae", "list --format xml",
  ]) func `a command line in a hint is accepted`(line: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish(
      ["bash", "-fc", "cd ~; set -- $1; exec '\(Workspace.tool)' \"$@\"", "bash", line])
    #expect(outcome.status != 0, "\(outcome)")
    let hints = outcome.errors.split(separator: "\n").compactMap { line in
      line.range(of: "usertool: hint: ").map { line[$0.upperBound...] }
    }
    #expect(hints.count == 1, "\(outcome)")
    for hint in hints {
      guard let start = hint.range(of: "usertool ") else { continue }
      let words = ShellWords.split(hint[start.upperBound...].prefix { !";,".contains($0) })
      // The words after the command line, such as `shows all users`.
      let verbs = ["shows", "lists", "prints", "removes", "restores"]
      let command = Array(words.prefix { !verbs.contains($0) })
      // An example that is no list of words, and what is typed for a user or a value.
      let typed = command.map { $0 == "USER" ? "1" : $0 == "FILE" ? "users.db" : $0 }
      let again = try workspace.finish(["bash", "-c", "cd ~; exec \"$0\" \"$@\"", Workspace.tool] + typed)
      // A question that there is no terminal for comes after all words are accepted.
      let isAccepted = ![64, 65].contains(again.status) || again.errors.contains("there is no terminal to ask on")
      #expect(isAccepted, "\(hint): \(again)")
      #expect(!again.errors.contains("did you mean"), "\(hint): \(again)")
    }
  }

  /// Mistakes whose hint is an option in place of the wrong one.
  @Test(arguments: [
    ("list", "--sort -age,name"), ("list", "--sort -age"), ("list", "--sort=-age,name"), ("list", "--sort age,name"),
    ("list", "--sort age;name"), ("list", "--sort=age desc,name"), ("list", "--sort=-age,-name"),
    ("list", "--sort age:down"),
    ("list", "--sort -age,city:"), ("list", "--json"), ("log", "--jsonl"), ("export", "--csv"),
    ("list", "--where=age!>18"),
    ("list", "--where=18<=age"), ("list", "--where=age==18"), ("list", "--where=age=>18"),
    ("list", "--where=age >= 18"),
    ("list", "--where=18<age<30"), ("list", "--where=age>=18,age<30"), ("list", "--where=age>=18 and age<30"),
    ("list", "--where=age>="), ("list", "--where=age>'18'"), ("list", "--where=(age>18)"), ("list", "--where=age 18"),
    ("list", "--where=age≥18"), ("list", "--where=age"), ("list", "--where=age>:=x"), ("list", "--where=-5<age"),
    ("export", "--where=age!>18"), ("list", "--without="), ("list", "--after={\"id\":1,\"x\":2}"),
  ]) func `an option in a hint is accepted`(command: String, mistake: String) throws {
    let workspace = try makeWorkspace()
    let separated = mistake.hasPrefix("--sort ") ? ["--sort", String(mistake.dropFirst(7))] : [mistake]
    let outcome = try workspace.finish([Workspace.tool, command] + separated)
    #expect([64, 65].contains(outcome.status), "\(outcome)")
    let hint = try #require(outcome.errors.range(of: "usertool: hint: ").map { outcome.errors[$0.upperBound...] })
    // `use --where twice: …` says how before it says what.
    let what = hint.hasPrefix("use ") ? hint.drop { $0 != ":" } : hint
    let known = ["--where", "--sort", "--format", "--with", "--without"]
    guard let start = known.compactMap({ what.range(of: $0) }).map(\.lowerBound).min() else { return }
    let options = what[start...].prefix { !"?(;\n".contains($0) }
    let again = try workspace.finish([Workspace.tool, command] + ShellWords.split(options))
    #expect(again.status == 0, "\(hint): \(again)")
  }

  @Test func `a value that starts with a dash is reported by what is wrong with it`() throws {
    let workspace = try makeWorkspace()
    for (line, message) in [
      ("list --limit -1", "--limit must be 1 or more"), ("list --follow --timeout -1s", "The value '-1s' is invalid"),
    ] {
      let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(line)"])
      #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
      #expect(outcome.errors.hasSuffix("hint: see usertool list --help\n"), "\(outcome)")
    }
    let name = try workspace.run("add", "x", "--set", "-a=1")
    #expect(name.errors.hasSuffix("needs an equals sign: --set=-a=1\n"), "\(name)")
    #expect(try workspace.run("add", "x", "--set=-a=1").status == 0)
  }

  @Test(arguments: ["-x.db", "q\nz.db", "it's\t$HOME.db", "none/x.db", "x.db-wal", "link"])
  func `a hint for a database that is missing is accepted, or names none`(_ path: String) throws {
    let workspace = try makeWorkspace()
    try workspace.finish(["ln", "-s", "nowhere/x.db", workspace.folder + "/link"])
    func inFolder(_ line: String) throws -> Workspace.Outcome {
      let script = #"cd "$0" && usertool() { "$TOOL" "$@"; } && eval "$1""#
      return try workspace.finish(["bash", "-c", script, workspace.folder, line], ["TOOL": Workspace.tool])
    }
    let outcome = try inFolder("usertool list --db=" + path.shellWord())
    let hint = try #require(outcome.errors.split(separator: "\n").last { $0.contains("hint: ") }, "\(outcome)")
    if ["x.db-wal", "link"].contains(path) {
      #expect(hint.hasSuffix("choose another file with --db"), "\(outcome)")
      return
    }
    let command = try #require(hint.range(of: "usertool init").map { String(hint[$0.lowerBound...]) }, "\(outcome)")
    #expect(try inFolder(command).status == 0, "\(command)")
    #expect(FileManager.default.fileExists(atPath: workspace.folder + "/" + path), "\(command)")
  }

  @Test func `a hint reads a file whose name begins with a dash`() throws {
    let workspace = try makeWorkspace()
    try workspace.write(Data("[{\"name\": \"B\"}]".utf8), to: "-j.json")
    let line = #"cd "$0" && "$1" import -- -j.json"#
    let outcome = try workspace.finish(["sh", "-c", line, workspace.folder, Workspace.tool])
    #expect(outcome.errors.contains("hint: jq -c '.[]' ./-j.json | usertool import -"), "\(outcome)")
  }

  @Test func `a hint has the options of the command line, such as the database`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("--db", "a b.db", "add", "Zoë", "Müller", "--hair-color", "red", "-q")
    #expect(
      outcome.errors.hasSuffix("did you mean: usertool add 'Zoë Müller' --db 'a b.db' --hair-color red -q\n"),
      "\(outcome)")
  }

  // MARK: At random

  private static let pieces = [
    "list", "add", "set", "get", "index", "log", "rename", "remove", "watch", "export", "import", "Zoë", "Müller", "7",
    "-5",
    "age", "=", "age=41", "=7", "age>=18", "-age", "age,name", "--sort", "--where", "--limit", "--json", "--csv", "-q",
    "-1",
    "--db", "x.db", "--yes", "--set", "--unset", "it's", "", "a b", "-", "--", "--follow", "--count", "rm", "add",
    "--format",
    "jsonl", "--timeout", "1s", "hair_color=red", "--hair-color", "-x=1", "'", "\\",
  ]

  @Test func `the parser accepts every command line that it suggests`() {
    var random = SplitMix64(seed: Seed.base)
    var (suggestions, rounds) = (0, 0)
    // A suggestion comes once in 50 rounds or so.
    while suggestions < 6, rounds < 3_000 {
      rounds += 1
      let words = (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.pieces.randomElement(using: &random)! }
      guard let message = Arguments.mistake(in: words, for: UserTool.self)?.message else { continue }
      let failure = Arguments.failure(message, words[...], for: UserTool.self)
      guard let hint = failure.hint, let start = hint.range(of: "did you mean: usertool ") else { continue }
      suggestions += 1
      let suggested = ShellWords.split(hint[start.upperBound...])
      #expect(Arguments.mistake(in: suggested, for: UserTool.self) == nil, "\(words): \(hint)")
      #expect(suggested != words)
    }
    #expect(suggestions == 6)
  }

  private static let signs = [
    "age", "city", "18", "-5", "x", "=", "<", ">", "<=", ">=", "!=", "^=", "*=", "~=", ":", "!", "~", "≥", " ", ",",
    "and", " and ", " or ", "&&", "'", "\"", "(", ")", "hair_color", "red", "{", "}", ";", "null", "日本", "e\u{301}",
    "\u{301}", "\t",
  ]

  @Test func `every condition and every sort key in a hint is valid`() {
    var random = SplitMix64(seed: Seed.base)
    var hints = 0
    for _ in 0..<3_000 {
      let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.signs.randomElement(using: &random)! }
        .joined()
      for hint in Self.hints(text) {
        for condition in ShellWords.conditions(in: hint) {
          hints += 1
          #expect(ConditionText(condition, .options).isClear, "\(text): \(hint)")
        }
      }
    }
    #expect(hints > 200)
  }

  /// The hints for a text as a condition, of the reader and of an attribute that looks like a mistake.
  private static func hints(_ text: String) -> [String] {
    do throws(TextError) {
      return [try ConditionText(text, .options).parsed().suspect?.mistake.hint].compactMap { $0 }
    } catch { return [error.hint].compactMap { $0 } }
  }

  // MARK: In the sources

  @Test func `every command and option that a message names exists`() throws {
    let root = Workspace.project.appendingPathComponent("Sources")
    let names = Set(UserTool.configuration.subcommands.map { $0._commandName })
    let help = UserTool.configuration.subcommands.map { UserTool.helpMessage(for: $0, columns: 10_000) }.joined()
    var found = 0
    for folder in ["UserToolCommands", "UserStoreText"] {
      let folder = root.appendingPathComponent(folder).path
      for file in try FileManager.default.subpathsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
        let source = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
        // Comments, and the options of other programs, are no messages of this tool.
        let lines = source.split(separator: "\n").filter { !$0.contains("//") && !$0.contains("libreoffice") }
        for line in lines where line.contains("\"") {
          for match in line.matches(of: /"[^"]*?usertool ([a-z]+)[ "]/) where !["is", "binds"].contains(match.1) {
            found += 1
            #expect(names.contains(String(match.1)), "\(file): \(line)")
          }
          for match in line.matches(of: /[ "](--[a-z][a-z-]+)[ ":=,;?]/) where match.1 != "--help" {
            found += 1
            #expect(help.contains(match.1), "\(file): \(line)")
          }
        }
      }
    }
    #expect(found > 50)
  }
}

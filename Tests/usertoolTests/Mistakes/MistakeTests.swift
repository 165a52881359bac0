import Foundation
import TestSupport
import Testing
import UserStoreText

/// Mistakes of people who tried the tool with only the README.
@Suite(.bounded, .serialized) struct `Mistakes of new users` {
  @Test(arguments: ["list", "get 1", "add Zoë"])
  func `a closed standard output is a failure, and the tool does not hang`(command: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.finish(["sh", "-c", "exec '\(Workspace.tool)' \(command) >&-"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("cannot write the output"))
  }

  @Test func `watching an attribute that no listener receives is a usage error`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("watch", "--attribute", "nmae")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("no listener receives nmae"))
  }

  @Test func `list notes an attribute that no user has, and suggests a similar one`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=7")
    for (option, asked) in [("--where", "agee=7"), ("--sort", "agee")] {
      let outcome = try workspace.run("list", option, asked)
      #expect(outcome.status == 0)
      #expect(outcome.errors.contains(#"no user has "agee" (did you mean "age"?)"#))
      #expect(try workspace.run("list", "--quiet", option, asked).errors.isEmpty)
    }
    #expect(try workspace.run("list", "--where", "age=8", "--sort", "id").errors.isEmpty)
    let hostile = try workspace.run("list", "--sort", "\u{1B}[31mage")
    #expect(hostile.status == 65 && hostile.errors.contains("cannot contain control characters"), "\(hostile)")
  }

  @Test(arguments: [
    ("add Zoë Müller", "add 'Zoë Müller'"), ("rename NIX Zoë O\u{5C}'Hara", "rename NIX 'Zoë O'\\''Hara'"),
    ("remove Zoë Müller --yes", "remove 'Zoë Müller' --yes"), ("set NIX age 41", "set NIX age=41"),
    ("set NIX age = 41 room 7", "set NIX age=41 room=7"), ("set NIX age= 41 -q", "set NIX age=41 -q"),
    ("set --busy-timeout 5s NIX age", "set NIX age=VALUE --busy-timeout 5s"), ("set 5 =7", "set 5 ATTRIBUTE=7"),
    ("add Zoë age=41", "add Zoë --set age=41"), ("add Zoë Müller age=41", "add 'Zoë Müller' --set age=41"),
    ("purge --vacuum Zoë Müller", "purge 'Zoë Müller' --vacuum"),
    ("set NIX name=Zoë Müller", "set NIX 'name=Zoë Müller'"),
  ])
  func `the hint corrects a name that the shell split, and a missing equals sign`(line: String, meant: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(line)"])
    #expect(outcome.status == 64 && outcome.errors.hasSuffix("did you mean: usertool \(meant)\n"), "\(outcome)")
  }

  @Test func `an argument after an unknown name is suggested as a part of the name`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Zoë Müller")
    let outcome = try workspace.run("get", "Zoë", "Müller")
    #expect(outcome.status == 3 && outcome.errors.hasSuffix("usertool get 'Zoë Müller'\n"), "\(outcome)")
    #expect(try !workspace.run("remove", "1", "2").errors.contains("did you mean"))
    #expect(try workspace.run("get", "7", "age").errors.contains("usertool list shows all users"))
  }

  @Test func `help for an unknown command is a usage error`() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run("help", "lst")
    #expect(
      outcome.status == 64 && outcome.errors.contains(#"unknown command "lst" (did you mean "list"?)"#), "\(outcome)")
    #expect(try workspace.run("help", "list").output.contains("usertool list"))
    #expect(try workspace.run("help").output.contains("SUBCOMMANDS"))
  }

  @Test func `the messages for an empty store and an empty color say what to do`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let empty = try workspace.run("list", "--format", "json")
    #expect(empty.status == 0 && empty.output == "[]\n" && empty.errors.contains("no users yet"), "\(empty)")
    try workspace.run("add", "NIX")
    #expect(try workspace.run("list", "--where", "name=x").errors.isEmpty)
    #expect(try workspace.run("set", "1", "hair-color=").errors.contains("--unset hair_color"))
  }

  @Test func `a missing folder is reported as a missing database`() throws {
    let workspace = try Workspace()
    workspace.database = workspace.folder + "/not/there/users.db"
    for command in [["list"], ["get", "1"], ["watch"], ["rename", "1", "x"], ["backup", workspace.folder + "/b.db"]] {
      let outcome = try workspace.finish([Workspace.tool] + command)
      #expect(outcome.status == 66, "\(outcome)")
      #expect(outcome.errors.contains("error: there is no database at \(workspace.database)\n"), "\(outcome)")
      #expect(outcome.errors.contains("hint: create it with usertool init"), "\(outcome)")
    }
  }

  @Test func `the hint for a missing database can be pasted into a shell`() throws {
    let workspace = try Workspace()
    let path = workspace.folder + "/a b&c;d$e'f\"g?h~i.db"
    let missing = try workspace.finish([Workspace.tool, "list", "--db", path])
    let hint = try #require(
      missing.errors.split(separator: "\n").last { $0.contains("hint: create it with usertool ") })
    let command = try #require(hint.components(separatedBy: "create it with usertool ").last)
    let made = try workspace.finish(["/bin/sh", "-c", "exec \(Workspace.tool) \(command)"])
    #expect(made.status == 0 && FileManager.default.fileExists(atPath: path), "\(hint)\n\(made)")
  }

  @Test func `get prints the id like an attribute`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("get", "NIX", "id").output == "1\n")
    #expect(try workspace.run("get", "NIX", "id", "--format", "csv").output == "id\n1\n")
  }

  @Test func `compact needs a unit for an age`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("compact", "--older-than", "5", "-n")
    #expect(outcome.status == 64 && outcome.errors.contains("needs a unit: 5s, 5m, 5h or 5d"), "\(outcome)")
    for age in ["5s", "0s", "1.5d"] { #expect(try workspace.run("compact", "--older-than", age, "-n").status == 0) }
  }

  @Test func `init creates a store in an empty file, and reports it`() throws {
    let workspace = try Workspace()
    try Data().write(to: URL(filePath: workspace.database))
    #expect(try workspace.run("init").errors.contains("created"))
    #expect(try workspace.run("init").errors.contains("unchanged"))
  }

  @Test func `a log that reaches its limit says how to continue`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("log", "--limit", "1").errors.contains("larger --limit"))
    #expect(try workspace.run("log", "--limit", "2").errors.isEmpty)
    try workspace.run("rename", "NIX", "Zoë")
    try workspace.run("set", "Zoë", "a=1", "b=2")
    let cursor = try #require(try workspace.run("log").lines.compactMap { try Line.decode($0).cursor }.first)
    #expect(try workspace.run("log", "--after", cursor, "--limit", "1").errors.contains("continue with --after"))
    let next = try #require(try workspace.run("log").lines.compactMap { try Line.decode($0).cursor }.dropFirst().first)
    #expect(try workspace.run("log", "--after", next, "--limit", "1").errors.contains("larger --limit"))
  }

  @Test func `an attribute that no user has is noted once, also if two options name it`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=1")
    for words in [["--sort", "agx"], ["--sort", "agx", "--count"], ["--without", "agx"]] where words.last != "--count" {
      let outcome = try workspace.finish([Workspace.tool, "list", "--where", "agx!=1"] + words)
      #expect(outcome.errors == "no user has \"agx\" (did you mean \"age\"?)\n", "\(outcome)")
    }
  }

  @Test func `of two names that are equally near, the one with the same case is suggested`() throws {
    for names in [["Age", "age"], ["age", "Age"], ["AGE", "age", "Age"]] {
      #expect(Suggestion.nearest(to: "agee", among: names) == "age")
    }
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "Age=1", "--set", "age=1")
    let outcome = try workspace.run("set", "1", "--unset", "agee")
    #expect(outcome.status == 3 && outcome.errors.contains("(did you mean \"age\"?)"), "\(outcome)")
  }

  @Test func `a temporary file that cannot be written is named with its folder`() throws {
    let workspace = try Workspace()
    let note = String(repeating: "x", count: 100_000)
    try workspace.run("add", "NIX", "--set", "a=" + note, "--set", "b=" + note)
    for command in ["export", "import -"] {
      let script = "trap '' XFSZ; ulimit -f 100; yes | head -c 300000 | '\(Workspace.tool)' \(command) 2>&1 | cat"
      let outcome = try workspace.finish(["bash", "-c", script], ["TMPDIR": workspace.folder])
      #expect(outcome.output.contains("cannot write a temporary file in \(workspace.folder): "), "\(outcome)")
      #expect(outcome.output.contains("TMPDIR"), "\(outcome)")
    }
  }

  @Test func `what ends at a place in the log is continued with the options of the command`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let cursor = try #require(try workspace.run("log").lines.compactMap { try Line.decode($0).cursor }.last)
    let file = workspace.folder + "/a cursor"
    try workspace.takePosition("--cursor-file", file)
    let watcher = try workspace.start("watch", "--cursor-file", file)
    try watcher.waitUntilWatching()
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
    let last = String(decoding: watcher.errors.rest(), as: UTF8.self)
    #expect(last.hasSuffix("continue with --cursor-file '\(file)'\n"), "\(last)")
    try workspace.run("rename", "1", "Zoë")
    try workspace.run("compact", "--keep", "0")
    let log = try workspace.run("log", "--after", cursor)
    #expect(log.status == 6 && log.errors.contains("hint: start again without --after\n"), "\(log)")
    for start in [["--after", cursor], ["--cursor-file", file]] {
      let watch = try workspace.finish([Workspace.tool, "watch", "--no-resync"] + start)
      let hint = "hint: without --no-resync, watch continues from the current state\n"
      #expect(watch.status == 6 && watch.errors.hasSuffix(hint), "\(watch)")
    }
  }

  @Test func `a database that has its mark is not a copy to take over`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    let outcome = try workspace.run("init", "--adopt")
    #expect(outcome.errors == "unchanged: \(workspace.database) has the mark of a database of users\n", "\(outcome)")
  }

  @Test func `a watch whose reader goes away leaves no draft of its cursor file`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let cursor = workspace.folder + "/cursor"
    try workspace.finish(["sh", "-c", "'\(Workspace.tool)' watch --cursor-file '\(cursor)' 2>/dev/null | head -n 1"])
    let files = try FileManager.default.contentsOfDirectory(atPath: workspace.folder)
    #expect(!files.contains { $0.hasSuffix(".partial") }, "\(files)")
  }
}

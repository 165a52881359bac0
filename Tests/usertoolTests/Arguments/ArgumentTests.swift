import Foundation
import Testing

@Suite(.bounded, .serialized) struct `Invalid arguments` {
  /// Each case: the arguments, the exit code, and a part of the error message.
  static let mistakes: [(arguments: [String], status: Int32, words: String)] = [
    (["get", "Alise"], 3, "no user \"Alise\" (did you mean \"Alice\"?)"),
    (["rename", "alice", "x"], 3, "did you mean \"Alice\"?"),
    (["get", "99"], 3, "no user has the id 99"),
    (["get", "99999999999999999999999"], 3, "no user has the id"),
    (["get", "name:2"], 3, "no user \"2\""),
    (["get", "1", "hiar_color"], 3, "did you mean \"hair_color\"?"),
    (["get", "1", "nothing"], 3, "user 1 has no \"nothing\""),
    (["get", "Twin"], 3, "2 users are named \"Twin\""),
    (["remove", "Twin", "--yes"], 3, "2 users are named \"Twin\""),
    (["set", "1", "--unset", "agee"], 3, "did you mean \"age\"?"),
    (["rename", "1", "x", "--expect", "Alise"], 4, "is “Alice”, not “Alise”"),
    (["add", "x", "--hair-color", "aubrun"], 65, "did you mean \"auburn\"?"),
    (["set", "1", "hair-color=#12345"], 65, "is not a color"),
    (["set", "1", "hair_color="], 65, "is not a color"),
    (["add", ""], 65, "a name cannot be empty"),
    (["rename", "1", ""], 65, "a name cannot be empty"),
    (["rename", "1", String(repeating: "x", count: 1_001)], 65, "at most 1000 characters"),
    (["rename", "1", "a\u{1B}[31mb"], 65, "control characters"),
    (["set", "1", "n=99999999999999999999"], 65, "does not fit into 64 bits"),
    (["set", "1", "p={\"base64\":\"*\"}"], 65, "not base64"),
    (["set", "1", "id=7"], 65, "never changes"),
    (["set", "1", "--unset", "name"], 65, "needs a name"),
    (["log", "--after", "nonsense"], 65, "not a cursor"),
    (["watch", "--after", "v9-1-2-3"], 65, "newer version"),
    (["renam", "1", "x"], 64, "unknown command \"renam\" (did you mean \"rename\"?)"),
    (["rename", "1"], 64, "new-name"),
    (["rename", "1", "x", "--expct", "y"], 64, "--expect"),
    (["set", "1"], 64, "nothing to set"),
    (["set", "1", "novalue"], 64, "novalue"),
    (["set", "1", "a=1", "a=2"], 64, "given twice"),
    (["list", "--format", "xml"], 64, "xml"),
    (["watch", "--count", "0"], 64, "--count"),
    (["watch", "--timeout", "soon"], 64, "soon"),
    (["watch", "--listener", "=name"], 64, "listener"),
    (["remove", "1"], 64, "there is no terminal to ask on"),
    (["demo", "nothing"], 64, "nothing"),
    (["--db"], 64, "a command must follow --db"),
    (["--quiet", "--db", "users.db"], 64, "a command must follow --quiet"),
  ]

  @Test func `of many users with the same name, twenty are shown`() throws {
    let workspace = try Workspace()
    let names = ((1...21).map { _ in #"{"name":"Twin"}"# } + (1...20).map { _ in #"{"name":"Sib"}"# })
      .joined(separator: "\n")
    let file = workspace.folder + "/twins"
    try Data(names.utf8).write(to: URL(filePath: file))
    try workspace.run("import", "--format", "jsonl", file)
    let errors = try workspace.finish([Workspace.tool, "get", "Twin"]).errors
    let lines = errors.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.count { $0.contains("Twin") && !$0.hasPrefix("usertool: error") } == 20, "\(errors)")
    #expect(lines.contains("and 1 more"), "\(errors)")
    let all = try workspace.finish([Workspace.tool, "get", "Sib"]).errors
    #expect(all.contains("20 users are named") && !all.contains("more"), "\(all)")
  }

  @Test func `each invalid command prints one error, exits with its code, and changes nothing`() throws {
    let workspace = try Workspace()
    for arguments in [["Alice", "--set", "age=41"], ["Twin"], ["Twin"]] {
      try workspace.finish([Workspace.tool, "add"] + arguments)
    }
    let before = try workspace.dump()
    for (arguments, status, words) in Self.mistakes {
      let outcome = try workspace.finish([Workspace.tool] + arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      #expect(outcome.output.isEmpty, "\(arguments): \(outcome)")
      #expect(outcome.errors.hasPrefix("usertool: error: "), "\(arguments): \(outcome)")
      #expect(outcome.errors.contains(words), "\(arguments): \(outcome)")
      #expect(outcome.errors.components(separatedBy: "usertool: ").count <= 3, "\(arguments): \(outcome)")
    }
    #expect(try workspace.dump() == before)
  }

  @Test func `several users with the same name are listed with their ids and attributes`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Twin", "--hair-color", "red")
    try workspace.run("add", "Twin", "--set", "room=7")
    let outcome = try workspace.run("rename", "Twin", "x")
    #expect(outcome.errors.contains("  1\tTwin\t#ff0000\n  2\tTwin\t\troom=7\n"))
  }

  @Test func `an argument that is not valid UTF-8 is rejected, not repaired`() throws {
    let workspace = try Workspace()
    let outcome = try workspace.finish(["sh", "-c", "\(Workspace.tool) add \"$(printf 'a\\377')\""])
    #expect(outcome.status == 65 && outcome.errors.contains("not valid UTF-8"), "\(outcome)")
    #expect(workspace.bytes() == nil)
  }

  @Test func `a name that is a number is specified with name:`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "A")
    try workspace.run("add", "7")
    #expect(try workspace.run("get", "7").errors.contains("name:7"))
    #expect(try workspace.run("get", "name:7", "name").output == "7\n")
  }
}

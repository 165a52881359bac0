import Foundation
import TestSupport
import Testing
import UserStore

@testable import UserToolCommands

/// Users with negative ids, which are added on replicas, or by other programs.
@Suite(.bounded, .serialized) struct `Negative ids` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite("INSERT INTO users (id, name) VALUES (-5, 'minus'), (-6, 'twin'), (-7, 'twin')")
    return workspace
  }

  @Test(arguments: ["id:-5", "-5", "-- -5", "minus"])
  func `every command takes such a user`(user: String) throws {
    let lines = [
      "get @", "get @ name", "listeners @", "log @", "watch --timeout 1ms @", "rename @ plus", "set @ age=1",
      "set --unset age @", "set @ name=minus", "remove --yes @",
    ]
    let workspace = try makeWorkspace()
    for line in lines {
      // The options precede the user, because -- ends them.
      let words = line.replacing("@", with: user == "minus" && line == "set @ name=minus" ? "plus" : user)
      let isRenamed = user == "minus" && ["set @ age=1", "set --unset age @"].contains(line)
      let outcome = try workspace.finish([
        "sh", "-c", "'\(Workspace.tool)' \(isRenamed ? words.replacing("minus", with: "plus") : words)",
      ])
      #expect(outcome.status == (line.contains("watch") ? 124 : 0), "\(words): \(outcome)")
    }
    #expect(try workspace.run("list", "--where", "id=-5").output.isEmpty)
    let purged = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' purge --yes \(user)"])
    #expect(purged.status == 0 && purged.output.hasPrefix("-5\t"), "\(purged)")
  }

  @Test func `a question about such a user is answered for that user`() throws {
    let workspace = try makeWorkspace()
    let results = try TerminalBatch.results(of: [.init(arguments: ["remove", "minus"], typed: "y\n")], in: workspace)
    #expect(results[0].status == 0 && results[0].output.contains("Remove user -5 \"minus\""), "\(results)")
    #expect(try workspace.run("list", "--where", "id=-5", "--count").output == "0\n")
  }

  @Test func `an option can precede such a user, and take one`() throws {
    let workspace = try makeWorkspace()
    for line in [
      "--format plain get -5 name", "get --format plain -5 name", "log --limit 5 -5", "rename --expect minus -5 minus",
      "post seen --about -5", "post seen --about=-5", "set --unset age -5", "list --where id=-5",
    ] {
      let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(line)"])
      #expect(outcome.status == 0, "\(line): \(outcome)")
    }
    let events = try workspace.run("log", "-5", "--limit", "2", "--format", "jsonl").lines
    #expect(events.count == 2 && events.allSatisfy { $0.contains(#""user":-5,"#) }, "\(events)")
  }

  @Test func `a hint that names a negative id is accepted`() throws {
    let workspace = try makeWorkspace()
    let wrong = try workspace.run("rename", "-5", "-6")
    #expect(wrong.status == 64 && wrong.errors.hasSuffix("did you mean: usertool rename id:-5 -- -6\n"), "\(wrong)")
    let lacking = try workspace.run("get", "id:-5", "age")
    #expect(lacking.status == 3 && lacking.errors.hasSuffix("usertool get id:-5 shows all attributes\n"), "\(lacking)")
    let existing = try workspace.run("purge", "minus", "--yes")
    #expect(existing.status == 4 && existing.errors.hasSuffix("usertool remove id:-5\n"), "\(existing)")
    let several = try workspace.run("get", "twin")
    #expect(several.status == 3 && several.errors.contains("  -7\ttwin"), "\(several)")
    #expect(try workspace.run("get", "id:-7", "name").output == "twin\n")
    let unknown = try workspace.run("get", "id:-99")
    #expect(unknown.status == 3 && unknown.errors.contains("no user has the id -99"), "\(unknown)")
  }

  @Test(arguments: [
    ("add -5", "add -- -5"), ("rename 1 -5", "rename 1 -- -5"), ("get 1 -5", "get 1 -- -5"),
    ("import -5", "import -- -5"), ("rename -5 -6 -q", "rename id:-5 -q -- -6"),
    ("index add -5", "index add -- -5"), ("backup -5 --force", "backup --force -- -5"), ("add Zoë -5", "add 'Zoë -5'"),
  ]) func `a negative number is an id only where a user is expected`(line: String, meant: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(line)"])
    #expect(outcome.status == 64 && outcome.errors.hasSuffix("did you mean: usertool \(meant)\n"), "\(outcome)")
  }

  @Test func `a negative number that nothing takes is an error of its own`() throws {
    let workspace = try makeWorkspace()
    for (line, message) in [("undo -5", "a revision must be 1 or more"), ("list -5", "Unexpected argument '-5'")] {
      let outcome = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(line)"])
      #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
    }
  }

  @Test func `every name can be given, whatever id it looks like`() throws {
    let workspace = try makeWorkspace()
    for name in ["id:-5", "id:7", "-5", "id:x", "id:", "name:id:1", "7", "-", "--", "-x"] {
      try workspace.run("add", "--", name)
      let reference = UserReference.needsPrefix(name) ? "name:" + name : name
      let outcome = try workspace.run("get", reference, "name")
      #expect(outcome.output == name + "\n", "\(name): \(outcome)")
    }
  }

  @Test(arguments: [
    ("7", 7), ("id:7", 7), ("id:-7", -7), ("-7", -7), ("id:007", 7), ("id:", nil), ("id:-", nil), ("-", nil),
    ("id:+7", nil), ("id: 7", nil), ("id:7x", nil), ("name:7", nil), ("id:id:7", nil), ("id:--7", nil),
    ("id:99999999999999999999", nil), ("id:\(Int64.min)", Int64.min),
  ]) func `an id is a whole number, also after id:`(text: String, id: Int64?) {
    #expect(UserReference(argument: text).id?.rawValue == id)
  }
}

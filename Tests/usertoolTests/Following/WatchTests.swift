import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Watch` {
  private let defaults = ["FirstScreen", "SecondScreen", "ThirdScreen"]

  @Test func `watch prints the current state, then the updates for each of the three screens`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--hair-color", "black")
    let watcher = try workspace.start("watch", "NIX", "--timeout", "300s")
    try watcher.waitUntilWatching()
    let initial = try watcher.output.next(6).map { try Line.decode($0).summary }
    #expect(
      initial.sorted()
        == defaults.flatMap {
          ["snapshot 1 hair_color null>'#000000' @\($0).background", "snapshot 1 name null>'NIX' @\($0).nameButton"]
        }
        .sorted())
    try workspace.run("rename", "1", "Zoë")
    let updates = try watcher.output.next(3).map { try Line.decode($0).summary }
    #expect(updates == defaults.map { "update 1 name 'NIX'>'Zoë' @\($0).nameButton" })
    try workspace.run("set", "1", "age=3", "hair_color=auburn")
    let colors = try watcher.output.next(3).map { try Line.decode($0).summary }
    #expect(colors == defaults.map { "update 1 hair_color '#000000'>'#a52a2a' @\($0).background" })
  }

  @Test func `a line has the documented members in the documented order`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--no-initial", "--listener", "A=name", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "1", "Zoë")
    let line = try #require(watcher.output.next())
    let pattern = #"""
      ^\{"revision":5,"cursor":"v1-[-0-9a-f]+","op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë","at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","listener":"A"\}$
      """#
    #expect(line.range(of: pattern, options: .regularExpression) != nil, "\(line)")
  }

  @Test func `the current state has the time when it was read`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let before = Date.now.addingTimeInterval(-0.001)
    let output = try workspace.firstLines(1, "watch", "--listener", "A=name").output
    let after = Date.now
    let line = try Line.decode(#require(output.split(separator: "\n").first.map(String.init)))
    let time = try style.parse(#require(line.at))
    #expect(before <= time && time <= after, "\(output)")
  }

  @Test func `with --per-change, watch prints one line per change, without a listener`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--per-change", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("set", "1", "name=Zoë", "age=41")
    let seen = try watcher.output.next(4).map { try Line.decode($0).summary }
    #expect(
      seen == [
        "snapshot 1 name null>'NIX'", "snapshot 1 hair_color null>null", "update 1 name 'NIX'>'Zoë'",
        "update 1 age null>41",
      ])
  }

  @Test func `the same name and attribute given twice is one listener`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start(
      "watch", "--no-initial", "--timeout", "300s", "--listener", "A=name", "--listener", "A=name", "--listener", "A")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "1", "one")
    try workspace.run("set", "1", "age=1")
    let seen = try watcher.output.next(3).map { try Line.decode($0).summary }
    #expect(seen == ["update 1 name 'NIX'>'one' @A", "update 1 name 'NIX'>'one' @A", "update 1 age null>1 @A"])
  }

  @Test func `watch prints only the requested user, attributes and kinds of lines`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.run("add", "Other")
    let watcher = try workspace.start(
      "watch", "1", "--per-change", "--attribute", "hair-color", "--attribute", "age", "--op", "update", "--op",
      "delete",
      "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("set", "2", "age=7", "hair_color=red")
    try workspace.run("set", "1", "age=1", "name=Zoë", "hair_color=red")
    try workspace.run("remove", "1", "--yes")
    let seen = try watcher.output.next(4).map { try Line.decode($0).summary }
    #expect(
      seen == [
        "update 1 age null>1", "update 1 hair_color null>'#ff0000'", "delete 1 hair_color '#ff0000'>null",
        "delete 1 age 1>null",
      ])
  }

  @Test func `with --count, watch stops after that many lines, not counting the current state`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--count", "4", "--listener", "A=name", "--listener", "B=name")
    try watcher.waitUntilWatching()
    for name in ["one", "two", "three"] { try workspace.run("rename", "1", name) }
    let lines = String(decoding: watcher.output.rest(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2 + 4)
    #expect(watcher.wait() == 0)
  }

  @Test func `a timeout is exit code 124`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("watch", "--timeout", "2s", "--format", "json")
    #expect(outcome.status == 124)
    #expect(outcome.output.hasPrefix("[") && outcome.output.hasSuffix("]\n"))
  }

  @Test func `the table format has a line for the change and a line for each listener`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let watcher = try workspace.start("watch", "--no-initial", "--format", "table", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "1", "Zoë")
    let lines = watcher.output.next(4)
    #expect(
      lines[0].range(of: #"^rev 5  \d\d:\d\d:\d\d  user 1  name "NIX" → "Zoë"$"#, options: .regularExpression) != nil)
    #expect(
      lines.dropFirst() == [
        "  FirstScreen.nameButton    Zoë", "  SecondScreen.nameButton   Zoë", "  ThirdScreen.nameButton    Zoë",
      ])
  }

  @Test func `a huge update by another program is printed completely, as one set`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO users (name) SELECT 'u' || i FROM n"
    )
    let watcher = try workspace.start("watch", "--no-initial", "--listener", "A=name", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.sqlite("UPDATE users SET name = name || '!'")
    let lines = try watcher.output.next(5_000).map(Line.decode)
    #expect(lines.map(\.user) == (1...5_000).map { Int64($0) })
    #expect(lines.allSatisfy { $0.revision == lines.last?.revision })
  }
}

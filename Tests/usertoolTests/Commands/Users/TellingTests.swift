import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Updates that rename and set print` {
  @Test func `a rename prints an update for each of the three screens, in order`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("rename", "NIX", "Zoë")
    #expect(
      try outcome.summaries == ["First", "Second", "Third"].map { "update 1 name 'NIX'>'Zoë' @\($0)Screen.nameButton" })
    let readable = try workspace.run("rename", "1", "NIX", "--format", "table").lines
    #expect(readable.count == 4 && readable[0].hasSuffix("user 1  name \"Zoë\" → \"NIX\""), "\(readable)")
    #expect(readable[1] == "  FirstScreen.nameButton    NIX")
  }

  @Test func `renaming to the same name writes nothing, and prints unchanged`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    let outcome = try workspace.run("rename", "1", "NIX")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors == "unchanged\n")
    #expect(try workspace.dump() == before)
  }

  @Test func `a composed and a decomposed letter are different names`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Zo\u{EB}")
    let outcome = try workspace.run("rename", "1", "Zoe\u{308}", "--listener", "A=name")
    #expect(outcome.lines.count == 1)
  }

  @Test func `the same listener given twice is called once`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run(
      "rename", "1", "Zoë", "--listener", "A=name", "--listener", "A=name", "--listener", "B", "--listener", "C=age")
    #expect(try outcome.summaries == ["update 1 name 'NIX'>'Zoë' @A", "update 1 name 'NIX'>'Zoë' @B"])
  }

  @Test func `changes that no listener receives are printed too`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=1")
    let outcome = try workspace.run("set", "1", "age=2")
    #expect(try outcome.summaries == ["update 1 age 1>2"])
    #expect(outcome.output.contains(#""listener":null}"#))
    let readable = try workspace.run("set", "1", "age=3", "--format", "table").lines
    #expect(readable.count == 1 && readable[0].hasSuffix("user 1  age 2 → 3"), "\(readable)")
    let both = try workspace.run("set", "1", "age=4", "name=Zoë", "--listener", "A=name", "--format", "table").lines
    #expect(both.count == 2 && both[0].contains("age 3 → 4") && both[1] == "  A   Zoë", "\(both)")
    #expect(try workspace.run("set", "1", "age=4").output.isEmpty)
  }

  @Test func `several attributes are one write and one revision`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "room=7")
    let outcome = try workspace.run(
      "set", "1", "age=41", "hair-color=auburn", "name=Zoë", "--unset", "room", "--listener", "A")
    #expect(
      try outcome.summaries == [
        "update 1 age null>41 @A", "update 1 hair_color null>'#a52a2a' @A", "update 1 name 'NIX'>'Zoë' @A",
        "update 1 room 7>null @A",
      ])
    #expect(Set(try outcome.lines.map { try Line.decode($0).revision }).count == 1)
  }

  @Test func `with --expect, rename changes only that name`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("rename", "1", "Zoë", "--expect", "NIX").status == 0)
    #expect(try workspace.run("rename", "1", "Ann", "--expect", "NIX").status == 4)
    #expect(try workspace.run("get", "1", "name").output == "Zoë\n")
  }

  @Test func `a dry run prints the changes and makes none`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41")
    let before = try workspace.dump()
    let renamed = try workspace.run("rename", "1", "Zoë", "-n")
    #expect(renamed.status == 0)
    #expect(
      renamed.output.hasPrefix(
        #"{"revision":null,"cursor":null,"op":"update","user":1,"attribute":"name","old":"NIX","new":"Zoë""#))
    #expect(try workspace.run("set", "1", "age=42", "--dry-run").summaries == ["update 1 age 41>42"])
    #expect(try workspace.run("remove", "1", "-n").summaries.count == 3)
    #expect(
      try workspace.run("add", "x", "-n").summaries == ["insert 2 name null>'x'", "insert 2 hair_color null>null"])
    #expect(try workspace.run("rename", "1", "", "-n").status == 65)
    #expect(try workspace.dump() == before)
  }

  @Test func `with --quiet, rename prints only errors`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("rename", "1", "Zoë", "-q")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
  }

  @Test func `log prints old and new values, pages by cursor, and includes removed users`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.run("add", "Other")
    for name in ["one", "two"] { try workspace.run("rename", "1", name) }
    try workspace.run("remove", "1", "--yes")
    let all = try workspace.run("log", "1").summaries
    #expect(
      all == [
        "insert 1 name null>'NIX'", "insert 1 hair_color null>null", "update 1 name 'NIX'>'one'",
        "update 1 name 'one'>'two'", "delete 1 name 'two'>null", "delete 1 hair_color null>null",
      ])
    let first = try #require(try workspace.run("log", "1").lines.compactMap { try Line.decode($0).cursor }.first)
    // The first write has two changes.
    var (pages, after) = (Array(all.prefix(2)), ["--after", first])
    for _ in 0..<6 {
      let page = try workspace.finish([Workspace.tool, "log", "1", "--limit", "2"] + after)
      pages += try page.summaries
      guard let cursor = page.errors.split(separator: " ").last, page.errors.contains("there is more") else { break }
      after = ["--after", String(cursor.dropLast())]
    }
    #expect(pages == all)
  }

  @Test func `listeners lists each listener once, in the order of registration`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("listeners", "NIX").lines.count == 6)
    let outcome = try workspace.run("listeners", "1", "--listener", "B", "--listener", "A=name", "--listener", "B")
    #expect(outcome.output == "1\tB\tuser 1\t0\n2\tA\tname of user 1\t0\n")
  }
}

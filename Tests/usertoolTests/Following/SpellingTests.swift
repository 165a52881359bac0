import TestSupport
import Testing

/// The store compares attribute names by their bytes; Swift's `==` treats two spellings of a letter as equal.
@Suite(.bounded, .serialized) struct `Attributes that look the same` {
  private static let composed = "caf\u{E9}"
  private static let decomposed = "cafe\u{301}"

  @Test func `watch prints only the requested attribute`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let cursor = workspace.folder + "/cursor"
    try workspace.takePosition("--cursor-file", cursor)
    try workspace.run("set", "1", Self.decomposed + "=1")
    try workspace.run("set", "1", Self.composed + "=2")
    let outcome = try workspace.run(
      "watch", "--attribute", Self.composed, "--count", "1", "--cursor-file", cursor, "--per-change")
    #expect(try outcome.lines.map { try Line.decode($0).new } == [.integer(2)], "\(outcome)")
  }

  @Test func `a listener receives only its own attribute`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let listeners = ["--listener", "A=" + Self.composed, "--listener", "A=" + Self.decomposed]
    let outcome = try workspace.finish(
      [Workspace.tool, "set", "1", Self.composed + "=1", Self.decomposed + "=2"] + listeners)
    let lines = try outcome.lines.map { try Line.decode($0) }
    // The order identifies the lines, because Swift's == treats the two attributes as equal.
    #expect(lines.map(\.new) == [.integer(1), .integer(2)] && lines.allSatisfy { $0.listener == "A" }, "\(outcome)")
    let unheard = try workspace.run("set", "1", Self.composed + "=3", "--listener", "A=" + Self.decomposed)
    #expect(try unheard.lines.map { try Line.decode($0).listener } == [nil], "\(unheard)")
  }

  @Test func `listener names with two spellings of a letter are the same name`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let listeners = ["--listener", Self.composed + "=name", "--listener", Self.decomposed + "=name"]
    #expect(try workspace.finish([Workspace.tool, "rename", "1", "Zoë"] + listeners).lines.count == 1)
    #expect(try workspace.finish([Workspace.tool, "listeners"] + listeners).lines.count == 1)
  }

  @Test func `set accepts both spellings, but not the same one twice`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let both = try workspace.run("set", "1", Self.composed + "=1", Self.decomposed + "=2")
    #expect(both.status == 0, "\(both)")
    #expect(try workspace.sqlite("SELECT count(*) FROM attributes").output == "2\n")
    let twice = try workspace.run("set", "1", Self.composed + "=1", Self.composed + "=2")
    #expect(twice.status == 64 && twice.errors.contains("given twice"), "\(twice)")
  }

  @Test func `list notes that no user has the other spelling`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", Self.composed + "=1")
    #expect(try workspace.run("list", "--sort", Self.composed).errors.isEmpty)
    let outcome = try workspace.run("list", "--sort", Self.decomposed)
    #expect(outcome.status == 0 && outcome.errors.contains("one that looks the same has different bytes"), "\(outcome)")
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Indexes on the command line` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=41", "--set", "note=x")
    return workspace
  }

  @Test func `an index is added, listed and removed`() throws {
    let workspace = try makeWorkspace()
    #expect(try workspace.run("index").errors == "there are no indexes\n")
    #expect(try workspace.run("index", "add", "note", "age").errors == "indexed \"note\"\nindexed \"age\"\n")
    #expect(try workspace.run("index").output == "age\nnote\n")
    #expect(
      try workspace.run("index", "list", "--format", "json").lines == [
        "[", #"{"attribute":"age"},"#, #"{"attribute":"note"}"#, "]",
      ])
    #expect(try workspace.run("index", "remove", "age").errors == "removed the index of \"age\"\n")
    #expect(try workspace.run("index").output == "note\n")
    #expect(try workspace.run("check").status == 0)
  }

  @Test func `an index that exists is left alone, and removing one that does not is an error`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("index", "add", "age")
    let again = try workspace.run("index", "add", "age", "note")
    #expect(again.status == 0 && again.errors == "unchanged: \"age\" has an index\nindexed \"note\"\n", "\(again)")
    let missing = try workspace.run("index", "remove", "note", "agee")
    #expect(missing.status == 3, "\(missing)")
    #expect(missing.errors.contains(#""agee" has no index (did you mean "age"?)"#), "\(missing)")
    #expect(try workspace.run("index").output == "age\nnote\n")
  }

  @Test func `an attribute that nobody has is indexed, with a note`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("index", "add", "agee")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors == "indexed \"agee\"\nno user has \"agee\" (did you mean \"age\"?)\n", "\(outcome)")
    #expect(
      try workspace.run("index", "add", "name", "hair-color").errors == "indexed \"name\"\nindexed \"hair_color\"\n")
  }

  @Test func `a dry run changes nothing`() throws {
    let workspace = try makeWorkspace()
    #expect(try workspace.run("index", "add", "age", "--dry-run").errors == "dry run: would index \"age\"\n")
    #expect(try workspace.run("index").output.isEmpty)
    try workspace.run("index", "add", "age")
    #expect(
      try workspace.run("index", "remove", "age", "-n").errors == "dry run: would remove the index of \"age\"\n")
    #expect(try workspace.run("index").output == "age\n")
  }

  @Test(arguments: [
    (["add"], "add needs an attribute"), (["remove"], "remove needs an attribute"),
    (["list", "age"], "need add or remove"), (["add", "id"], "found by id without an index"), (["ad", "age"], "ad"),
    (["-n"], "need add or remove"),
  ]) func `mistakes are usage errors`(arguments: [String], message: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish([Workspace.tool, "index"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
  }

  @Test func `an index that is interrupted is not added`() throws {
    let workspace = try makeWorkspace()
    try workspace.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
      INSERT INTO users (name) SELECT hex(randomblob(40)) FROM n;
      """)
    for (signal, status) in [(SIGINT, 130), (SIGTERM, 143), (SIGKILL, 137)] as [(Int32, Int32)] {
      let indexing = try workspace.start("index", "add", "name")
      // The index is being built when it has the write lock.
      while try workspace.run("add", "x", "--busy-timeout", "0s", "-n").status == 0 {}
      indexing.send(signal)
      #expect(indexing.wait() == status)
      #expect(indexing.errors.rest().isEmpty)
      #expect(try workspace.run("index").output.isEmpty)
    }
    #expect(try workspace.run("check").status == 0)
    #expect(try workspace.run("index", "add", "name").status == 0)
  }
}

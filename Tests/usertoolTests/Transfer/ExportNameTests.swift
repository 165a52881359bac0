import Foundation
import Testing

/// An export is what its name says.
@Suite(.bounded, .serialized) struct `The names of exports` {
  @Test(arguments: [
    ("u.jsonl", "{"), ("u.NDJSON", "{"), ("u.csv", "id,"), ("U.CSV", "id,"), ("u", "{"), (".u", "{"), ("a.b/u", "{"),
    ("u.", "{"),
  ]) func `a name with a known extension, or none, is written`(name: String, start: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "A")
    try FileManager.default.createDirectory(atPath: workspace.folder + "/a.b", withIntermediateDirectories: true)
    #expect(try workspace.run("export", workspace.folder + "/" + name).status == 0)
    #expect(workspace.bytes(of: name)?.starts(with: Data(start.utf8)) ?? false)
  }

  @Test(arguments: ["u.tsv", "u.json", "u.xml", "u.txt", "u.csv.old", "u.xlsx", "u v.json"])
  func `a name of another format is refused, and the hint is accepted`(name: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "A")
    let path = workspace.folder + "/" + name
    let outcome = try workspace.run("export", path)
    #expect(outcome.status == 64 && outcome.errors.contains("names another format"), "\(outcome)")
    #expect(workspace.bytes(of: name) == nil)
    let hint = try #require(outcome.errors.split(separator: "\n").last?.split(separator: "hint: usertool ").last)
    let command = hint.prefix { $0 != "," }
    let hinted = try workspace.finish(["sh", "-c", "'\(Workspace.tool)' \(command)"])
    #expect(hinted.status == 0 && hinted.errors.hasPrefix("exported 1 user to"), "\(hint): \(hinted)")
    for format in ["jsonl", "csv"] {
      #expect(try workspace.run("export", path, "--format", format, "--force").status == 0)
    }
  }

  @Test(arguments: [
    ("u.csv.gz", "csv | gzip"), ("u.jsonl.gz", "jsonl | gzip"), ("u.gz", "jsonl | gzip"), ("u.csv.bz2", "csv | bzip2"),
    ("u.CSV.XZ", "csv | xz"), ("u.ndjson.zst", "jsonl | zstd"),
  ]) func `a compressed export is a pipe`(name: String, program: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "A")
    let path = workspace.folder + "/" + name
    for format in [[], ["--format", "csv"], ["--format", "jsonl"]] {
      let outcome = try workspace.finish([Workspace.tool, "export", path] + format)
      #expect(outcome.status == 64 && outcome.errors.contains("names a compressed file"), "\(outcome)")
    }
    let hint = try #require(try workspace.run("export", path).errors.split(separator: "hint: usertool ").last)
    #expect(hint == "export --format \(program) > \(path)\n")
    // The other programs may not be installed.
    guard program.hasSuffix("gzip") else { return }
    let script = "set -o pipefail; '\(Workspace.tool)' \(hint)gunzip < '\(path)'"
    let outcome = try workspace.finish(["bash", "-c", script])
    let start = program.hasPrefix("csv") ? "id," : "{"
    #expect(outcome.status == 0 && outcome.output.hasPrefix(start), "\(hint): \(outcome)")
  }
}

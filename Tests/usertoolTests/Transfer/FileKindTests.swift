import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Files in other forms` {
  /// What makes each file from `users.jsonl` or `users.csv`, its name, and what the error calls it.
  private static let cases: [(make: String, name: String, words: String)] = [
    ("gzip -c users.csv", "in.csv.gz", "compressed with gzip"), ("gzip -c users.jsonl", "in.jsonl.gz", "with gzip"),
    ("gzip -c users.csv", "in.csv", "with gzip"), ("bzip2 -c users.csv", "in.csv.bz2", "with bzip2"),
    ("xz -c users.jsonl", "in.xz", "with xz"), ("jq -s . users.jsonl", "in.json", "a JSON array"),
    ("jq -cs . users.jsonl", "in.jsonl", "a JSON array"), ("jq . users.jsonl", "in.jsonl", "several lines"),
    ("tr '\\n' '\\r' < users.csv", "in.csv", "a carriage return only"), ("cat other.db", "in.db", "a SQLite database"),
  ]

  @Test func `the first bytes tell what a file is, and the command of the hint imports it`() throws {
    for (make, name, words) in Self.cases {
      for isPiped in [false, true] where !(isPiped && name == "in.db") {
        let workspace = try Workspace()
        let folder = workspace.folder
        try workspace.write(Data("name,note\nZoë,1\n".utf8), to: "users.csv")
        try workspace.write(Data("{\"name\":\"Zoë\",\"note\":1}\n".utf8), to: "users.jsonl")
        #expect(try workspace.run("--db", folder + "/other.db", "import", folder + "/users.csv").status == 0)
        let made = try workspace.finish(["bash", "-c", "cd \(folder) && \(make) > it.tmp && mv it.tmp \(name)"])
        if made.errors.contains("command not found") { continue }
        #expect(made.status == 0, "\(make): \(made)")
        let format = name.contains("csv") ? "--format csv" : ""
        let script =
          isPiped ? "cat \(folder)/\(name) | usertool import - \(format)" : "usertool import \(folder)/\(name)"
        let outcome = try run(script, in: workspace)
        #expect(outcome.status == 65 && outcome.errors.contains(words), "\(script): \(outcome)")
        #expect(workspace.bytes() == nil)
        let hint = try #require(outcome.errors.split(separator: "\n").last?.split(separator: "hint: ").last)
        let repaired = try run((isPiped ? "cat \(folder)/\(name) | " : "") + hint, in: workspace)
        #expect(repaired.status == 0, "\(hint): \(repaired)")
        #expect(try workspace.run("list").output == "1\tZoë\t\tnote=1\n", "\(hint)")
      }
    }
  }

  /// Runs a script in which `usertool` is the tool that is tested.
  private func run(_ script: String, in workspace: Workspace) throws -> Workspace.Outcome {
    let folder = URL(fileURLWithPath: Workspace.tool).deletingLastPathComponent().path
    return try workspace.finish(["bash", "-c", "set -o pipefail; PATH=\"\(folder):$PATH\"; \(script)"])
  }

  @Test func `a spreadsheet is an error that says how to save it`() throws {
    let workspace = try Workspace()
    for head in [[0x50, 0x4B, 0x03, 0x04], [0xD0, 0xCF, 0x11, 0xE0]] as [[UInt8]] {
      try workspace.write(Data(head + [0, 1, 2]), to: "in.xlsx")
      let outcome = try workspace.run("import", workspace.folder + "/in.xlsx")
      #expect(outcome.status == 65 && outcome.errors.contains("a spreadsheet or a zip archive"), "\(outcome)")
      #expect(outcome.errors.contains("--convert-to csv \(workspace.folder)/in.xlsx"), "\(outcome)")
    }
  }

  @Test func `standard input is CSV if it starts like a header line, and other names of files are known`() throws {
    let workspace = try Workspace()
    for text in [
      "name,age\nA,1\n", "\u{FEFF}\"Name\";x\nA;1\n", "Ä;name\n1;A\n", "{\"name\":\"A\"}\n", "\n {\"name\":\"A\"}",
    ] {
      try workspace.write(Data(text.utf8), to: "in")
      let outcome = try run("cat \(workspace.folder)/in | usertool import -", in: workspace)
      #expect(
        outcome.status == 0 && outcome.errors.hasSuffix("imported 1 user as one change set\n"), "\(text): \(outcome)")
    }
    for (name, text) in [("a.tsv", "name\tage\nA\t1\n"), ("a.json", "{\"name\":\"A\"}\n")] {
      try workspace.write(Data(text.utf8), to: name)
      #expect(try workspace.run("import", workspace.folder + "/" + name).status == 0, "\(name)")
    }
    try workspace.write(Data("{\"name\":\"A\"}\n".utf8), to: "lines.csv")
    let outcome = try workspace.run("import", workspace.folder + "/lines.csv")
    #expect(
      outcome.status == 65 && outcome.errors.contains("is JSON lines") && outcome.errors.contains("--format jsonl"))
  }
}

import Foundation
import TestSupport
import Testing

/// A command line in a hint does what was asked for, and to the same database.
@Suite(.bounded, .serialized) struct `Options in hints` {
  /// Command lines with hints that name a command, in a folder with the files that `makeWorkspace` writes.
  ///
  /// Without a further text, each named command has `--db a.db`; otherwise it has this text.
  private static let cases: [(line: String, kept: String)] = [
    ("get 99", ""), ("get Nobody", ""), ("get 1 agee", ""), ("get 90 name", ""), ("purge Ann --yes", ""),
    ("purge 99 --yes", ""), ("undo 99", ""), ("index remove city", ""), ("consumers remove x --yes", ""),
    ("set 1 hair_color=", ""), ("add Zoë Müller", ""), ("list age>=18", ""), ("export --format json", ""),
    ("backup b.db", ""), ("list --follow --db none.db", "--db none.db"), ("check --db none.db", "--db none.db"),
    ("backup b.db --db none.db", "--db none.db"), ("list --db empty.db", "--db empty.db"),
    ("list --db old.db", "--db old.db"), ("check --db bare.db", "--db bare.db"), ("list --db bare.db", "--db bare.db"),
    ("list --db=none.db", "--db none.db"), ("list --db torn.db", "--db torn.db"),
    // The options that a check of the backup needs are those of the backup.
    ("restore a.db --db empty.db --yes", "--db a.db"), ("restore bare.db --db empty.db --yes", "--db bare.db"),
    ("export u.xml --where age>=18 --force", "--where 'age>=18' --force --db a.db"),
    ("export u.csv.gz --where age>=18", "--where 'age>=18' --db a.db"),
    ("export u.gz --format csv --with age", "--format csv --with age --db a.db"),
  ]

  /// Files that must be converted to be imported, by their first bytes.
  private static let files: [(name: String, start: [UInt8])] = [
    ("in.csv.gz", [0x1F, 0x8B]), ("in.csv.bz2", Array("BZh91AY&".utf8)), ("in.xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
    ("in.zst", [0x28, 0xB5, 0x2F, 0xFD]), ("in.json", Array("[{\"name\":\"A\"}]".utf8)),
    ("in.jsonl", Array("{\n\"name\":\"A\"}".utf8)), ("in.csv", Array("name,age\rA,1\r".utf8)),
    ("in.db", Array("SQLite format 3\0".utf8)),
  ]

  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    workspace.database = workspace.folder + "/a.db"
    try workspace.run("add", "Ann", "--set", "age=41")
    try workspace.sqlite("INSERT INTO users (id, name) VALUES (90, 'bad ' || CAST(x'ff' AS TEXT))")
    for name in ["empty", "old", "bare", "torn"] { try workspace.run("init", "--db", workspace.folder + "/\(name).db") }
    for (name, sql) in [
      ("old", "DROP TRIGGER users_after_update"), ("bare", "PRAGMA application_id = 0; PRAGMA user_version = 0"),
    ] { try #require(try workspace.finish(["sqlite3", workspace.folder + "/\(name).db", sql]).status == 0) }
    let bytes = try #require(workspace.bytes(of: "torn.db"))
    try workspace.write(bytes.prefix(100) + Data(repeating: 7, count: bytes.count - 100), to: "torn.db")
    workspace.database = workspace.folder + "/other.db"
    return workspace
  }

  private func errors(of line: String, in workspace: Workspace) throws -> String {
    let script = "cd ~; set -f; set -- $1; exec '\(Workspace.tool)' \"$@\""
    return try workspace.finish(["bash", "-c", script, "bash", line]).errors
  }

  /// The words of each command line that a message names, without those that ask for help.
  private func commands(in errors: String) -> [[String]] {
    let messages = errors.split(separator: "\n").filter { !$0.hasPrefix("usertool: error: ") }
    let lines = messages.flatMap { message -> ArraySlice<Substring> in
      message.replacing("usertool: hint: ", with: "").split(separator: "usertool ", omittingEmptySubsequences: false)
        .dropFirst()
    }
    return lines.map { line in
      var words = ShellWords.split(line)
      // The message continues after a comma or a semicolon.
      if let end = words.firstIndex(where: { $0 == "|" || [",", ";"].contains($0.last) && $0.count > 1 }) {
        words = words[..<end] + [String(words[end].dropLast())]
      }
      return words
    }.filter { !$0.contains("--help") }
  }

  @Test func `every command that a hint names has the options of the command line that apply`() throws {
    let workspace = try makeWorkspace()
    for (line, kept) in Self.cases {
      let errors = try errors(of: line.contains("--db") ? line : line + " --db a.db", in: workspace)
      let commands = commands(in: errors)
      #expect(!commands.isEmpty, "\(line): \(errors)")
      let expected = ShellWords.split(kept.isEmpty ? "--db a.db" : kept)
      for command in commands { #expect(has(command, expected), "\(line): \(errors)") }
    }
  }

  @Test func `a command that imports a converted file has all options of the import`() throws {
    let workspace = try makeWorkspace()
    for (name, start) in Self.files {
      try workspace.write(Data(start + [0x20, 0x20]), to: name)
      let csv = name.contains("csv") ? "--delimiter ; --text PLZ --rename=a=b" : "--encoding latin1"
      let options = "--update --dry-run \(csv) --busy-timeout 9s --db a.db"
      let errors = try errors(of: "import \(name) \(options)", in: workspace)
      let command = try #require(commands(in: errors).last, "\(name): \(errors)")
      #expect(command.starts(with: ["import", "-"]) && has(command, ShellWords.split(options)), "\(errors)")
      #expect(name != "in.csv.gz" || has(command, ["--format", "csv"]), "\(errors)")
      #expect(command.count { $0 == "--format" } <= 1, "\(errors)")
    }
  }

  private func has(_ command: [String], _ options: [String]) -> Bool {
    command.indices.contains { command[$0...].starts(with: options) }
      || options.allSatisfy { command.contains($0) }
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Files that are not a usable database` {
  /// Commands that open a database, but do not create one.
  static let reading = [
    ["get", "1"], ["list"], ["log"], ["watch", "--once"], ["listeners"], ["rename", "1", "x"], ["set", "1", "a=1"],
    ["remove", "1", "--yes"], ["undo"], ["backup", "/nowhere/backup.db"],
  ]

  /// Runs each command, and expects the exit code, one error line, at most one hint, and no standard output.
  private func expectError(_ status: Int32, _ words: String, _ workspace: Workspace, also more: [[String]] = []) throws
  {
    for arguments in Self.reading + more {
      let outcome = try workspace.finish([Workspace.tool] + arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      #expect(outcome.output.isEmpty, "\(arguments): \(outcome)")
      let lines = outcome.errors.split(separator: "\n")
      #expect(lines.first?.hasPrefix("usertool: error: ") ?? false, "\(arguments): \(outcome)")
      #expect(words.isEmpty || lines.first?.contains(words) ?? false, "\(arguments): \(outcome)")
      #expect(lines.count <= 2, "\(arguments): \(outcome)")
    }
  }

  @Test func `a missing database is exit code 66 with a hint, and is not created`() throws {
    let workspace = try Workspace()
    try expectError(66, "there is no database", workspace)
    #expect(try workspace.run("list").errors.contains("create it with usertool init"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder).isEmpty)
    try workspace.run("add", "x", "--dry-run")
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder).isEmpty)
  }

  @Test func `a folder is not opened as a database`() throws {
    let workspace = try Workspace()
    try FileManager.default.createDirectory(atPath: workspace.database, withIntermediateDirectories: false)
    try expectError(66, "is a folder", workspace, also: [["add", "x"], ["init"]])
  }

  @Test func `a pipe is not opened as a database`() throws {
    let workspace = try Workspace()
    try #require(unsafe mkfifo(workspace.database, 0o600) == 0)
    try expectError(66, "is a pipe", workspace, also: [["add", "x"], ["init"]])
  }

  @Test func `a path that starts with file: is a file name, not a URI`() throws {
    let workspace = try Workspace()
    let child = try workspace.start([
      "sh", "-c", "cd \(workspace.folder) && \(Workspace.tool) --db 'file:u.db?mode=memory' add NIX",
    ])
    #expect(child.wait() == 0)
    #expect(workspace.bytes(of: "file:u.db?mode=memory") != nil)
  }

  @Test func `a text file is rejected unchanged`() throws {
    let workspace = try Workspace()
    let text = Data(String(repeating: "this is no database\n", count: 400).utf8)
    try workspace.write(text, to: "users.db")
    try expectError(65, "not a database", workspace, also: [["add", "x"], ["init"]])
    #expect(workspace.bytes() == text)
  }

  @Test func `a database of another program is rejected unchanged`() throws {
    let workspace = try Workspace()
    try workspace.sqlite("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let before = workspace.bytes()
    try expectError(65, "", workspace, also: [["add", "x"], ["init"]])
    #expect(workspace.bytes() == before)
  }

  @Test func `a database of a newer version is rejected unchanged`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite("PRAGMA user_version = 99")
    let before = workspace.bytes()
    try expectError(65, "newer", workspace, also: [["add", "x"], ["init"]])
    #expect(workspace.bytes() == before)
  }

  @Test func `a database of a layout that is no longer migrated is rejected unchanged, with a way out`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite("PRAGMA user_version = 3")
    let before = workspace.bytes()
    try expectError(65, "schema version 3", workspace, also: [["add", "x"], ["init"], ["init", "--dry-run"]])
    #expect(workspace.bytes() == before)
    // The option is repeated after a command only.
    let outcome = try workspace.run("init", "--db", workspace.database)
    let hint = "export the users with the version of usertool that made the file, and import them into a new one"
    #expect(outcome.errors.contains("hint: \(hint)\n"), "\(outcome)")
  }

  @Test func `a truncated database is an error, and is not changed`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO users (name) SELECT 'u' || i FROM n; PRAGMA wal_checkpoint(TRUNCATE);"
    )
    let whole = try #require(workspace.bytes())
    // Cut inside the schema, so that every command fails; then among the rows.
    for length in [100, 1_024, 5_000] {
      try workspace.write(whole.prefix(length), to: "users.db")
      try expectError(65, "", workspace)
      #expect(workspace.bytes() == whole.prefix(length))
    }
    try workspace.write(whole.prefix(whole.count / 2), to: "users.db")
    let list = try workspace.run("list")
    #expect(list.status == 65 && list.errors.contains("damaged"), "\(list.status) \(list.errors)")
  }

  @Test func `missing permission to read or write is exit code 77`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let other = try Stranger(workspace)
    try other.restrict(0o600)
    for arguments in Self.reading + [["add", "x"], ["init"]] {
      let outcome = try other.run(arguments)
      #expect(outcome.status == 77, "\(arguments): \(outcome)")
      #expect(outcome.output.isEmpty)
    }
    try other.restrict(0o644)
    for arguments in [["rename", "1", "x"], ["set", "1", "a=1"], ["remove", "1", "--yes"], ["add", "x"]] {
      let outcome = try other.run(arguments)
      #expect(outcome.status == 77, "\(arguments): \(outcome)")
    }
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
  }

  @Test func `missing permission for the folder of a database that is not in WAL mode is exit code 77`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.finish(["sqlite3", workspace.database, "PRAGMA journal_mode = DELETE"])
    let other = try Stranger(workspace)
    // Everybody may write to the file, but to switch the mode takes a journal beside it.
    try other.restrict(0o666)
    let outcome = try other.run(["rename", "1", "x"])
    #expect(outcome.status == 77, "\(outcome)")
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
  }

  @Test func `init fails in a folder in which nothing can be created`() throws {
    let workspace = try Workspace()
    let other = try Stranger(workspace)
    let outcome = try other.run(["init"])
    #expect(outcome.status == 77 || outcome.status == 73, "\(outcome)")
    let nowhere = try workspace.run("--db", "/proc/nowhere/users.db", "init")
    #expect(nowhere.status == 73, "\(nowhere)")
  }
}

import Foundation
import TestSupport
import Testing

/// `backup`, `restore`, `check` and `undo`.
@Suite(.bounded, .serialized) struct `Keeping` {
  private func filled(_ megabytes: Int = 0) throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--hair-color", "auburn", "--set", "age=41")
    if megabytes > 0 {
      try workspace.sqlite(
        "INSERT INTO attributes SELECT 1, 'bulk' || value, randomblob(1048576) FROM generate_series(1, \(megabytes))")
    }
    return workspace
  }

  /// The names of the files in the workspace, except the database.
  private func files(_ workspace: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: workspace.folder).filter { !$0.hasPrefix("users.db") }.sorted()
  }

  private func size(of path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }

  // MARK: Backup

  @Test func `a backup is a database, and replaces a file only with --force`() throws {
    let workspace = try filled()
    let backup = workspace.folder + "/backup.db"
    let outcome = try workspace.run("backup", backup)
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.contains("as of revision 4"), "\(outcome)")
    #expect(try workspace.run("--db", backup, "list").output == workspace.run("list").output)
    let again = try workspace.run("backup", backup)
    #expect(again.status == 73 && again.errors.contains("--force"), "\(again)")
    #expect(try workspace.run("backup", backup, "--force", "--quiet").errors.isEmpty)
    #expect(try workspace.run("backup", backup, "-n").status == 73)
    #expect(try workspace.run("backup", workspace.folder + "/other.db", "-n").errors.contains("would"))
    #expect(try workspace.run("backup", "-").status == 64)
    #expect(try workspace.run("backup", workspace.database, "--force").status == 73)
    #expect(try workspace.run("backup", workspace.folder + "/nowhere/b.db").status == 73)
    #expect(try files(workspace) == ["backup.db"])
  }

  @Test func `a killed backup keeps the old file, and an interrupted one also leaves no draft`() throws {
    let workspace = try filled(16)
    let backup = workspace.folder + "/backup.db"
    let old = Data("precious".utf8)
    try workspace.write(old, to: "backup.db")
    for signal in [SIGKILL, SIGINT] {
      let child = try workspace.start("backup", backup, "--force")
      while try !files(workspace).contains(where: { $0.hasSuffix(".partial") }), workspace.bytes(of: "backup.db") == old
      { sched_yield() }
      child.send(signal)
      let status = child.wait()
      let drafts = try files(workspace).filter { $0.hasSuffix(".partial") }
      if status == 0 {
        // It finished before the signal, so the backup must be complete.
        #expect(try workspace.run("--db", backup, "check").status == 0)
        try workspace.write(old, to: "backup.db")
      } else {
        #expect(workspace.bytes(of: "backup.db") == old)
        #expect(signal == SIGKILL || drafts.isEmpty, "\(drafts)")
        #expect(status == (signal == SIGKILL ? 137 : 130))
      }
      for draft in drafts { try FileManager.default.removeItem(atPath: workspace.folder + "/" + draft) }
    }
    #expect(try workspace.run("check").status == 0)
  }

  @Test func `other processes write during a backup, which contains only whole transactions`() throws {
    let workspace = try filled(8)
    let python = try workspace.python(
      """
      for i in range(100):
        db.execute('BEGIN IMMEDIATE')
        for n in range(2): db.execute("INSERT INTO users (name) VALUES ('p')")
        db.execute('COMMIT')
      """)
    for number in 0..<3 {
      let backup = workspace.folder + "/backup\(number).db"
      #expect(try workspace.run("backup", backup).status == 0)
      #expect(try workspace.run("--db", backup, "check").status == 0)
      let count = try workspace.finish(["sqlite3", backup, "SELECT count(*) % 2 FROM users"]).output
      #expect(count == "1\n", "a part of a transaction")
    }
    #expect(python.wait() == 0)
    #expect(try workspace.sqlite("SELECT count(*) FROM users").output == "201\n")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "this process may not mount a small file system"))
  func `on a full disk, backup and restore fail and change nothing`() throws {
    let workspace = try filled(1)
    let big = workspace.folder + "/big.db"
    try workspace.run("backup", big)
    let disk = try SmallDisk(workspace)
    let small = workspace.database
    let failed = try workspace.run("--db", big, "backup", small)
    #expect(failed.status == 1 && failed.errors.contains("no space left"), "\(failed)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder + "/disk").isEmpty)
    try workspace.run("add", "small")
    let before = try workspace.dump()
    let restored = try workspace.run("restore", big, "--yes")
    #expect(restored.status == 1 && restored.errors.contains("no space left"), "\(restored)")
    #expect(try workspace.dump() == before)
    #expect(try workspace.run("rename", "small", "later").status == 0)
    #expect(try workspace.run("check").status == 0)
    withExtendedLifetime(disk) {}
  }

  @Test func `restoring a file of an older layout leaves nothing in the folder of temporary files`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let (old, temporary) = (workspace.folder + "/old.db", workspace.folder + "/temporary")
    let golden = Workspace.project.appending(path: "Tests/Golden/layout5.db").path
    try FileManager.default.copyItem(atPath: golden, toPath: old)
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    let restored = try workspace.run("restore", old, "--yes", environment: ["TMPDIR": temporary])
    #expect(restored.status == 0, "\(restored)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
  }

  @Test func `a backup whose name may not be on disk fails`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    // The second `fsync` is that of the folder.
    let tracer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=2"]
    let outcome = try workspace.finish(tracer + [Workspace.tool, "backup", workspace.folder + "/backup.db"])
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.errors.contains("cannot sync") && outcome.errors.contains("Input/output error"), "\(outcome)")
  }

  @Test(arguments: [["renameat2"], ["renameat2", "link"]])
  func `a backup gets its name also on file systems that lack calls, and replaces nothing`(missing: [String]) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let tracer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + missing.joined(separator: ",")]
    let faults = missing.flatMap { ["-e", "inject=\($0):error=\($0 == "link" ? "EPERM" : "EINVAL")"] }
    let backup = [Workspace.tool, "backup", workspace.folder + "/backup.db"]
    let outcome = try workspace.finish(tracer + faults + backup)
    #expect(outcome.status == 0, "\(outcome)")
    let content = try #require(workspace.bytes(of: "backup.db"))
    #expect(try workspace.run("--db", workspace.folder + "/backup.db", "list").output.contains("NIX"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: workspace.folder).filter { $0.contains("backup") } == [
        "backup.db"
      ])
    let again = try workspace.finish(tracer + faults + backup)
    #expect(again.status == 73 && again.errors.contains("already exists"), "\(again)")
    #expect(workspace.bytes(of: "backup.db") == content)
  }

  @Test func `a backup never has two names, whenever it is killed, and its name is synced`() throws {
    let workspace = try filled()
    let trace = try Trace(["backup", workspace.folder + "/backup.db"], in: workspace)
    #expect(trace.has("sync .", after: "rename backup.db"), "\(trace.calls)")
    #expect(!trace.calls.contains("link backup.db"), "\(trace.calls)")
  }

  @Test func `backup and restore refuse a database with problems, except with --ignore-problems`() throws {
    let workspace = try filled()
    try workspace.sqlite("UPDATE users SET hair_color = 'mauve'")
    let backup = workspace.folder + "/backup.db"
    let refused = try workspace.run("backup", backup)
    #expect(refused.status == 65 && refused.errors.contains("check finds 1 problem"), "\(refused)")
    #expect(refused.errors.contains("--ignore-problems"), "\(refused)")
    #expect(try files(workspace) == [])
    #expect(try workspace.run("backup", backup, "--ignore-problems").status == 0)
    try workspace.run("rename", "1", "later", "-q")
    let before = try workspace.dump()
    for arguments in [["--yes"], ["--dry-run"]] {
      let outcome = try workspace.finish([Workspace.tool, "restore", backup] + arguments)
      #expect(outcome.status == 65 && outcome.errors.contains("check finds 1 problem"), "\(outcome)")
      #expect(outcome.errors.contains("hint: nothing was changed"), "\(outcome)")
      #expect(outcome.errors.contains("--ignore-problems"), "\(outcome)")
    }
    #expect(try workspace.dump() == before)
    #expect(try workspace.run("restore", backup, "--yes", "--ignore-problems").status == 0)
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
    workspace.database = workspace.folder + "/new.db"
    #expect(try workspace.run("restore", backup).status == 65)
    #expect(!FileManager.default.fileExists(atPath: workspace.database))
    #expect(try workspace.run("restore", backup, "--ignore-problems").status == 0)
  }

  // MARK: Restore

  @Test func `restore needs --yes to replace records, has a dry run, and creates a missing database`() throws {
    let workspace = try filled()
    let backup = workspace.folder + "/backup.db"
    try workspace.run("backup", backup)
    try workspace.run("add", "later")
    let before = try workspace.dump()
    #expect(try workspace.run("restore", backup).status == 64)
    let preview = try workspace.run("restore", backup, "-n")
    #expect(preview.status == 0 && preview.errors.contains("1 user as of revision 4"), "\(preview)")
    #expect(try workspace.dump() == before)
    let done = try workspace.run("restore", backup, "--yes")
    #expect(done.status == 0 && done.errors.contains("1 user as of revision 4"), "\(done)")
    #expect(try workspace.run("list").lines == ["1\tNIX\t#a52a2a\tage=41"])
    workspace.database = workspace.folder + "/new/users.db"
    #expect(try workspace.run("restore", backup + "x").status == 66)
    #expect(!FileManager.default.fileExists(atPath: workspace.database))
    #expect(try workspace.run("restore", backup).status == 0)
    #expect(try workspace.run("list").lines == ["1\tNIX\t#a52a2a\tage=41"])
  }

  @Test func `a file that is not a backup changes nothing`() throws {
    let workspace = try filled()
    try workspace.write(Data("no database at all, and long enough to be read as one".utf8), to: "text")
    try workspace.finish(["sqlite3", workspace.folder + "/foreign.db", "CREATE TABLE t (a)"])
    let before = try workspace.dump()
    for (name, status) in [("text", 65), ("foreign.db", 65), ("nowhere.db", 66), ("", 66), ("users.db", 66)] {
      for arguments in [["--yes"], ["--dry-run"]] where name != "users.db" || arguments == ["--yes"] {
        let outcome = try workspace.finish([Workspace.tool, "restore", workspace.folder + "/" + name] + arguments)
        #expect(outcome.status == Int32(status), "\(name): \(outcome)")
        #expect(outcome.errors.contains("hint: nothing was changed"), "\(name): \(outcome)")
      }
    }
    #expect(try workspace.dump() == before)
  }

  @Test func `a killed restore leaves the old records or the restored ones`() throws {
    let workspace = try filled(8)
    let backup = workspace.folder + "/backup.db"
    try workspace.run("backup", backup)
    try workspace.run("rename", "1", "later", "-q")
    try workspace.sqlite("PRAGMA wal_checkpoint(TRUNCATE)")
    for round in 0..<3 {
      let child = try workspace.start("restore", backup, "--yes")
      // In the middle of writing, later in each round.
      while let size = size(of: workspace.database + "-wal"), size < round * 3 << 20 { sched_yield() }
      child.send(SIGKILL)
      _ = child.wait()
      #expect(["NIX\n", "later\n"].contains(try workspace.run("get", "1", "name").output))
      let check = try workspace.run("check")
      #expect(check.status == 0, "\(check)")
    }
    #expect(try workspace.run("restore", backup, "--yes").status == 0)
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
  }

  // MARK: Check

  @Test func `check reports problems in every format, and changes the file only with --repair`() throws {
    let workspace = try filled()
    let sound = try workspace.run("check")
    #expect(sound.status == 0 && sound.errors.contains("no problems, no warnings"), "\(sound)")
    #expect(sound.output.isEmpty, "a note about the SQLite library is not a finding in the file: \(sound)")
    #expect(try workspace.run("check", "--quiet").errors.isEmpty)
    try workspace.sqlite("UPDATE users SET hair_color = 'mauve'; DROP TRIGGER users_after_update")
    let before = workspace.bytes()
    let plain = try workspace.run("check")
    #expect(plain.status == 1 && plain.errors.contains("2 problems"), "\(plain)")
    let lines = try workspace.run("check", "--format", "jsonl").lines
    #expect(lines.contains { $0.hasPrefix(#"{"severity":"problem","kind":"trigger","user":null,"attribute":null,"#) })
    #expect(
      lines.contains { $0.hasPrefix(#"{"severity":"problem","kind":"value","user":1,"attribute":"hair_color","#) })
    #expect(try workspace.run("check", "--format", "csv").lines.first == "severity,kind,user,attribute,message")
    #expect(try workspace.run("check", "--format", "table").output.hasPrefix("SEVERITY  KIND"))
    #expect(try workspace.run("check", "--repair", "--dry-run").errors.contains("would re-create 1 trigger"))
    #expect(workspace.bytes() == before)
    let repaired = try workspace.run("check", "--repair")
    #expect(repaired.status == 1 && repaired.errors.contains("cursors diverge"), "\(repaired)")
    #expect(repaired.errors.contains("1 problem"), "\(repaired)")
    try workspace.run("set", "1", "hair_color=red")
    #expect(try workspace.run("check").status == 0)
    #expect(try workspace.run("--db", workspace.folder + "/nowhere.db", "check").status == 66)
  }

  // MARK: Undo

  @Test func `undo reverts the last write and prints the updates, or reports a conflict`() throws {
    let workspace = try filled()
    try workspace.run("rename", "1", "Zoë")
    let revision = try #require(Line.decode(workspace.run("log").lines.last ?? "").revision)
    let preview = try workspace.run("undo", "--dry-run")
    #expect(try preview.summaries == ["update 1 name 'Zoë'>'NIX'"] && preview.errors.contains("dry run: would undo"))
    let outcome = try workspace.run("undo", "--listener", "A=name")
    #expect(try outcome.summaries == ["update 1 name 'Zoë'>'NIX' @A"] && outcome.status == 0)
    #expect(try workspace.sqlite("SELECT attribute FROM changes ORDER BY seq DESC LIMIT 1").output == "undo\n")
    let conflict = try workspace.run("undo", "\(revision)")
    #expect(conflict.status == 4 && conflict.errors.contains("is “NIX”, but the write set it to “Zoë”"), "\(conflict)")
    #expect(try workspace.run("undo", "1").errors.contains("is within a write that ends at revision 4"))
    #expect(try workspace.run("undo", "99").status == 3)
    #expect(try workspace.run("undo", "0").status == 64)
    try workspace.run("remove", "1", "--yes")
    try workspace.run("undo")
    #expect(try workspace.run("list").lines == ["1\tNIX\t#a52a2a\tage=41"])
  }
}

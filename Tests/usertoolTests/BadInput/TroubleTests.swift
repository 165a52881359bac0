import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Trouble from outside` {
  @Test func `a locked database is exit code 5, and nothing is changed`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    let holder = try workspace.python("db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.readline()")
    #expect(holder.output.next() == "held")
    for arguments in [
      ["rename", "1", "x"], ["set", "1", "a=1"], ["remove", "1", "--yes"], ["add", "x"], ["add", "x", "-n"],
    ] {
      let outcome = try workspace.finish([Workspace.tool, "--busy-timeout", "10ms"] + arguments)
      #expect(outcome.status == 5, "\(arguments): \(outcome)")
      #expect(outcome.errors.contains("locked by another process"))
    }
    // Reading does not wait.
    #expect(try workspace.run("get", "1", "name", "--busy-timeout", "10ms").output == "NIX\n")
    holder.type("\n")
    #expect(holder.wait() == 0)
    #expect(try workspace.dump() == before)
  }

  @Test(arguments: [(Int32(SIGINT), Int32(130)), (Int32(SIGTERM), Int32(143))])
  func `a signal ends a command that waits for a lock`(signal: Int32, status: Int32) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    let holder = try workspace.python("db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.readline()")
    #expect(holder.output.next() == "held")
    let writer = try workspace.start("rename", "1", "never", "--busy-timeout", "60s")
    while !hasOpen(workspace.database + "-wal", writer.id) { sched_yield() }
    writer.send(signal)
    #expect(writer.wait() == status)
    #expect(writer.errors.rest().isEmpty && writer.output.rest().isEmpty)
    holder.type("\n")
    #expect(holder.wait() == 0)
    #expect(try workspace.dump() == before)
  }

  /// Another process holds a lock, and a single signal must end the wait of ten minutes.
  ///
  /// Without a -wal file, the tool waits while it opens the store: to read it, or to switch it to WAL.
  @Test(arguments: [
    ("WAL", "BEGIN IMMEDIATE", "-wal"), ("DELETE", "BEGIN EXCLUSIVE", ""), ("DELETE", "BEGIN IMMEDIATE", ""),
  ])
  func `one Ctrl-C ends a long wait for a lock, and leaves no files behind`(mode: String, begin: String, file: String)
    throws
  {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    let holder = try workspace.python(
      "db.execute('PRAGMA journal_mode = \(mode)'); db.execute('\(begin)'); print('held', flush=True); sys.stdin.readline()"
    )
    #expect(holder.output.next() == "held")
    let writer = try workspace.start("rename", "1", "never", "--busy-timeout", "10m")
    while !hasOpen(workspace.database + file, writer.id) { sched_yield() }
    writer.send(SIGINT)
    #expect(writer.wait() == 130)
    #expect(writer.errors.rest().isEmpty && writer.output.rest().isEmpty)
    holder.type("\n")
    #expect(holder.wait() == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder) == ["users.db"])
    #expect(try workspace.dump() == before)
  }

  private func hasOpen(_ path: String, _ id: pid_t) -> Bool {
    let folder = "/proc/\(id)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
  }

  @Test func `after Ctrl-C at any moment of a write, all of it or nothing is written`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let attributes = (0..<50).map { "a\($0)" }
    var ends: Set<Int32> = []
    for round in 1...60 {
      let writer = try workspace.start([Workspace.tool, "set", "1", "-q"] + attributes.map { "\($0)=\(round)" })
      // The delay grows with the round, from the process's start to after its end.
      for _ in 0..<round * 8 { _ = try? String(contentsOfFile: "/proc/\(writer.id)/stat", encoding: .utf8) }
      writer.send(SIGINT)
      ends.insert(writer.wait())
      let values = try workspace.sqlite("SELECT count(DISTINCT value), count(*) FROM attributes").output
      #expect(["0|0\n", "1|50\n"].contains(values), "\(values)")
    }
    #expect(ends.isSubset(of: [0, 130]), "\(ends)")
    #expect(try workspace.sqlite("PRAGMA integrity_check").output == "ok\n")
    // The log has one set end for each write that was kept, and one for adding the user.
    let log = try workspace.sqlite(
      "SELECT sum(op = 0), count(DISTINCT new) FROM changes WHERE op = 0 OR attribute = 'a49'")
    let counts = log.output.trimmingCharacters(in: .newlines).split(separator: "|").compactMap { Int($0) }
    #expect(counts.count == 2 && counts[0] == counts[1] + 1)
  }

  @Test func `a closed pipe ends every command silently with exit code 141, even if SIGPIPE is ignored`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    for arguments in ["list", "get 1", "log", "rename 1 $$", "listeners", "demo screens", "--help"] {
      for trap in ["", "trap '' PIPE; "] {
        // The tool starts after the reader has closed the pipe: it waits for the reader to write to `gone`.
        let script =
          "\(trap){ read -r _ < \(workspace.folder)/gone; \(Workspace.tool) \(arguments); echo $? >&3; } | { exec <&-; echo > \(workspace.folder)/gone; }"
        try workspace.finish(["sh", "-c", "rm -f \(workspace.folder)/gone; mkfifo \(workspace.folder)/gone"])
        let outcome = try workspace.finish(["bash", "-c", "{ \(script); } 3>&1"])
        #expect(outcome.output == "141\n" && outcome.errors.isEmpty, "\(arguments): \(outcome)")
      }
    }
  }

  @Test func `a change whose output cannot be written is reported as made`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.run("add", "gone")
    try workspace.run("remove", "gone", "--yes")
    for line in [
      "add Q", "add Q --format json", "add Q --format csv", "set 1 a=1", "rename 1 Zoë", "undo", "purge 2 --yes",
      "compact --older-than 0s", "remove 1 --yes",
    ] {
      let outcome = try workspace.finish(["sh", "-c", "\(Workspace.tool) \(line) > /dev/full"])
      #expect(outcome.status == 1 && outcome.errors.contains("error: cannot write the output: "), "\(line): \(outcome)")
      #expect(outcome.errors.contains("hint: the change was made\n"), "\(line): \(outcome)")
    }
    for line in ["list", "set 3 a=2 -n", "add Q -n"] {
      let outcome = try workspace.finish(["sh", "-c", "\(Workspace.tool) \(line) > /dev/full"])
      #expect(outcome.status == 1 && !outcome.errors.contains("was made"), "\(line): \(outcome)")
    }
  }

  @Test func `output that cannot be written is a failure`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.finish(["sh", "-c", "\(Workspace.tool) list > /dev/full"])
    #expect(outcome.status == 1 && outcome.errors.contains("cannot write the output"), "\(outcome)")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "this process may not mount a small file system"))
  func `a full disk is an error, and nothing is changed`() throws {
    let workspace = try Workspace()
    let disk = try SmallDisk(workspace)
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    try disk.fill()
    let big = String(repeating: "x", count: 100_000)
    for arguments in [["set", "1", "note=\(big)"], ["add", "x", "--set", "note=\(big)"]] {
      let outcome = try workspace.finish([Workspace.tool] + arguments)
      #expect(outcome.status == 1 && outcome.errors.contains("no space left"), "\(outcome)")
      #expect(outcome.output.isEmpty)
    }
    try disk.free()
    #expect(try workspace.dump() == before)
    #expect(try workspace.run("rename", "1", "Zoë").status == 0)
  }

  @Test(
    .enabled(if: SmallDisk.isPossible, "this process may not mount a small file system"), arguments: ["init", "add x"])
  func `on a full disk, no empty database is created`(command: String) throws {
    let workspace = try Workspace()
    let disk = try SmallDisk(workspace)
    try disk.fill()
    let outcome = try workspace.finish([Workspace.tool] + command.split(separator: " ").map(String.init))
    #expect(outcome.status == 1 && outcome.errors.contains("no space left"), "\(outcome)")
    let folder = URL(filePath: workspace.database).deletingLastPathComponent().path
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["filler"])
    try disk.free()
    #expect(try workspace.run("add", "NIX").output == "1\n")
  }

  @Test(arguments: 4...28)
  func `too few file descriptors are an error with its own hint`(limit: Int) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    for command in ["list", "rename 1 Zoë", "rename 1 NIX", "watch --timeout 1ms", "list --follow --timeout 1ms"] {
      let outcome = try workspace.finish(["bash", "-c", "ulimit -n \(limit); exec '\(Workspace.tool)' \(command)"])
      if [0, 124].contains(outcome.status) { continue }
      #expect(outcome.status == 1 && outcome.errors.contains("raise the limit with ulimit -n"), "\(outcome)")
    }
    #expect(try workspace.sqlite("PRAGMA integrity_check; SELECT count(*) FROM users").lines == ["ok", "1"])
  }
}

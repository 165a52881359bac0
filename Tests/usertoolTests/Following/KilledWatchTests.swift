import Foundation
import TestSupport
import Testing
import UserStore

/// A watch that is killed repeatedly while other programs write, and while the log is compacted.
@Suite(.bounded, .serialized) struct `A watch that is killed` {
  private static let kills = Repetitions.count

  private let workspace: Workspace
  private var cursorFile: String { workspace.folder + "/cursor" }

  init() throws {
    workspace = try Workspace()
    for name in ["tool", "shell", "python"] { try workspace.run("add", name + "-0", "--set", "n=0") }
    // Enough rows that the oldest are deleted from the start; in parts, because only whole sets are deleted.
    for part in 1...15 {
      try workspace.sqlite(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO users (name) SELECT 'user ' || i FROM n
        """)
      try workspace.run("set", "4", "part=\(part)", "-q")
    }
    try workspace.takePosition("--no-initial", "--cursor-file", cursorFile)
  }

  @Test func `a watch that is killed at any moment resumes without a loss or a torn set, and repeats at most one set`()
    throws
  {
    var random = SplitMix64(seed: Seed.base)
    var feed = ResumedFeed()
    var allowed = 0
    try allow(allowed)
    let writers = try startWriters()
    for _ in 0..<Self.kills {
      let count = Int.random(in: 0...300, using: &random)
      allowed += count / 6 + 20
      try allow(allowed)
      let watcher = try startWatching()
      var lines = watcher.output.next(count)
      for _ in 0..<Int.random(in: 0...2_000, using: &random) { sched_yield() }
      watcher.send(SIGKILL)
      lines += watcher.output.restOfLines()
      try #require(watcher.wait() == 128 + SIGKILL, "\(String(decoding: watcher.errors.rest(), as: UTF8.self))")
      feed.take(try lines.map(Line.decode), saved: try savedRevision())
    }
    try workspace.write(Data(), to: "stop")
    for writer in writers { #expect(writer.wait() == 0, "\(String(decoding: writer.errors.rest(), as: UTF8.self))") }
    try finish(&feed)
  }

  /// How often each of the three writers may have written, two lines each time: without a bound, they would write so much while
  /// this process does not run that the log is compacted beyond the watch's cursor.
  private func allow(_ count: Int) throws {
    try Data("\(count)\n".utf8).write(to: URL(filePath: workspace.folder + "/allowed"), options: .atomic)
  }

  private func startWatching() throws -> Child {
    try workspace.start(
      "watch", "--per-change", "--cursor-file", cursorFile, "--no-resync", "--quiet", "--timeout", "900s",
      "--attribute", "name", "--attribute", "n")
  }

  private func savedRevision() throws -> Int64 {
    let text = try #require(workspace.bytes(of: "cursor"))
    return try Cursor(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)).revision.rawValue
  }

  /// Reads the remaining lines, and checks all lines against the database.
  private func finish(_ feed: inout ResumedFeed) throws {
    let end = try workspace.run("set", "1", "n=-1", "-q")
    #expect(end.status == 0)
    let watcher = try startWatching()
    var lines: [Line] = []
    while let line = try watcher.output.next().map(Line.decode), line.new != .integer(-1) { lines.append(line) }
    watcher.send(SIGKILL)
    _ = watcher.wait()
    feed.take(lines, saved: max(try savedRevision(), lines.last?.revision ?? 0))
    try feed.check()
    let written = try workspace.sqlite(
      "SELECT name FROM users WHERE id = 1; SELECT value FROM attributes WHERE user_id IN (2, 3) ORDER BY user_id")
    let expected = "tool-\(feed.numbers[1] ?? 0)\n\(feed.numbers[2] ?? 0)\n\(feed.numbers[3] ?? 0)\n"
    #expect(written.output == expected)
    let deleted = try workspace.sqlite("SELECT min(seq) - 1 FROM changes").output.trimmingCharacters(in: .newlines)
    #expect(deleted != "0")
    print("\(Self.kills) kills: \(feed.count) changes, \(feed.repeats) repeats, \(deleted) rows deleted meanwhile")
  }

  /// Starts usertool, the sqlite3 shell, Python and a compactor, which run until the file `stop` exists.
  ///
  /// The shell and Python do not checkpoint, because that could damage the file (the WAL-reset bug of SQLite before
  /// 3.51.3), and usertool does.
  private func startWriters() throws -> [Child] {
    let stop = workspace.folder + "/stop"
    let allowed = workspace.folder + "/allowed"
    // The loops also end when the folder is deleted: if the test fails, the file is never written.
    let loop = "i=0; while [ -e \(workspace.database) ] && [ ! -e \(stop) ]; do"
    let next = "read -r allowed < \(allowed); if [ $i -ge $allowed ]; then sleep 0.01; continue; fi; i=$((i + 1));"
    let tool = "\(Workspace.tool) --busy-timeout 60s -q"
    let update = "UPDATE users SET name = 'shell-%d' WHERE id = 2; UPDATE attributes SET value = %d WHERE user_id = 2;"
    return [
      try workspace.start(["sh", "-ec", "\(loop) \(next) \(tool) set 1 name=tool-$i n=$i; done"]),
      try workspace.start(["sh", "-ec", "\(loop) \(tool) compact --keep 20000; sleep 0.1; done"]),
      try workspace.start([
        "sh", "-ec",
        """
        { echo 'PRAGMA wal_autocheckpoint = 0;' >&3
          \(loop) \(next) printf "BEGIN IMMEDIATE; \(update) COMMIT;\\n" $i $i >&3; done
        } 3>&1 | sqlite3 -batch -bail -cmd '.timeout 60000' \(workspace.database)
        """,
      ]),
      try workspace.python(
        """
        import os, time
        db.execute("PRAGMA busy_timeout = 60000")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        i = 0
        while os.path.exists("\(workspace.database)") and not os.path.exists("\(stop)"):
          if i >= int(open("\(allowed)").read()):
            time.sleep(0.01)
            continue
          i += 1
          db.execute("BEGIN IMMEDIATE")
          db.execute("UPDATE users SET name = ? WHERE id = 3", (f"python-{i}",))
          db.execute("UPDATE attributes SET value = ? WHERE user_id = 3", (i,))
          db.execute("COMMIT")
        """),
    ]
  }
}

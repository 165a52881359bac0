import Foundation
import TestSupport
import Testing

/// Another user, who can read the files, but can write neither them nor their folder.
@Suite(.bounded, .serialized, .enabled(if: geteuid() == 0, "only root can become another user"))
struct `Watching with the right to read` {
  private let workspace: Workspace
  private let other: Stranger

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "NIX")
    other = try Stranger(workspace)
    try other.restrict(0o644)
  }

  /// A process that has the database open for writing; SQLite gives the -wal and -shm files the database's permissions.
  private func startWriter() throws -> Child {
    let writer = try workspace.python(
      """
      db.execute("UPDATE users SET name = 'first'")
      print('open', flush=True)
      for line in sys.stdin: db.execute("UPDATE users SET name = ?", (line.strip(),)); print('done', flush=True)
      """)
    #expect(writer.output.next() == "open")
    return writer
  }

  private func expectName(_ name: String, from watcher: Child, sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    let line = try #require(watcher.output.next(), sourceLocation: sourceLocation)
    #expect(try Line.decode(line).new == .text(name), sourceLocation: sourceLocation)
  }

  @Test func `while a writer has the database open, reading works, and a watch continues after it closes`() throws {
    let writer = try startWriter()
    #expect(try other.run(["get", "1", "name"]).output == "first\n")
    #expect(try other.run(["list"]).status == 0)
    let watcher = try other.start("watch", "--listener", "A=name", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try expectName("first", from: watcher)
    writer.type("second\n")
    try expectName("second", from: watcher)
    writer.endInput()
    #expect(writer.wait() == 0)
    // The watch's own connection keeps the -wal and -shm files.
    try workspace.run("rename", "1", "third")
    try expectName("third", from: watcher)
    #expect(try other.run(["get", "1", "name"]).output == "third\n")
  }

  @Test func `after a writer has crashed, its files are read, and a watch follows later writers`() throws {
    let writer = try startWriter()
    writer.send(SIGKILL)
    #expect(writer.wait() == 128 + SIGKILL)
    #expect(try other.run(["get", "1", "name"]).output == "first\n")
    let watcher = try other.start("watch", "--listener", "A=name", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try expectName("first", from: watcher)
    try workspace.sqlite("UPDATE users SET name = 'second'")
    try expectName("second", from: watcher)
    try workspace.run("rename", "1", "third")
    try expectName("third", from: watcher)
  }

  @Test func `without a writer, every reading command reports why it cannot read, and changes nothing`() throws {
    let before = workspace.bytes()
    for arguments in [["get", "1"], ["list"], ["log"], ["export", "--format", "jsonl"]] {
      let outcome = try other.run(arguments)
      #expect(outcome.status == 77 && outcome.output.isEmpty, "\(arguments): \(outcome)")
      let reason =
        "no program has it open for writing, so SQLite must create its -shm file, but \(workspace.folder) is not writable"
      #expect(outcome.errors.contains(reason), "\(outcome)")
      #expect(
        outcome.errors.contains("hint: it can be read while another program has it open for writing"), "\(outcome)")
    }
    #expect(workspace.bytes() == before)
  }

  @Test func `a missing or unreadable -shm file is reported`() throws {
    let writer = try startWriter()
    writer.send(SIGKILL)
    _ = writer.wait()
    unsafe chmod(workspace.database + "-shm", 0o600)
    let secret = try other.run(["get", "1"])
    #expect(secret.status == 77, "\(secret)")
    #expect(secret.errors.contains("no permission to read \(workspace.database)-shm"), "\(secret)")
    // The watch does not wait, because no writer would change the permissions.
    #expect(try other.run(["watch", "--timeout", "300s"]).status == 77)
    try FileManager.default.removeItem(atPath: workspace.database + "-shm")
    let missing = try other.run(["get", "1"])
    #expect(missing.status == 77 && missing.errors.contains("no program has it open for writing"), "\(missing)")
  }

  @Test func `a watch waits for a writer, reports it once, and continues from its cursor`() throws {
    let cursor = try #require(
      try Line.decode(workspace.run("rename", "1", "one", "--listener", "A=name").lines[0]).cursor)
    try workspace.run("rename", "1", "two")
    let watcher = try other.start("watch", "--listener", "A=name", "--after", cursor, "--timeout", "300s")
    let note = try #require(watcher.errors.next())
    #expect(note.hasPrefix("waiting for a writer: cannot read ") && note.contains("is not writable"), "\(note)")
    let writer = try startWriter()
    #expect(watcher.errors.next()?.hasPrefix("watching all users") == true)
    for name in ["two", "first"] { try expectName(name, from: watcher) }
    withExtendedLifetime(writer) {}
  }

  @Test(arguments: [(Int32(SIGINT), Int32(130)), (Int32(SIGTERM), Int32(143))])
  func `a signal ends a watch that waits for a writer`(signal: Int32, status: Int32) throws {
    let watcher = try other.start("watch", "--timeout", "300s")
    #expect(watcher.errors.next()?.hasPrefix("waiting for a writer") == true)
    watcher.send(signal)
    #expect(watcher.wait() == status)
    #expect(watcher.errors.rest().isEmpty && watcher.output.rest().isEmpty)
    #expect(try other.run(["watch", "-q", "--timeout", "10ms"]).status == 124)
  }
}

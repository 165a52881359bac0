import Foundation
import TestSupport
import Testing
import UserStore

/// A watch whose output is not read: the pipe is full after 64 KiB.
@Suite(.bounded, .serialized) struct `Watching into a pipe that nobody reads` {
  /// The number of writes of each writer.
  private static let count = Sanitizer.isThread ? 1_000 : 5_000
  /// The size at which the store and SQLite checkpoint the -wal file: 1,000 pages of 2,048 bytes with their frame headers.
  private static let checkpoint = 1_000 * (2_048 + 24)

  @Test func `an unread watch delays no writer, keeps the -wal file and its own memory small, and loses nothing`()
    throws
  {
    let workspace = try Workspace()
    for name in ["own-0", "foreign-0"] { try workspace.run("add", name) }
    let watcher = try workspace.start("watch", "--per-change", "--no-initial", "--timeout", "900s")
    try watcher.waitUntilWatching()
    let before = try watcher.peak()

    let longest = try write(workspace)
    // SQLite restarts the -wal file when it is copied and has no readers. A read by the watch may postpone that, on a busy
    // machine several times; the amount written is 40 times as much.
    #expect(longest < 10 * Self.checkpoint, "\(longest) bytes")
    // The watch is blocked between two lines, outside any transaction, so the whole -wal file can be copied and cut.
    #expect(try workspace.sqlite("PRAGMA wal_checkpoint(TRUNCATE)").output == "0|0|0\n")
    if !Sanitizer.isAny { #expect(try watcher.peak() - before < 8 << 20) }

    let lines = try watcher.output.next(2 * Self.count).map(Line.decode)
    for (user, name) in [(Int64(1), "own"), (2, "foreign")] {
      let names = lines.filter { $0.user == user }
      #expect(names.map(\.old) == (0..<Self.count).map { .text("\(name)-\($0)") })
      #expect(names.map(\.new) == (1...Self.count).map { .text("\(name)-\($0)") })
    }
    let revisions = lines.compactMap(\.revision)
    #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 <= $1 })
    if !Sanitizer.isAny { #expect(try watcher.peak() - before < 8 << 20) }
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
    #expect(watcher.output.rest().isEmpty)
  }

  /// Writes with the library and with Python, and returns the largest size of the -wal file in bytes.
  private func write(_ workspace: Workspace) throws -> Int {
    let foreign = try workspace.python(
      """
      import os
      db.execute("PRAGMA synchronous = NORMAL")
      longest = 0
      for i in range(1, \(Self.count + 1)):
        db.execute("UPDATE users SET name = ? WHERE id = 2", (f"foreign-{i}",))
        longest = max(longest, os.path.getsize(\((workspace.database + "-wal").debugDescription)))
      print(longest)
      """)
    var configuration = Configuration()
    configuration.durability = .normal
    configuration.busyTimeout = .seconds(60)
    let store = try UserStore(path: workspace.database, configuration: configuration)
    for number in 1...Self.count { try store.write { try $0.rename(User.ID(rawValue: 1), to: "own-\(number)") } }
    let longest = foreign.output.next().flatMap { Int($0) }
    #expect(foreign.wait() == 0, "\(String(decoding: foreign.errors.rest(), as: UTF8.self))")
    let last = try FileManager.default.attributesOfItem(atPath: workspace.database + "-wal")[.size] as? Int
    store.close()
    return max(try #require(longest), try #require(last))
  }
}

import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Watching every writer` {
  /// The number of writes of each of the three writers; even, because usertool is two of them.
  private static let count = 20 * Repetitions.count

  @Test func `changes by usertool, the sqlite3 shell and Python arrive in order, once, for each listener`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "start")
    let watcher = try workspace.start(
      "watch", "--format", "jsonl", "--no-initial", "--timeout", "900s", "--listener", "A=name", "--listener", "B=name",
      "--listener", "A=name", "--listener", "Other=hair_color")
    try watcher.waitUntilWatching()
    let writers = try startWriters(workspace)
    let lines = try watcher.output.next(2 * 3 * Self.count).map(Line.decode)
    for writer in writers { #expect(writer.wait() == 0, "\(String(decoding: writer.errors.rest(), as: UTF8.self))") }
    // The last write, with nothing after it.
    try workspace.sqlite("UPDATE users SET name = 'the last'")
    let last = try watcher.output.next(2).map(Line.decode)
    #expect(last.map(\.new) == [.text("the last"), .text("the last")])
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
    #expect(watcher.output.rest().isEmpty)

    for listener in ["A", "B"] { checkChain(lines.filter { $0.listener == listener }) }
    let final = try workspace.run("get", "1", "name").output
    #expect(final == "the last\n")
  }

  /// Starts all writers at the same time; usertool twice, because each of its renames is a separate process.
  private func startWriters(_ workspace: Workspace) throws -> [Child] {
    let half = Self.count / 2
    let loops = try [1, half + 1].map { first in
      try workspace.start([
        "sh", "-ec",
        "for i in $(seq \(first) \(first + half - 1)); do \(Workspace.tool) rename 1 tool-$i -q --busy-timeout 60s; done",
      ])
    }
    let updates = (1...Self.count).map { "UPDATE users SET name = 'shell-\($0)' WHERE id = 1;" }.joined(separator: "\n")
    try workspace.write(Data(updates.utf8), to: "updates.sql")
    let shell = try workspace.start([
      "sqlite3", "-batch", "-bail", "-cmd", ".timeout 60000", workspace.database,
      ".read \(workspace.folder)/updates.sql",
    ])
    let python = try workspace.python(
      """
      db.execute("PRAGMA busy_timeout=60000")
      for i in range(1, \(Self.count + 1)): db.execute("UPDATE users SET name = ? WHERE id = 1", (f"python-{i}",))
      """)
    return loops + [shell, python]
  }

  /// Checks that each old value is the previous new value, and that each writer's values keep their order.
  private func checkChain(_ lines: [Line]) {
    #expect(lines.count == 3 * Self.count)
    var current = Line.Value.text("start")
    var numbers: [String: [Int]] = [:]
    for line in lines {
      #expect(line.op == "update" && line.user == 1 && line.attribute == "name")
      if line.old != current { Issue.record("\(line.old) does not follow \(current)") }
      current = line.new
      guard case .text(let text) = line.new, let dash = text.firstIndex(of: "-") else { continue }
      let number = Int(text[text.index(after: dash)...]) ?? 0
      let writer = text.hasPrefix("tool") ? (number <= Self.count / 2 ? "tool 1" : "tool 2") : String(text[..<dash])
      numbers[writer, default: []].append(number)
    }
    let half = Self.count / 2
    #expect(numbers["tool 1"] == Array(1...half))
    #expect(numbers["tool 2"] == Array(half + 1...Self.count))
    #expect(numbers["shell"] == Array(1...Self.count))
    #expect(numbers["python"] == Array(1...Self.count))
    let revisions = lines.compactMap(\.revision)
    #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0 <= $1 })
  }
}

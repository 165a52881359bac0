import Foundation
import TestSupport
import Testing

/// A consumer that saves the cursor of each line as it arrives skips nothing, at whichever line it stops.
@Suite(.bounded, .serialized) struct `The cursor on the last line of a set` {
  private let workspace: Workspace
  /// The cursor before the first change.
  private let start: String

  init() throws {
    workspace = try Workspace()
    let first = try workspace.run("add", "first")
    try #require(first.status == 0)
    start = try #require(try Line.decode(workspace.run("log").lines.last ?? "").cursor)
  }

  /// Adds users in one transaction, and then two attributes of the first one in one write.
  private func write(_ users: Int) throws {
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(users)) INSERT INTO users (name) SELECT 'u' || i FROM n"
    )
    try workspace.run("set", "1", "name=second", "hair_color=red", "-q")
  }

  /// Expects one cursor per revision, on its last line.
  private func check(_ lines: [Line], sets: Int, _ what: String) {
    #expect(Set(lines.map(\.revision)).count == sets, "\(what)")
    for (line, next) in zip(lines, lines.dropFirst().map(Optional.some) + [nil]) {
      #expect((line.cursor != nil) == (line.revision != next?.revision), "\(what): \(line)")
    }
  }

  @Test func `a watch that stops inside a set prints no cursor, so the set is printed again`() throws {
    try write(3_000)
    let cut = try workspace.run("watch", "--per-change", "--after", start, "--count", "700").lines.map(Line.decode)
    #expect(cut.count == 700)
    #expect(cut.allSatisfy { $0.cursor == nil })
    let whole = try workspace.run("watch", "--per-change", "--after", start, "--count", "6000").lines.map(Line.decode)
    check(whole, sets: 1, "3,000 users")
    let next = try workspace.run("watch", "--per-change", "--after", whole.last?.cursor ?? "", "--once")
    #expect(try next.summaries == ["update 1 name 'first'>'second'"])
  }

  @Test(arguments: [
    ["watch", "--per-change", "--count", "6"], ["watch", "--listener", "A", "--count", "6"],
    ["watch", "--listener", "A=name", "--listener", "B=hair_color", "--listener", "C=name", "--count", "9"],
    ["watch", "--per-change", "--attribute", "name", "--count", "3"],
    ["watch", "--listener", "A=name", "--listener", "B=hair_color", "--attribute", "name", "--count", "3"], ["log"],
  ])
  func `each set has one cursor for any listeners and filters`(_ arguments: [String]) throws {
    try write(2)
    let outcome = try workspace.finish([Workspace.tool] + arguments + ["--after", start])
    check(try outcome.lines.map(Line.decode), sets: 2, "\(arguments)")
  }

  @Test func `the updates of a write and the current state have one cursor each`() throws {
    let updates = try workspace.run("set", "1", "name=x", "hair_color=red").lines.map(Line.decode)
    #expect(updates.count == 6)
    check(updates, sets: 1, "set")
    try write(2)
    let watcher = try workspace.start("watch", "--timeout", "300s")
    let state = try watcher.output.next(18).map(Line.decode)
    #expect(state.allSatisfy { $0.op == "snapshot" })
    check(state, sets: 1, "the current state")
    watcher.send(SIGKILL)
  }

  @Test func `in plain and CSV, the cursor column of the other lines is empty`() throws {
    try write(2)
    let plain = try workspace.run("log", "--after", start, "--format", "plain").lines
    let csv = try workspace.run("log", "--after", start, "--format", "csv").lines.dropFirst()
    for (lines, separator) in [(plain, "\t"), (Array(csv), ",")] {
      let columns = lines.map { $0.split(separator: Character(separator), omittingEmptySubsequences: false) }
      #expect(columns.map { !$0[1].isEmpty } == [false, false, false, true, false, true], "\(lines)")
      #expect(columns.allSatisfy { $0.count == 8 })
    }
  }

  @Test func `a signal right after a set's first line saves the position of what was printed`() throws {
    let file = workspace.folder + "/cursor"
    try workspace.takePosition("--no-initial", "--cursor-file", file)
    for round in 1...25 {
      let watcher = try workspace.start("watch", "--cursor-file", file, "--timeout", "300s")
      try watcher.waitUntilWatching()
      try workspace.run("rename", "1", "round \(round)", "-q")
      var lines = try [Line.decode(try #require(watcher.output.next()))]
      watcher.send(SIGINT)
      lines += try watcher.output.restOfLines().map(Line.decode)
      #expect(watcher.wait() == 130)
      let printed = try #require(lines.last?.cursor, "three lines are written in one piece: \(lines)")
      let saved = String(decoding: try #require(workspace.bytes(of: "cursor")), as: UTF8.self)
      #expect(saved == printed + "\n", "round \(round): the set would be printed again")
      #expect(watcher.errors.next()?.hasSuffix("continue with --cursor-file \(file)") == true)
    }
  }
}

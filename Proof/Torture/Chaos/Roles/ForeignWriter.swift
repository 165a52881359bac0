import Foundation
import TortureSupport

/// The sqlite3 shell or Python, statement by statement.
///
/// It is killed inside, at the end of, and between transactions of several changes.
///
/// The first row of each transaction is the new name of the writer's user, `LABEL-NUMBER`. `a` and `b` get the same number.
final class ForeignWriter: Role, @unchecked Sendable {
  enum Program: String {
    case shell, python
  }

  private enum Fate {
    case commit, rollback, killedInside, killedAtCommit, killedAfterwards
  }

  private let program: Program
  private var random: SplitMix64
  private(set) var history: History
  private(set) var troubles = Troubles()
  private var number: Int64 = 0
  /// The numbers of the extra users that it added.
  private var extras: [Int64] = []

  init(_ program: Program, user: Int64, seed: UInt64) {
    self.program = program
    random = SplitMix64(seed: seed)
    history = History(writer: program.rawValue, user: user)
  }

  func live(on stage: Stage) throws {
    while !stage.isOver {
      let child = try stage.start(command(stage.database))
      // SQLite before 3.51.3 damages a database when a checkpoint meets a commit, and usertool checkpoints.
      child.type("PRAGMA busy_timeout = 60000;\nPRAGMA wal_autocheckpoint = 0;\n")
      work(child, on: stage)
      let isKilledHere = !stage.isOver
      child.send(SIGKILL)
      let outcome = stage.finish(child)
      troubles.expectKilled(outcome.status, program.rawValue, outcome.errors)
      if isKilledHere { stage.tally.add("kills: \(program.rawValue)") }
    }
  }

  private func command(_ database: String) -> [String] {
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      for line in sys.stdin:
        for row in db.execute(line): print(row[0], flush=True)
      """
    return switch program {
    case .shell: ["sqlite3", "-batch", "-bail", database]
    case .python: ["/usr/bin/python3", "-c", script, database]
    }
  }

  /// Runs transactions until the process is killed, here or at the end of the round.
  private func work(_ child: Child, on stage: Stage) {
    while !stage.isOver {
      number += 1
      let fate: Fate = random.choose(
        .commit, .commit, .commit, .commit, .rollback, .killedInside, .killedAtCommit, .killedAfterwards)
      let outcome = attempt(child, fate)
      history.add(.number(number), outcome)
      if outcome == .acknowledged { stage.tally.add("commits acknowledged: \(program.rawValue)") }
      if fate == .rollback { stage.tally.add("transactions rolled back") }
      if fate == .killedInside, !stage.isOver { stage.tally.add("writers killed inside a transaction") }
      guard fate == .rollback || fate == .commit && outcome == .acknowledged else { return }
      stage.rest(milliseconds: Int.random(in: 0...10, using: &random))
    }
  }

  private func attempt(_ child: Child, _ fate: Fate) -> Attempt.Outcome {
    child.type("BEGIN IMMEDIATE;\n\(changes)\nSELECT 'open \(number)';\n")
    guard hasPrinted("open \(number)", child) else { return .abandoned }
    switch fate {
    case .killedInside:
      return .abandoned
    case .rollback:
      child.type("ROLLBACK;\nSELECT 'rolled back \(number)';\n")
      _ = hasPrinted("rolled back \(number)", child)
      return .abandoned
    case .commit, .killedAfterwards, .killedAtCommit:
      child.type("COMMIT;\nSELECT 'ack \(number)';\n")
      if fate == .killedAtCommit {
        for _ in 0..<Int.random(in: 0...40, using: &random) { sched_yield() }
        child.send(SIGKILL)
      }
      return hasPrinted("ack \(number)", child) ? .acknowledged : .unknown
    }
  }

  /// Reads up to a line, and returns whether it was there.
  private func hasPrinted(_ line: String, _ child: Child) -> Bool {
    while let next = child.output.next() { if next == line { return true } }
    return false
  }

  /// One statement per line.
  private var changes: String {
    let (user, label) = (history.user, program.rawValue)
    var lines = ["UPDATE users SET name = '\(label)-\(number)' WHERE id = \(user);"]
    for attribute in ["a", "b"] {
      lines.append(
        random.choose(
          "UPDATE attributes SET value = \(number) WHERE user_id = \(user) AND name = '\(attribute)';",
          "INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (\(user), '\(attribute)', \(number));"))
    }
    if random.oneIn(6) {
      lines.append("INSERT INTO users (name) VALUES ('\(label)-\(number)-extra');")
      lines.append(
        "INSERT INTO attributes SELECT id, 'n', \(number) FROM users WHERE name = '\(label)-\(number)-extra';")
      extras.append(number)
    } else if random.oneIn(6), let extra = extras.popLast() {
      lines.append("DELETE FROM users WHERE name = '\(label)-\(extra)-extra';")
    }
    return lines.joined(separator: "\n")
  }
}

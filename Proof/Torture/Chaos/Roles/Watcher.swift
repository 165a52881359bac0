import Foundation
import TortureSupport
import UserStore

/// `usertool watch`, which saves its position, killed and resumed repeatedly.
final class Watcher: Role, @unchecked Sendable {
  enum Place {
    case cursorFile
    /// In the database, under the watcher's name.
    case consumer
  }

  /// The way in which the watcher is treated.
  enum Manner {
    /// It is killed soon, and sometimes started again only after a while.
    case hunted
    /// It is killed only at the end of a round.
    case spared
    /// Its output is not read until it is killed.
    case unread
  }

  let name: String
  let place: Place
  private let manner: Manner
  private var random: SplitMix64
  private(set) var runs: [WatchRun] = []
  private(set) var troubles = Troubles()

  init(_ name: String, _ place: Place, _ manner: Manner, seed: UInt64) {
    self.name = name
    self.place = place
    self.manner = manner
    random = SplitMix64(seed: seed)
  }

  func live(on stage: Stage) throws {
    while !stage.isOver {
      try run(on: stage) { child in
        switch manner {
        case .hunted: hunt(child)
        case .spared: return child.output.restOfLines()
        case .unread: leave(child, stage)
        }
        return []
      }
      // Long enough that the log is compacted past its position. (A consumer would keep the log.)
      if manner == .hunted, place == .cursorFile, random.oneIn(8) {
        stage.rest(milliseconds: Int.random(in: 100...1_000, using: &random))
      }
    }
  }

  /// Follows, after the last round, until a line is printed.
  func finish(on stage: Stage, until isLast: (String) -> Bool) throws {
    try run(on: stage) { child in
      var lines: [String] = []
      while let line = child.output.next() {
        lines.append(line)
        if isLast(line) { break }
      }
      return lines
    }
    runs[runs.count - 1].saved = try savedRevision(stage)
  }

  private func run(on stage: Stage, _ body: (Child) throws -> [String]) throws {
    // Now rather than when it was killed: reading the position then would recover the database for the others.
    let start = try savedRevision(stage)
    if !runs.isEmpty { runs[runs.count - 1].saved = start }
    let child = try stage.startTool(["watch", "--per-change", "--format", "jsonl"] + arguments(stage))
    var run = WatchRun(start: start)
    run.lines = try body(child)
    let isKilledHere = !stage.isOver
    child.send(SIGCONT)
    child.send(SIGKILL)
    run.lines += child.output.restOfLines()
    let outcome = stage.finish(child)
    troubles.expectKilled(outcome.status, "the watch \(name)", outcome.errors)
    if isKilledHere { stage.tally.add("kills: usertool watch") }
    runs.append(run)
  }

  private func hunt(_ child: Child) {
    // Right after it is started, or after it has started to watch.
    if !random.oneIn(5) { _ = child.errors.next() }
    usleep(UInt32.random(in: 0...random.choose(2_000, 20_000, 80_000), using: &random))
  }

  private func leave(_ child: Child, _ stage: Stage) {
    stage.rest(milliseconds: Int.random(in: 100...3_000, using: &random))
    if random.oneIn(2) { child.send(SIGSTOP) }
    stage.rest(milliseconds: Int.random(in: 0...300, using: &random))
  }

  // MARK: The position

  private func arguments(_ stage: Stage) -> [String] {
    switch place {
    case .cursorFile: ["--cursor-file", cursorFile(stage)]
    case .consumer: ["--consumer", name]
    }
  }

  private func cursorFile(_ stage: Stage) -> String { stage.scratch.folder + "/\(name).cursor" }

  private func savedRevision(_ stage: Stage) throws -> Int64? {
    switch place {
    case .cursorFile:
      guard let text = try? String(contentsOfFile: cursorFile(stage), encoding: .utf8) else { return nil }
      return try UserStore.Cursor(text.trimmingCharacters(in: .newlines)).revision.rawValue
    case .consumer:
      let sql = "SELECT seq FROM consumers WHERE name = ?"
      guard case .integer(let revision)? = try stage.look().value(sql, [.text(Array(name.utf8))]) else { return nil }
      return revision
    }
  }
}

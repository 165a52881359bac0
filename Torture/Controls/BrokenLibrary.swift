import Foundation
import Synchronization
import TestSupport

/// The embedder, built with a library in which two things can be broken: by SABOTAGE, from Controls/Sabotaged.
///
/// - `commit-hook`: what a write did is delivered before it is committed. Its listener is killed while it is called.
/// - `no-safety-look`: the watcher no longer looks by the clock, only after events. With that alone every commit must still
///   be told. How long is long is not measured in time, which a busy machine has too little of, but in the commits that
///   another pair of processes, on a store of its own, makes and tells meanwhile.
/// - `lost-wake-up`: nor does it look after an event. That must be noticed.
enum BrokenLibrary {
  static func run(_ programs: Stage.Programs, seed: UInt64, _ report: inout Report) throws {
    guard let broken = ProcessInfo.processInfo.environment["SABOTAGED_EMBEDDER"] else {
      return report.control("the broken library", wasFlagged: false, "SABOTAGED_EMBEDDER is not set: run scripts/torture")
    }
    let programs = Stage.Programs(tool: programs.tool, embedder: broken)
    report.judge("what a listener hears is committed", try heardInVain("", programs))
    let vain = try heardInVain("commit-hook", programs)
    report.control("delivery before the commit", wasFlagged: !vain.isEmpty, vain.first ?? "")

    let late = try untold("no-safety-look", commits: 60, seed: seed, programs)
    report.judge("every commit wakes the watcher, which needs no clock", late)
    let lost = try untold("no-safety-look,lost-wake-up", commits: 60, seed: seed, programs)
    report.control("the watcher does not look after an event", wasFlagged: !lost.isEmpty, lost.first ?? "")
  }

  // MARK: The commit

  /// Kills a writer whose listener has heard of its write.
  private static func heardInVain(_ sabotage: String, _ programs: Stage.Programs) throws -> [String] {
    let stage = try Stage("commit-hook", programs)
    try stage.tool("init")
    try stage.tool("add", "embedder")
    let child = try stage.startEmbedder(["write", stage.database, "0", "1", "1=1"], ["SABOTAGE": sabotage])
    var life = EmbedderLife()
    while let line = child.output.next(), !line.hasPrefix("dawdling") { life.note(line) }
    child.send(SIGKILL)
    let outcome = stage.finish(child)
    if life.events.isEmpty { throw TortureError("the embedder heard nothing: \(outcome.trouble)") }
    let reader = LogReader()
    try reader.read(stage.look())
    let record = Record(reader.log, foreignUsers: [], horizon: 0)
    return HeardBeforeReturn.violations(in: life, of: [], record)
  }

  // MARK: The wake-up

  /// Commits of which a follower has not told after 2,000 commits of others elsewhere; it stops at the first.
  private static func untold(
    _ sabotage: String, commits: Int, seed: UInt64, _ programs: Stage.Programs
  ) throws -> [String] {
    let clock = try CommitClock(programs)
    let stage = try Stage("wake-up", programs)
    try stage.tool("init")
    try stage.tool("add", "writer")
    let follower = try Follower(stage, ["SABOTAGE": sabotage])
    let writer = try PlainConnection(stage.database, busyTimeout: 60_000)
    try writer.script("PRAGMA wal_autocheckpoint = 0")
    var random = SplitMix64(seed: seed)
    for number in 1...commits {
      // Sooner and later than the watcher's patience after the last event.
      usleep(UInt32.random(in: 0...random.choose(1_000, 10_000, 10_000, 130_000), using: &random))
      let isForeign = random.oneIn(2)
      if isForeign {
        try writer.script("UPDATE users SET name = 'writer-\(number)'")
      } else {
        try stage.tool("rename", "1", "writer-\(number)", "-q")
      }
      guard case .integer(let end)? = try writer.value("SELECT max(seq) FROM changes") else { return ["no log"] }
      let start = clock.commits
      while follower.last < end {
        if clock.commits - start > 2_000 {
          return ["commit \(number), by \(isForeign ? "a foreign writer" : "usertool"), is not told while others told 2,000"]
        }
        if let end = clock.hasEnded ?? follower.hasEnded { throw TortureError(end) }
        usleep(200)
      }
    }
    return []
  }

  /// Counts the commits that two sound processes make and tell on a store of their own.
  private final class CommitClock {
    private let stage: Stage
    private let follower: Follower
    private let writer: Child

    init(_ programs: Stage.Programs) throws {
      stage = try Stage("clock", programs)
      try stage.tool("init")
      try stage.tool("add", "embedder")
      follower = try Follower(stage, [:])
      // Its listener dawdles at no number; its output is many lines, which somebody must read.
      writer = try stage.startEmbedder(["write", stage.database, "0", "0", "1=1"])
      let output = Readable(writer)
      Thread { output.readAll { _ in } }.start()
    }

    deinit {
      writer.send(SIGKILL)
      _ = stage.brood.wait(for: writer)
    }

    var commits: Int { follower.count }
    var hasEnded: String? { follower.hasEnded }
  }

  /// A following process, read as it goes.
  private final class Follower {
    private struct State {
      var last: Int64 = 0
      var count = 0
      var end: String?
    }

    private let stage: Stage
    private let child: Child
    private let state: Shared

    private final class Shared: Sendable {
      let state = Mutex(State())
    }

    init(_ stage: Stage, _ environment: [String: String]) throws {
      self.stage = stage
      let child = try stage.startEmbedder(["follow", stage.database], environment)
      self.child = child
      let state = Shared()
      self.state = state
      guard child.output.next() == "ready" else { throw TortureError("the follower does not begin") }
      let output = Readable(child)
      Thread {
        output.readAll { line in
          state.state.withLock { state in
            state.count += 1
            if line.hasPrefix("told ") { state.last = Int64(line.dropFirst(5)) ?? 0 } else { state.end = line }
          }
        }
        state.state.withLock { if $0.end == nil { $0.end = "a follower has ended" } }
      }.start()
    }

    deinit {
      child.send(SIGKILL)
      _ = stage.brood.wait(for: child)
    }

    var last: Int64 { state.state.withLock { $0.last } }
    var count: Int { state.state.withLock { $0.count } }
    var hasEnded: String? { state.state.withLock { $0.end } }
  }

  /// Read by one thread only, which holds its process until all is read.
  private final class Readable: @unchecked Sendable {
    private let child: Child

    init(_ child: Child) { self.child = child }

    func readAll(_ body: (String) -> Void) {
      while let line = child.output.next() { body(line) }
    }
  }
}

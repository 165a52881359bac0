import Foundation
import TortureSupport

/// The embedder, built with a library in which things can be broken, by SABOTAGE, from Controls/Sabotaged.
///
/// - `commit-hook`: what a write did is delivered before it is committed. Its listener is killed while it is called.
/// - `no-safety-look`: the watcher no longer looks by the clock, only after events. With that alone every commit must still
///   be told. How long is long is not measured in time, which a busy machine has too little of, but in the commits that
///   another pair of processes, on a store of its own, makes and tells meanwhile.
/// - `lost-wake-up`: nor does it look after an event. That must be noticed.
enum BrokenLibrary {
  static func run(_ programs: Stage.Programs, seed: UInt64, _ report: inout Report) throws {
    guard let broken = ProcessInfo.processInfo.environment["SABOTAGED_EMBEDDER"] else {
      throw TortureError("SABOTAGED_EMBEDDER is not set: scripts/torture builds and sets it")
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
    let record = Record(reader.log, horizon: 0)
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
          let writer = isForeign ? "a foreign writer" : "usertool"
          return ["commit \(number), by \(writer), is not told while others told 2,000"]
        }
        if let end = clock.hasEnded ?? follower.hasEnded { throw TortureError(end) }
        usleep(200)
      }
    }
    return []
  }
}

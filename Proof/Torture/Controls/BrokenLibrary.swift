import Foundation
import TortureSupport

/// The embedder, built with a library that the variable SABOTAGE breaks (see Controls/Sabotaged).
///
/// - `commit-hook`: A write's changes are delivered before they are committed. The process is killed inside its listener.
/// - `no-safety-look`: The watcher looks only after events, not at intervals. Every commit must still be delivered. The
///   limit is not a time, which a busy machine may exceed, but a number of commits that another pair of processes, on a store
///   of its own, makes and delivers meanwhile.
/// - `lost-wake-up`: The watcher does not look after an event either. This must be flagged.
enum BrokenLibrary {
  static func run(_ programs: Stage.Programs, seed: UInt64, _ report: inout Report) throws {
    guard let broken = ProcessInfo.processInfo.environment["SABOTAGED_EMBEDDER"] else {
      throw TortureError("SABOTAGED_EMBEDDER is not set; scripts/torture builds it and sets the variable")
    }
    let programs = Stage.Programs(tool: programs.tool, embedder: broken)
    report.judge("a listener receives only committed sets", try receivedUncommitted("", programs))
    let uncommitted = try receivedUncommitted("commit-hook", programs)
    report.control("delivery before the commit", wasFlagged: !uncommitted.isEmpty, uncommitted.first ?? "")

    let late = try undelivered("no-safety-look", commits: 60, seed: seed, programs)
    report.judge("every commit wakes the watcher, without looks at intervals", late)
    let lost = try undelivered("no-safety-look,lost-wake-up", commits: 60, seed: seed, programs)
    report.control("the watcher does not look after an event", wasFlagged: !lost.isEmpty, lost.first ?? "")
  }

  // MARK: The commit

  /// Kills a writer whose listener has received its write.
  private static func receivedUncommitted(_ sabotage: String, _ programs: Stage.Programs) throws -> [String] {
    let stage = try Stage("commit-hook", programs)
    try stage.tool("init")
    try stage.tool("add", "embedder")
    let child = try stage.startEmbedder(["write", stage.database, "0", "1", "1=1"], ["SABOTAGE": sabotage])
    var life = EmbedderLife()
    while let line = child.output.next(), !line.hasPrefix("dawdling") { life.note(line) }
    child.send(SIGKILL)
    let outcome = stage.finish(child)
    if life.events.isEmpty { throw TortureError("the embedder received nothing: \(outcome.trouble)") }
    let reader = LogReader()
    try reader.read(stage.look())
    let record = Record(reader.log, horizon: 0)
    return DeliveredBeforeReturn.violations(in: life, of: [], record)
  }

  // MARK: The wake-up

  /// Returns the first commit that a follower has not reported after 2,000 commits on the other store, if there is one.
  private static func undelivered(
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
      // Shorter and longer than the watcher's patience after the last event.
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
          return ["commit \(number), by \(writer), was not delivered while 2,000 others were"]
        }
        if let end = clock.hasEnded ?? follower.hasEnded { throw TortureError(end) }
        usleep(200)
      }
    }
    return []
  }
}

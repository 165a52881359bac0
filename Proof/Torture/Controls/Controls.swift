import TortureSupport

/// Shows that the checks of `Chaos` work: a fault on purpose must be flagged, each time, by the promise that it breaks.
///
/// - The observations of a real life are falsified at random places (`FalseFeeds`, `FalseWriters`): a set is divided,
///   repeated, swapped, or left out, a cursor is off by one row, a write is acknowledged that was not made.
/// - The library is broken (`BrokenLibrary`) in ways that cannot be simulated from outside: delivery before the commit, an
///   event that is ignored. `Controls/Sabotaged` has the edits, and scripts/torture applies them to a copy; only in the long tier,
///   because a second library must be built.
/// - The file is damaged (`DamagedFile`) by a checkpoint that the store never makes.
enum Controls {
  static func run(on evidence: Evidence, plan: Plan, _ programs: Stage.Programs, _ report: inout Report) throws {
    var random = SplitMix64(seed: plan.seed)
    FalseFeeds.run(on: evidence, &random, &report)
    FalseWriters.run(on: evidence, &random, &report)
    try DamagedFile.run(programs, &report)
    if plan.isLong { try BrokenLibrary.run(programs, seed: plan.seed, &report) }
  }
}

/// The observations of a life.
struct Evidence {
  let record: Record
  let feeds: [Feed]
  let histories: [History]
  let embedder: (lives: [EmbedderLife], histories: [History])
  let counter: (user: Int64, counted: [Int64])
}

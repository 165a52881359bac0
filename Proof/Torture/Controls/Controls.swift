import TortureSupport

/// Shows that the judges of `Chaos` notice: what is broken on purpose must be flagged, each time, by the promise that it
/// breaks.
///
/// - What was seen of a real life is falsified at random places (`FalseFeeds`, `FalseWriters`): a set divided, doubled,
///   swapped, left out, a cursor one row further, an acknowledgement of nothing.
/// - The library is broken (`BrokenLibrary`) where nothing outside can be: delivery before the commit, an event after which
///   nobody looks. The patches lie in `Controls/Sabotaged`; scripts/torture applies them to a copy.
/// - The file is damaged (`DamagedFile`) by the checkpoint that the store never makes.
enum Controls {
  static func run(on evidence: Evidence, seed: UInt64, _ programs: Stage.Programs, _ report: inout Report) throws {
    var random = SplitMix64(seed: seed)
    FalseFeeds.run(on: evidence, &random, &report)
    FalseWriters.run(on: evidence, &random, &report)
    try DamagedFile.run(programs, &report)
    try BrokenLibrary.run(programs, seed: seed, &report)
  }
}

/// What was seen of a life.
struct Evidence {
  let record: Record
  let feeds: [Feed]
  let histories: [History]
  let embedder: (lives: [EmbedderLife], histories: [History])
  let counter: (user: Int64, counted: [Int64])
}

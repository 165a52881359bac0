import TortureSupport

/// Breaks on purpose what the promises rest on: the judges must notice.
struct PowerCutControls {
  let lives: Lives
  let scratch: Scratch
  let seed: UInt64

  func run(_ report: inout Report) throws {
    let full = try lives.record(seed: seed, isNormal: false)
    let normal = try lives.record(seed: seed, isNormal: true)
    var control = Court.Case(recording: full)
    control.stopsEarly = true

    var off = control
    off.sins.ignoresSync = { _ in true }
    try judge(
      off, "no file is ever synced (synchronous=OFF), judged as FULL", [.losesNothing, .isSound, .opens], &report)
    off.sins.ignoresFolderSync = true
    try judge(off, "the disk ignores every sync", [.losesNothing, .opens], &report)

    var folders = control
    folders.sins.ignoresFolderSync = true
    try judge(folders, "the syncs of folders are ignored", [.losesNothing, .opens, .saves, .backsUp], &report)

    var weaker = control
    weaker = Court.Case(recording: normal, stopsEarly: true)
    try judge(weaker, "NORMAL, judged as FULL", [.losesNothing], &report)

    var checkpoint = Court.Case(recording: normal, rules: JudgeProcess.Rules(isNormal: true), stopsEarly: true)
    checkpoint.sins.ignoresSync = { $0.hasSuffix("/users.db") }
    try judge(
      checkpoint, "the checkpoint does not sync the database", [.isSound, .opens, .keepsTheRest, .replays], &report)

    let syncs = try Recording(contentsOf: normal).syncs(of: ImageJudge.database)
    if let first = syncs.first(where: \.begetsCheckpoint) {
      let failing = try lives.record(seed: seed, isNormal: true, .failingSync(first.number))
      var trusting = Court.Case(recording: failing, rules: JudgeProcess.Rules(isNormal: true), stopsEarly: true)
      trusting.sins.ignoresRepair = true
      try judge(
        trusting, "what a failed sync gave up is not written again", [.isSound, .opens, .keepsTheRest, .replays],
        &report)
    }

    let careless = Court.Case(
      recording: normal, rules: JudgeProcess.Rules(isNormal: true, isCareless: true), stopsEarly: true)
    try judge(careless, "a feed that does not compare the nonce", [.diverges], &report)
  }

  private func judge(
    _ inquiry: Court.Case, _ what: String, _ expected: Set<Promise>, _ report: inout Report
  ) throws {
    let outcome = try Court.hear(inquiry, in: scratch, seed: seed)
    let flagged = outcome.violations.keys.filter { expected.contains($0) }
    let detail = outcome.violations.map { "\($0.key): \($0.value.first?.prefix(80) ?? "")" }.sorted().joined(
      separator: "; ")
    report.control(what, wasFlagged: !flagged.isEmpty, "\(outcome.judged) images: \(detail)")
  }
}

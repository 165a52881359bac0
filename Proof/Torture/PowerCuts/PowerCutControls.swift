import TortureSupport

/// Breaks the assumptions of the promises on purpose, which the judges must flag.
struct PowerCutControls {
  let lives: Lives
  let scratch: Scratch
  let seed: UInt64

  func run(_ report: inout Report) throws {
    let full = try lives.record(seed: seed, isNormal: false)
    let normal = try lives.record(seed: seed, isNormal: true)
    var control = Examination.Options(recording: full)
    control.stopsEarly = true

    var off = control
    off.defects.ignoresSync = { _ in true }
    try judge(
      off, "no file is ever synced (synchronous=OFF), checked as FULL", [.losesNothing, .isSound, .opens], &report)
    off.defects.ignoresFolderSync = true
    try judge(off, "the disk ignores every sync", [.losesNothing, .opens], &report)

    var folders = control
    folders.defects.ignoresFolderSync = true
    try judge(folders, "the disk ignores syncs of folders", [.losesNothing, .opens, .saves, .backsUp], &report)

    var weaker = control
    weaker = Examination.Options(recording: normal, stopsEarly: true)
    try judge(weaker, "NORMAL, checked as FULL", [.losesNothing], &report)

    var checkpoint = Examination.Options(recording: normal, rules: JudgeProcess.Rules(isNormal: true), stopsEarly: true)
    checkpoint.defects.ignoresSync = { $0.hasSuffix("/users.db") }
    try judge(
      checkpoint, "the checkpoint does not sync the database", [.isSound, .opens, .keepsTheRest, .replays], &report)

    let syncs = try Recording(contentsOf: normal).syncs(of: ImageJudge.database)
    if let first = syncs.first(where: \.precedesCheckpoint) {
      let failing = try lives.record(seed: seed, isNormal: true, .failingSync(first.number))
      var trusting = Examination.Options(
        recording: failing, rules: JudgeProcess.Rules(isNormal: true), stopsEarly: true)
      trusting.defects.ignoresRepair = true
      try judge(
        trusting, "data that a failed sync dropped is not written again", [.isSound, .opens, .keepsTheRest, .replays],
        &report)
    }

    let careless = Examination.Options(
      recording: normal, rules: JudgeProcess.Rules(isNormal: true, isCareless: true), stopsEarly: true)
    try judge(careless, "a feed that does not compare the nonce", [.diverges], &report)
  }

  private func judge(
    _ options: Examination.Options, _ what: String, _ expected: Set<Promise>, _ report: inout Report
  ) throws {
    let outcome = try Examination.outcome(of: options, in: scratch, seed: seed)
    let flagged = outcome.violations.keys.filter { expected.contains($0) }
    let detail = outcome.violations.map { "\($0.key): \($0.value.first?.prefix(80) ?? "")" }.sorted().joined(
      separator: "; ")
    report.control(what, wasFlagged: !flagged.isEmpty, "\(outcome.judged) images: \(detail)")
  }
}

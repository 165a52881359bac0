import Foundation

/// Real processes on one store, killed at any moment, all of them at once now and then; then everything that anybody was
/// told, promised or acknowledged is held against the log.
///
/// What it assumes: SIGKILL takes a process and leaves its files (`PowerCuts` takes the power); foreign writers set
/// `wal_autocheckpoint = 0`, because SQLite before 3.51.3 damages a database when a checkpoint meets a commit, and the store
/// checkpoints (`Controls` shows that this would be noticed); every transaction of a foreign writer begins with the name of
/// its own user, so that transactions can be told apart in a log that does not divide them.
///
/// What it does: see `Life`. A life lasts some seconds: rounds, at the end of each of which all are killed, on the same
/// files; then all judges look. The long tier lives lives until its time is up. The seed fixes every choice (what is written,
/// who is killed, after how long), not what the scheduler makes of it: a seed that failed fails again soon, not always.
enum Chaos: Harness {
  static let name = "chaos"

  static func run(_ plan: Plan, _ report: inout Report) throws {
    let programs = try Stage.Programs.found()
    let deadline = Date(timeIntervalSinceNow: plan.isLong ? 1_200 : 0)
    let total = Tally()
    var verdicts = Verdicts()
    var first: Evidence?
    var seed = plan.seed
    repeat {
      let life = try Life(seed: seed, rounds: plan.isLong ? 8 : 3, programs)
      let judged: (verdicts: Verdicts, evidence: Evidence)
      do { judged = try life.live() } catch { throw TortureError("seed \(seed): \(error)") }
      verdicts.add(judged.verdicts, life: seed)
      first = first ?? judged.evidence
      for (what, number) in life.tally.all {
        if what.hasPrefix("largest") { total.raise(what, to: number) } else { total.add(what, number) }
      }
      total.add("lives")
      seed += 1
      if plan.isLong, total["lives"].isMultiple(of: 10) {
        let verdict = verdicts.hasViolations ? "broken" : "every promise held so far"
        report.note("\(total["lives"]) lives, \(total.kills) kills, \(verdict)")
      }
    } while Date() < deadline && !verdicts.hasViolations
    for (what, number) in total.all { report.count(number, what) }
    report.count(total.kills, "kills in all")
    verdicts.report(to: &report)
    if let first, !verdicts.hasViolations { try Controls.run(on: first, seed: plan.seed, programs, &report) }
  }
}

extension Tally {
  fileprivate var kills: Int { all.filter { $0.what.hasPrefix("kills: ") }.reduce(0) { $0 + $1.number } }
}

/// What the judges found, by promise, in the order in which these were judged first.
struct Verdicts {
  private(set) var all: [(promise: String, violations: [String])] = []

  var hasViolations: Bool { all.contains { !$0.violations.isEmpty } }

  mutating func add(_ promise: String, _ violations: [String]) {
    if let index = all.firstIndex(where: { $0.promise == promise }) {
      all[index].violations += violations
    } else {
      all.append((promise, violations))
    }
  }

  mutating func add(_ others: Verdicts, life seed: UInt64) {
    for (promise, violations) in others.all { add(promise, violations.map { "seed \(seed): \($0)" }) }
  }

  func report(to report: inout Report) {
    for (promise, violations) in all { report.judge(promise, violations) }
  }
}

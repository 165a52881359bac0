import Foundation

/// Runs real processes on one store, kills them at random moments and sometimes all at once, and then compares everything
/// that was delivered or acknowledged with the log.
///
/// Assumptions:
/// - SIGKILL ends a process and leaves its files (`PowerCuts` simulates a power cut).
/// - Foreign writers set `wal_autocheckpoint = 0`, because SQLite before 3.51.3 damages a database when a checkpoint meets a
///   commit, and the store checkpoints. (`Controls` shows that the damage would be flagged.)
/// - Every transaction of a foreign writer starts with the name of its own user, because the log does not separate foreign
///   transactions.
///
/// A `Life` takes some seconds. It consists of rounds on the same files, and all processes are killed at the end of each
/// round. Then every promise is checked. The long tier repeats lives until its time is up. The seed fixes every choice (the
/// writes, the kills, the pauses), but not the scheduling, so that a seed that failed fails again soon, but not always.
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
    if let first, !verdicts.hasViolations { try Controls.run(on: first, plan: plan, programs, &report) }
  }
}

extension Tally {
  fileprivate var kills: Int { all.filter { $0.what.hasPrefix("kills: ") }.reduce(0) { $0 + $1.number } }
}

/// The violations of each promise, in the order in which the promises were first checked.
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

import Foundation
import TortureSupport

/// Makes every file operation of a life fail in every way, and checks the result.
enum Sweeps: Harness {
  static var name: String { "sweeps" }

  static func run(_ plan: Plan, _ report: inout Report) throws {
    try Tools.check()
    let workplace = try Workplace(name)
    var random = SplitMix64(seed: plan.seed)
    let lives = Self.lives(plan, &random)
    try sweepOperations(of: lives, plan, in: workplace, &random, &report)
    try sweepMemory(of: lives[0], plan, in: workplace, &random, &report)
    sweepDescriptors(of: lives[0], plan, in: workplace, &random, &report)
    try sweepStops(of: lives[0], plan, in: workplace, &random, &report)
    judgeStopped(in: workplace, &report)
    try runControls(of: lives[0], in: workplace, &report)
  }

  private static func lives(_ plan: Plan, _ random: inout SplitMix64) -> [LifeRun] {
    let seeds = (0..<(plan.isLong ? 2 : 1)).map { _ in UInt64.random(in: 1...1_000_000, using: &random) }
    return seeds.enumerated().flatMap { index, seed in
      [false, true].map { LifeRun(folder: "", seed: seed, isNormal: $0, watches: index % 2 == 1) }
    }
  }

  // MARK: Operations

  private static let errors: [(Int32, FileFault.Times)] = [
    (EIO, .once), (EIO, .always), (ENOSPC, .once), (ENOSPC, .always), (EINTR, .once), (EINTR, .several(50)),
  ]

  private static func sweepOperations(
    of lives: [LifeRun], _ plan: Plan, in workplace: Workplace, _ random: inout SplitMix64, _ report: inout Report
  ) throws {
    var runs: [LifeRun] = []
    for life in lives { runs += faults(of: life, in: workplace, &report) }
    let results = perform(runs, seconds: plan.isLong ? nil : 4, in: workplace, &random)
    report.count(results.count, "runs with a fault in a file operation, of \(runs.count)")
    report.count(results.count { $0.wasKilled }, "of them killed")
    report.count(results.reduce(0) { $0 + $1.acknowledged }, "acknowledged writes in them")
    report.judge(
      "if a file operation fails: no acknowledged write is lost, no failed write is in the log, the store is consistent",
      results.flatMap(\.violations))
  }

  /// Counts the operations of a life without a fault, and returns a run for each operation and each fault.
  private static func faults(of life: LifeRun, in workplace: Workplace, _ report: inout Report) -> [LifeRun] {
    let all = count(life, nil, in: workplace, &report)
    let kills = (1...all).flatMap { at in
      [FileFault(kind: .killBefore, at: at), FileFault(kind: .killAfter, at: at), FileFault(kind: .error(EIO), at: at)]
    }
    let unlocked = count(life, FileFault.withoutLocks, in: workplace, &report)
    let failures = (1...unlocked).flatMap { at in
      errors.map { FileFault(kind: .error($0), at: at, times: $1, operations: FileFault.withoutLocks) }
    }
    let writes = (1...count(life, "w", in: workplace, &report)).flatMap { at in
      [.once, .always].map { FileFault(kind: .short, at: at, times: $0, operations: "w") }
    }
    let opens = (1...count(life, "o", in: workplace, &report)).flatMap { at in
      [.once, .several(3), .always].map { FileFault(kind: .error(EMFILE), at: at, times: $0, operations: "o") }
    }
    let syncs = (1...count(life, "s", in: workplace, &report)).map {
      FileFault(kind: .error(EIO), at: $0, operations: "s")
    }
    return (kills + failures + writes + opens).map { life.with($0) } + syncs.map { life.with($0, isRecorded: true) }
  }

  /// Counts the operations of some kinds in a life.
  private static func count(
    _ life: LifeRun, _ operations: String?, in workplace: Workplace, _ report: inout Report
  ) -> Int {
    let fault = FileFault(kind: .killBefore, at: 0, operations: operations)
    let judged = judge(life.with(fault, isRecorded: true), in: workplace.folder + "/counted")
    if operations == nil {
      report.count(judged.operations, "file operations in a life, \(life.isNormal ? "normal" : "full")")
      report.judge("a life without a fault, \(life.isNormal ? "normal" : "full")", judged.violations)
    }
    return max(1, judged.operations)
  }

  // MARK: Memory and descriptors

  private static func sweepMemory(
    of life: LifeRun, _ plan: Plan, in workplace: Workplace, _ random: inout SplitMix64, _ report: inout Report
  ) throws {
    let allocations = judge(life, in: workplace.folder + "/counted").allocations
    report.count(allocations, "allocations of SQLite in a life")
    let faults = (1...max(1, allocations)).flatMap { at in
      let others: [FileFault.Times] = at % 7 == 0 ? [.always] : at % 7 == 3 ? [.several(300)] : []
      return ([.once] + others).map { FileFault(kind: .noMemory, at: at, times: $0) }
    }
    let results = perform(faults.map { life.with($0) }, seconds: plan.isLong ? nil : 2.5, in: workplace, &random)
    report.count(results.count, "runs in which an allocation fails, of \(faults.count)")
    report.judge(
      "if an allocation fails: a clear error, no acknowledged write is lost, no failed write is in the log",
      results.flatMap(\.violations))
  }

  private static func sweepDescriptors(
    of life: LifeRun, _ plan: Plan, in workplace: Workplace, _ random: inout SplitMix64, _ report: inout Report
  ) {
    let runs = (3..<(plan.isLong ? 48 : 28)).flatMap { count in
      [false, true].map { watches in
        var run = life
        (run.descriptors, run.watches) = (count, watches)
        return run
      }
    }
    let results = perform(runs, seconds: plan.isLong ? nil : 1.5, in: workplace, &random)
    report.count(results.count, "runs with few descriptors, of \(runs.count)")
    report.judge(
      "without descriptors: a clear error, and it works again when there are some", results.flatMap(\.violations))
  }

  // MARK: One run

  private static func perform(
    _ runs: [LifeRun], seconds: Double?, in workplace: Workplace, _ random: inout SplitMix64
  ) -> [Judged] {
    let deadline = seconds.map { Date(timeIntervalSinceNow: $0) } ?? .distantFuture
    return workplace.perform(runs.shuffled(using: &random), until: deadline) { folder, run in
      let judged = judge(run, in: folder)
      // The long tier takes hours, so that violations are printed at once.
      if seconds == nil {
        for violation in judged.violations { FileHandle.standardError.write(Data("\(violation)\n".utf8)) }
      }
      return judged
    }
  }

  struct Judged: Sendable {
    var violations: [String]
    var wasKilled = false
    var acknowledged = 0
    var operations = 0
    var allocations = 0
  }

  static func judge(_ run: LifeRun, in folder: String) -> Judged {
    var run = run
    run.folder = folder
    do {
      let outcome = try run.run()
      let inspection = LifeInspection(of: run, outcome)
      return Judged(
        violations: inspection.inspect(), wasKilled: outcome.end == .signal(SIGKILL),
        acknowledged: inspection.claims.written.count, operations: outcome.tally.operations,
        allocations: outcome.tally.allocations)
    } catch {
      return Judged(violations: ["\(run.fault): \(error)"])
    }
  }
}

extension LifeRun {
  func with(_ fault: FileFault, isRecorded: Bool = false) -> LifeRun {
    var run = self
    (run.fault, run.isRecorded) = (fault, isRecorded)
    return run
  }
}

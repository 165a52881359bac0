import Foundation
import TortureSupport

/// Simulates a power cut at every moment of a store's life, with every image that a disk may be left with, and checks it.
struct PowerCuts: Harness {
  static let name = "powercuts"

  static func run(_ plan: Plan, _ report: inout Report) throws {
    for assumption in Disk.assumptions { print("  assumed: \(assumption)") }
    let scratch = try Scratch(name)
    let lives = try Lives(in: scratch)
    for isNormal in [false, true] {
      let modeRun = ModeRun(lives: lives, scratch: scratch, plan: plan, isNormal: isNormal)
      try modeRun.outcome().report(isNormal ? "NORMAL" : "FULL", to: &report)
      // The long tier takes long, and somebody may be reading the output from a file.
      fflush(nil)
    }
    try PowerCutControls(lives: lives, scratch: scratch, seed: plan.seed).run(&report)
  }
}

/// The lives of one durability mode, and their power cuts.
private struct ModeRun {
  let lives: Lives
  let scratch: Scratch
  let plan: Plan
  let isNormal: Bool

  func outcome() throws -> Examination.Outcome {
    var total = Examination.Outcome()
    for index in 0..<(plan.isLong ? 4 : 1) {
      let seed = plan.seed &+ UInt64(index)
      let record = try lives.record(seed: seed, isNormal: isNormal)
      total.add(try examine(record, stride: 1))
      total.add(try examine(lives.record(seed: seed, isNormal: isNormal, .olderStore), stride: 4))
      for number in try failingSyncs(in: record, seed) {
        total.add(try examine(lives.record(seed: seed, isNormal: isNormal, .failingSync(number)), stride: 4))
      }
    }
    return total
  }

  /// Some of a life's syncs.
  ///
  /// Under NORMAL, one before a checkpoint is always among them, and the long tier uses all.
  private func failingSyncs(in record: String, _ seed: UInt64) throws -> [Int] {
    var random = SplitMix64(seed: seed)
    var syncs = try Recording(contentsOf: record).syncs(of: ImageJudge.database).shuffled(using: &random)
    if isNormal { syncs = syncs.filter(\.precedesCheckpoint) + syncs.filter { !$0.precedesCheckpoint } }
    return syncs.prefix(!plan.isLong ? 1 : isNormal ? syncs.count : 12).map(\.number)
  }

  private func examine(_ record: String, stride: Int) throws -> Examination.Outcome {
    var options = Examination.Options(recording: record)
    options.rules.isNormal = isNormal
    (options.imagesPerCut, options.exhaustively) = plan.isLong ? (32, 7) : (6, 3)
    options.stride = stride * (plan.isLong ? 1 : 6)
    options.kept = "\(NSTemporaryDirectory())/torture-powercuts-\(plan.seed)"
    do {
      return try Examination.outcome(of: options, in: scratch, seed: plan.seed)
    } catch let error as LifeHistory.Incomplete {
      // A write failed but was committed, and was deleted from the log before its set was delivered.
      print("  skipped: \(options.recording): \(error)")
      return Examination.Outcome()
    }
  }
}

extension Examination.Outcome {
  mutating func add(_ other: Examination.Outcome) {
    operations += other.operations
    cuts += other.cuts
    made += other.made
    judged += other.judged
    distinct.formUnion(other.distinct)
    shortened += other.shortened
    lost += other.lost
    diverged += other.diverged
    violations.merge(other.violations) { $0 + $1 }
  }

  func report(_ mode: String, to report: inout Report) {
    report.count(operations, "\(mode): operations recorded")
    report.count(cuts, "\(mode): cuts")
    report.count(made, "\(mode): images made")
    report.count(distinct.count, "\(mode): distinct images")
    report.count(judged, "\(mode): images opened and checked, some again with later announcements")
    report.count(shortened, "\(mode): images in which the end was lost (\(lost) sets)")
    report.count(diverged, "\(mode): cursors that diverged")
    for promise in Promise.allCases { report.judge("\(mode): \(promise.rawValue)", violations[promise] ?? []) }
  }
}

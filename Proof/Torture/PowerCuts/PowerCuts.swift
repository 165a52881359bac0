import Foundation
import TortureSupport

/// Cuts the power at every moment of a store's life, in every way that a disk allows, and looks at what is left.
struct PowerCuts: Harness {
  static let name = "powercuts"

  static func run(_ plan: Plan, _ report: inout Report) throws {
    for assumption in Disk.assumptions { print("  assumed: \(assumption)") }
    let scratch = try Scratch(name)
    let lives = try Lives(in: scratch)
    for isNormal in [false, true] {
      let sitting = Sitting(lives: lives, scratch: scratch, plan: plan, isNormal: isNormal)
      try sitting.outcome().report(isNormal ? "NORMAL" : "FULL", to: &report)
      // The long tier takes its time, and who waits may read a file.
      fflush(nil)
    }
    try PowerCutControls(lives: lives, scratch: scratch, seed: plan.seed).run(&report)
  }
}

/// Lives under one durability, and their power cuts.
private struct Sitting {
  let lives: Lives
  let scratch: Scratch
  let plan: Plan
  let isNormal: Bool

  func outcome() throws -> Court.Outcome {
    var total = Court.Outcome()
    for index in 0..<(plan.isLong ? 4 : 1) {
      let seed = plan.seed &+ UInt64(index)
      let record = try lives.record(seed: seed, isNormal: isNormal)
      total.add(try hear(record, stride: 1))
      total.add(try hear(lives.record(seed: seed, isNormal: isNormal, .olderStore), stride: 4))
      for number in try failingSyncs(in: record, seed) {
        total.add(try hear(lives.record(seed: seed, isNormal: isNormal, .failingSync(number)), stride: 4))
      }
    }
    return total
  }

  /// Some of those that a life makes; under NORMAL one before a checkpoint is always among them, and the long tier takes
  /// them all.
  private func failingSyncs(in record: String, _ seed: UInt64) throws -> [Int] {
    var random = SplitMix64(seed: seed)
    var syncs = try Recording(contentsOf: record).syncs(of: ImageJudge.database).shuffled(using: &random)
    if isNormal { syncs = syncs.filter(\.begetsCheckpoint) + syncs.filter { !$0.begetsCheckpoint } }
    return syncs.prefix(!plan.isLong ? 1 : isNormal ? syncs.count : 12).map(\.number)
  }

  private func hear(_ record: String, stride: Int) throws -> Court.Outcome {
    var inquiry = Court.Case(recording: record)
    inquiry.rules.isNormal = isNormal
    (inquiry.imagesPerCut, inquiry.exhaustively) = plan.isLong ? (32, 7) : (6, 3)
    inquiry.stride = stride * (plan.isLong ? 1 : 4)
    inquiry.kept = "\(NSTemporaryDirectory())/torture-powercuts-\(plan.seed)"
    do { return try Court.hear(inquiry, in: scratch, seed: plan.seed) } catch let error as LifeHistory.Incomplete {
      // A write that failed, was there, and was forgotten before anybody looked.
      print("  left out: \(inquiry.recording): \(error)")
      return Court.Outcome()
    }
  }
}

extension Court.Outcome {
  mutating func add(_ other: Court.Outcome) {
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
    report.count(judged, "\(mode): opened and judged, those again of which more was announced by then")
    report.count(shortened, "\(mode): in which the end was lost (\(lost) sets)")
    report.count(diverged, "\(mode): cursors that diverged")
    for promise in Promise.allCases { report.judge("\(mode): \(promise.rawValue)", violations[promise] ?? []) }
  }
}

import Foundation
import TortureSupport

/// Cuts the power at every step of a recording, and has what is left judged.
struct Court {
  struct Case {
    /// The record of a life.
    let recording: String
    var sins = Disk.Sins()
    var rules = JudgeProcess.Rules()
    /// How many images each cut gives, about, and of how many pending changes all subsets are taken.
    var imagesPerCut = 16
    var exhaustively = 4
    /// One in so many cuts.
    var stride = 1
    /// Stops when something is violated: for controls.
    var stopsEarly = false
    /// Where an image of each violated promise stays.
    var kept: String?
  }

  /// What was done and found.
  struct Outcome {
    var operations = 0
    var cuts = 0
    var made = 0
    var judged = 0
    var distinct: Set<DiskImage.Fingerprint> = []
    /// Images in which something is lost, and how much altogether.
    var shortened = 0
    var lost = 0
    var diverged = 0
    var violations: [Promise: [String]] = [:]
  }

  private struct Seen: Hashable {
    let image: DiskImage.Fingerprint
    let claims: Int
  }

  private let inquiry: Case
  private let folder: String
  private var random: SplitMix64
  private var benches: [Bench] = []
  private var seen: Set<Seen> = []
  private var outcome = Outcome()
  private var handed = 0

  private static let judges = 2
  /// So many images wait for each judge.
  private static let queue = 8

  /// - Parameters:
  ///   - inquiry: What is to be judged.
  ///   - scratch: Where images are laid out.
  ///   - seed: For choosing.
  /// - Returns: what was done and found.
  /// - Throws: `LifeHistory.Incomplete` when nobody knows what was written.
  static func hear(_ inquiry: Case, in scratch: Scratch, seed: UInt64) throws -> Outcome {
    var court = try Court(inquiry, in: scratch, seed: seed)
    try court.run()
    return court.outcome
  }

  private init(_ inquiry: Case, in scratch: Scratch, seed: UInt64) throws {
    self.inquiry = inquiry
    folder = scratch.folder
    random = SplitMix64(seed: seed)
    for _ in 0..<Self.judges {
      benches.append(try Bench(inquiry.rules, recording: inquiry.recording, group: scratch.group))
    }
  }

  private var isOver: Bool { inquiry.stopsEarly && !outcome.violations.isEmpty }

  private mutating func run() throws {
    let recording = try Recording(contentsOf: inquiry.recording)
    // The judges would end without it.
    _ = try LifeHistory(of: recording, layingOut: folder + "/end")
    outcome.operations = recording.operations
    var disk = Disk(sins: inquiry.sins)
    var claims = 0
    for (index, step) in recording.steps.enumerated() where !isOver {
      if case .announce = step { claims += 1 } else { disk.apply(step) }
      // What is announced right after is to hold already: nothing happens to the disk in between.
      if index + 1 < recording.steps.count, case .announce = recording.steps[index + 1] { continue }
      // Before the first announcement lies what was there already.
      guard claims > 0, inquiry.stride == 1 || random.oneIn(inquiry.stride) else { continue }
      outcome.cuts += 1
      try cut(disk, claims, at: index)
    }
    for bench in benches { while !bench.isEmpty { try take(from: bench) } }
  }

  private mutating func cut(_ disk: Disk, _ claims: Int, at step: Int) throws {
    for survival in choices(of: disk) where !isOver {
      let image = disk.image(survival)
      outcome.made += 1
      let fingerprint = image.fingerprint
      outcome.distinct.insert(fingerprint)
      guard seen.insert(Seen(image: fingerprint, claims: claims)).inserted else { continue }
      try hand(
        in: Bench.Case(
          image: image, folder: "\(folder)/image\(seen.count)", claims: claims, seed: random.next(),
          story: "cut after step \(step) of \(URL(filePath: inquiry.recording).lastPathComponent): \(survival)"))
    }
  }

  private mutating func choices(of disk: Disk) -> [Survival] {
    Survivals(of: disk, limit: inquiry.imagesPerCut, exhaustively: inquiry.exhaustively, &random).all
  }

  private mutating func hand(in entry: Bench.Case) throws {
    // In turn: who waits for one of them lets the other one work.
    let bench = benches[handed % benches.count]
    handed += 1
    if bench.count >= Self.queue { try take(from: bench) }
    try entry.image.lay(out: entry.folder)
    bench.hand(in: entry)
  }

  private mutating func take(from bench: Bench) throws {
    let (entry, verdict) = try bench.next()
    outcome.judged += 1
    outcome.shortened += verdict.lost > 0 ? 1 : 0
    outcome.lost += verdict.lost
    outcome.diverged += verdict.diverged
    for (promise, reason) in verdict.violations {
      outcome.violations[promise, default: []].append("\(reason); \(entry.story)")
    }
    if let first = verdict.violations.first { try keep(entry, because: first.promise) }
    try? FileManager.default.removeItem(atPath: entry.folder)
  }

  /// Lays the image out once more, as it was before it was opened, where it stays: one of each promise.
  private func keep(_ entry: Bench.Case, because promise: Promise) throws {
    guard let kept = inquiry.kept, outcome.violations[promise]?.count == 1 else { return }
    try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
    let folder = "\(kept)/\(promise)-\(URL(filePath: inquiry.recording).lastPathComponent)"
    try? FileManager.default.removeItem(atPath: folder)
    try entry.image.lay(out: folder)
    print("  kept: \(folder)")
  }
}

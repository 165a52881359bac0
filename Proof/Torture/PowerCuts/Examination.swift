import Foundation
import TortureSupport

/// Cuts the power at every step of a recording, and has the resulting images checked.
struct Examination {
  struct Options {
    /// The record of a life.
    let recording: String
    var defects = Disk.Defects()
    var rules = JudgeProcess.Rules()
    /// About how many images are made per cut.
    var imagesPerCut = 16
    /// Up to how many pending changes all subsets are made.
    var exhaustively = 4
    /// Makes only one in so many cuts.
    var stride = 1
    /// Stops at the first violation, for controls.
    var stopsEarly = false
    /// The folder that keeps an image for each violated promise.
    var kept: String?
  }

  /// The numbers and findings.
  struct Outcome {
    var operations = 0
    var cuts = 0
    var made = 0
    var judged = 0
    var distinct: Set<DiskImage.Fingerprint> = []
    /// The number of images that lost something, and how many sets they lost.
    var shortened = 0
    var lost = 0
    var diverged = 0
    var violations: [Promise: [String]] = [:]
  }

  private struct Seen: Hashable {
    let image: DiskImage.Fingerprint
    let claims: Int
  }

  private let options: Options
  private let folder: String
  private var random: SplitMix64
  private var judges: [Judge] = []
  private var seen: Set<Seen> = []
  private var outcome = Outcome()
  private var submitted = 0

  private static let judgeCount = 2
  /// How many images wait for each judge.
  private static let queue = 8

  /// Examines a recording.
  ///
  /// - Throws: `LifeHistory.Incomplete` if the recording does not show all that was written.
  static func outcome(of options: Options, in scratch: Scratch, seed: UInt64) throws -> Outcome {
    var examination = try Examination(options, in: scratch, seed: seed)
    try examination.run()
    return examination.outcome
  }

  private init(_ options: Options, in scratch: Scratch, seed: UInt64) throws {
    self.options = options
    folder = scratch.folder
    random = SplitMix64(seed: seed)
    for _ in 0..<Self.judgeCount {
      judges.append(try Judge(options.rules, recording: options.recording, group: scratch.group))
    }
  }

  private var isOver: Bool { options.stopsEarly && !outcome.violations.isEmpty }

  private mutating func run() throws {
    let recording = try Recording(contentsOf: options.recording)
    // Throws here rather than in the judges if the history is incomplete.
    _ = try LifeHistory(of: recording, layingOut: folder + "/end")
    outcome.operations = recording.operations
    var disk = Disk(defects: options.defects)
    var claims = 0
    for (index, step) in recording.steps.enumerated() where !isOver {
      if case .announce = step { claims += 1 } else { disk.apply(step) }
      // The next announcement must already hold, because the disk does not change before it.
      if index + 1 < recording.steps.count, case .announce = recording.steps[index + 1] { continue }
      // The steps before the first announcement made the files that the life started with.
      guard claims > 0, options.stride == 1 || random.oneIn(options.stride) else { continue }
      outcome.cuts += 1
      try cut(disk, claims, at: index)
    }
    for judge in judges { while !judge.isEmpty { try take(from: judge) } }
  }

  private mutating func cut(_ disk: Disk, _ claims: Int, at step: Int) throws {
    for survival in choices(of: disk) where !isOver {
      let image = disk.image(survival)
      outcome.made += 1
      let fingerprint = image.fingerprint
      outcome.distinct.insert(fingerprint)
      guard seen.insert(Seen(image: fingerprint, claims: claims)).inserted else { continue }
      try submit(
        Judge.Case(
          image: image, folder: "\(folder)/image\(seen.count)", claims: claims, seed: random.next(),
          story: "cut after step \(step) of \(URL(filePath: options.recording).lastPathComponent): \(survival)"))
    }
  }

  private mutating func choices(of disk: Disk) -> [Survival] {
    Survivals(of: disk, limit: options.imagesPerCut, exhaustively: options.exhaustively, &random).all
  }

  private mutating func submit(_ entry: Judge.Case) throws {
    // In turn, so that one judge works while this waits for the other.
    let judge = judges[submitted % judges.count]
    submitted += 1
    if judge.count >= Self.queue { try take(from: judge) }
    try entry.image.lay(out: entry.folder)
    judge.submit(entry)
  }

  private mutating func take(from judge: Judge) throws {
    let (entry, verdict) = try judge.next()
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

  /// Keeps the image as it was before it was opened, one for each promise.
  private func keep(_ entry: Judge.Case, because promise: Promise) throws {
    guard let kept = options.kept, outcome.violations[promise]?.count == 1 else { return }
    try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
    let folder = "\(kept)/\(promise)-\(URL(filePath: options.recording).lastPathComponent)"
    try? FileManager.default.removeItem(atPath: folder)
    try entry.image.lay(out: folder)
    print("  kept: \(folder)")
  }
}

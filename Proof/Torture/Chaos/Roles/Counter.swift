import Foundation
import TortureSupport

/// The consumer that counts exactly once, killed at random moments.
final class Counter: Role, @unchecked Sendable {
  let user: Int64
  private var random: SplitMix64
  /// The revisions of the sets that it announced as counted.
  private(set) var counted: [Int64] = []
  private(set) var troubles = Troubles()

  init(user: Int64, seed: UInt64) {
    self.user = user
    random = SplitMix64(seed: seed)
  }

  func live(on stage: Stage) throws {
    while !stage.isOver {
      let child = try stage.startEmbedder(["count", stage.database, "\(user)"])
      var lines = child.output.next(Int.random(in: 0...40, using: &random))
      for _ in 0..<Int.random(in: 0...40, using: &random) { sched_yield() }
      let isKilledHere = !stage.isOver
      child.send(SIGKILL)
      lines += child.output.restOfLines()
      let outcome = stage.finish(child)
      troubles.expectKilled(outcome.status, "the counter", (lines.last ?? "") + outcome.errors)
      if isKilledHere { stage.tally.add("kills: counter") }
      counted += lines.compactMap { $0.hasPrefix("counted ") ? Int64($0.dropFirst(8)) : nil }
    }
  }
}

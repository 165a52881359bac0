import Foundation
import TortureSupport

/// Runs `usertool compact` repeatedly, and kills some of the runs.
///
/// A row is not deleted before `LogReader` has copied it: the consumer `reference`, which no process holds, keeps the rest.
/// Before each compaction, a foreign program sets its position to that of `LogReader`.
final class Compactor: Role, @unchecked Sendable {
  static let consumer = "reference"

  private let reader: LogReader
  private var random: SplitMix64
  private(set) var troubles = Troubles()

  init(_ reader: LogReader, seed: UInt64) {
    self.reader = reader
    random = SplitMix64(seed: seed)
  }

  func live(on stage: Stage) throws {
    while !stage.isOver {
      stage.rest(milliseconds: Int.random(in: 0...80, using: &random))
      if let last = reader.last {
        let sql = "UPDATE consumers SET seq = \(last.seq), nonce = \(last.nonce) WHERE name = '\(Self.consumer)'"
        do { try stage.shell(sql) } catch  where stage.isOver { return }
      }
      let child = try stage.startTool(["compact", "--keep", "\(random.choose(0, 20, 200, 1_000))"])
      let isKilled = random.oneIn(3)
      if isKilled {
        usleep(UInt32.random(in: 0...60_000, using: &random))
        child.send(SIGKILL)
      }
      let outcome = stage.finish(child)
      if outcome.status == 0 { stage.tally.add("compactions") }
      if outcome.status == 128 + SIGKILL, !stage.isOver { stage.tally.add("kills: usertool compacting") }
      if ![0, 128 + SIGKILL].contains(outcome.status) { troubles.add("usertool compact: \(outcome.trouble)") }
    }
  }
}

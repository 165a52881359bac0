import Foundation
import TortureSupport

/// `usertool set`, `rename`, `add`, `remove`, and `undo`, each in its own process.
///
/// About half of them are killed.
final class ToolWriter: Role, @unchecked Sendable {
  private var random: SplitMix64
  private(set) var history: History
  private(set) var troubles = Troubles()
  private var number: Int64 = 0
  /// The users that it added, with acknowledgment.
  private var extras: [Int64] = []
  /// The last acknowledged write, if nothing was attempted after it.
  private var undoable: Int64?

  init(_ label: String, user: Int64, seed: UInt64) {
    random = SplitMix64(seed: seed)
    history = History(writer: label, user: user)
  }

  func live(on stage: Stage) throws {
    while !stage.isOver { try act(on: stage) }
  }

  private func act(on stage: Stage) throws {
    let (what, arguments) = choose()
    let child = try stage.startTool(arguments)
    let isKilled = random.oneIn(2)
    if isKilled { kill(child) }
    let outcome = stage.finish(child)
    let wasKilled = outcome.status == 128 + SIGKILL
    switch outcome.status {
    case 0: acknowledge(what, outcome.output, stage)
    case 128 + SIGKILL: history.add(what, .unknown)
    // The write to undo may have been deleted from the log.
    case 6 where arguments[0] == "undo": history.add(what, .abandoned)
    default:
      history.add(what, .abandoned)
      troubles.add("usertool \(arguments.joined(separator: " ")): \(outcome.trouble)")
    }
    if wasKilled, !stage.isOver { stage.tally.add("kills: usertool writing") }
  }

  /// Kills it between its first instruction and about its end.
  private func kill(_ child: Child) {
    usleep(UInt32.random(in: 0...60_000, using: &random))
    child.send(SIGKILL)
  }

  private func acknowledge(_ what: Attempt.What, _ output: String, _ stage: Stage) {
    history.add(what, .acknowledged)
    stage.tally.add("commits acknowledged: usertool")
    switch what {
    case .number where output.hasPrefix("{"):
      undoable = output.split(separator: "\n").last.flatMap { try? Line.decode(String($0)).revision } ?? nil
    case .number: extras.append(Int64(output.trimmingCharacters(in: .newlines)) ?? 0)
    case .removal, .undo: break
    }
  }

  private func choose() -> (Attempt.What, [String]) {
    let (user, label) = ("\(history.user)", history.writer)
    let choice = Int.random(in: 0..<10, using: &random)
    if choice == 0, let extra = extras.popLast() { return (.removal(extra), ["remove", "\(extra)", "--yes", "-q"]) }
    defer { undoable = nil }
    if choice == 1, let undoable { return (.undo(undoable), ["undo", "\(undoable)", "-q"]) }
    number += 1
    switch choice {
    case 2: return (.number(number), ["add", "\(label)-\(number)-extra", "--set", "n=\(number)"])
    case 3: return (.number(number), ["rename", user, "\(label)-\(number)", "--format", "jsonl"])
    default:
      let values = ["name=\(label)-\(number)", "a=\(number)", "b=\(number)"]
      return (.number(number), ["set", user] + values + ["--format", "jsonl"])
    }
  }
}

import Foundation
import TortureSupport

/// A long-running program that embeds the library, with blocking and awaited writes and a listener.
///
/// It is killed at random moments and inside the listener.
final class EmbedderWriter: Role, @unchecked Sendable {
  private var random: SplitMix64
  /// The history of each of its users.
  private(set) var histories: [History]
  private(set) var lives: [EmbedderLife] = []
  private(set) var troubles = Troubles()
  private var last: [Int64]

  init(users: [Int64], seed: UInt64) {
    random = SplitMix64(seed: seed)
    histories = users.map { History(writer: "embedder", user: $0) }
    last = users.map { _ in 0 }
  }

  func live(on stage: Stage) throws {
    while !stage.isOver {
      let starts = zip(histories, last).map { "\($0.user)=\($1 + 1)" }
      let pause = random.choose(0, 2_000, 8_000)
      let child = try stage.startEmbedder(["write", stage.database, "\(pause)", "7"] + starts)
      var life = EmbedderLife()
      read(child, Int.random(in: 0...120, using: &random), &life, stage)
      let isKilledHere = !stage.isOver
      child.send(SIGKILL)
      for line in child.output.restOfLines() { note(line, &life, stage) }
      let outcome = stage.finish(child)
      troubles.expectKilled(outcome.status, "the embedder", (life.failure ?? "") + outcome.errors)
      if isKilledHere { stage.tally.add("kills: embedder") }
      lives.append(life)
      endAttempts()
    }
  }

  /// Reads some lines, fewer if the process is to be killed inside its listener.
  private func read(_ child: Child, _ count: Int, _ life: inout EmbedderLife, _ stage: Stage) {
    for _ in 0..<count {
      guard let line = child.output.next() else { return }
      note(line, &life, stage)
      guard line.hasPrefix("dawdling") else { continue }
      if random.oneIn(3) {
        stage.tally.add("kills inside a listener")
        return
      }
      child.type("\n")
    }
    for _ in 0..<Int.random(in: 0...40, using: &random) { sched_yield() }
  }

  private func note(_ line: String, _ life: inout EmbedderLife, _ stage: Stage) {
    life.note(line)
    guard case .acknowledged(let user, let number)? = EmbedderLife.event(line),
      let index = histories.firstIndex(where: { $0.user == user })
    else { return }
    histories[index].add(.number(number), .acknowledged)
    last[index] = number
    stage.tally.add("commits acknowledged: embedder")
  }

  /// One write of each user may have been in progress.
  private func endAttempts() {
    for index in histories.indices {
      last[index] += 1
      histories[index].add(.number(last[index]), .unknown)
    }
  }
}

/// The output of one process of the embedder.
struct EmbedderLife {
  enum Event {
    /// A listener was called with a set.
    case received(revision: Int64, changes: Int)
    /// A write returned.
    case acknowledged(user: Int64, number: Int64)
  }

  var events: [Event] = []
  private(set) var failure: String?

  mutating func note(_ line: String) {
    if line.hasPrefix("failed") { failure = line }
    if let event = Self.event(line) { events.append(event) }
  }

  static func event(_ line: String) -> Event? {
    let words = line.split(separator: " ")
    guard words.count == 3, let first = Int64(words[1]), let second = Int64(words[2]) else { return nil }
    return switch words[0] {
    case "received": .received(revision: first, changes: Int(second))
    case "ack": .acknowledged(user: first, number: second)
    default: nil
    }
  }
}

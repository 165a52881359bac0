import Foundation
import Histogram

/// Runs a case, with all contenders in one process and in turns.
///
/// Each round starts with another contender, so that other load on the machine affects all of them equally.
struct Runner {
  let effort: Effort
  /// The folder for files.
  ///
  /// Each contender has a folder in it, which is removed after the case.
  let folder: URL

  func run(_ entry: Case) throws -> [Outcome] {
    let place = folder.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: place) }
    let sides = try entry.contenders.enumerated().map { index, contender in
      let own = place.appending(path: "\(index)")
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      return try Side(contender, contender.setUp(own.path), entry.operationsPerPass, effort)
    }
    for round in 0..<min(entry.rounds ?? .max, effort.rounds) {
      for turn in sides.indices { try sides[(turn + round) % sides.count].takeTurn() }
    }
    return sides.map(\.outcome)
  }
}

/// A contender that is ready to run.
private final class Side {
  private(set) var outcome: Outcome
  private let measured: Measured
  private let operationsPerPass: Int
  private let events: Int
  private var count = 1

  init(_ contender: Contender, _ measured: Measured, _ operationsPerPass: Int, _ effort: Effort) throws {
    self.measured = measured
    self.operationsPerPass = operationsPerPass
    events = effort.events
    var unit = Outcome.Unit.nanoseconds
    if case .bytes = measured { unit = .bytes }
    outcome = Outcome(contender: contender.name, unit: unit)
    if case .latencies = measured { outcome.latencies = Histogram(numberOfSignificantValueDigits: .three) }
    switch measured {
    case .passes(_, let run): count = try Self.warmUp(effort.turn) { count in try Self.time { try run(count) } }
    case .parts(let run): count = try Self.warmUp(effort.turn, run)
    default: break
    }
  }

  /// Doubles the number of passes until a turn is long enough, twice in a row: a moment of other load makes one turn long.
  private static func warmUp(_ turn: Duration, _ run: (Int) throws -> Duration) throws -> Int {
    var count = 1
    while true {
      let time = try run(count)
      if time * 2 >= turn {
        let time = min(time, try run(count))
        if time * 2 >= turn { return max(1, Int(Double(count) * (turn / time))) }
      }
      count *= 2
    }
  }

  private static func time(_ body: () throws -> Void) throws -> Duration {
    try ContinuousClock().measure { try body() }
  }

  func takeTurn() throws {
    switch measured {
    case .passes(let writers, let run):
      let time = try Self.time { try run(count) }
      outcome.rounds.append(time.nanoseconds / Double(count * operationsPerPass * writers))
    case .parts(let run): outcome.rounds.append(try run(count).nanoseconds / Double(count * operationsPerPass))
    case .pass(let run): outcome.rounds.append(try run() / Double(operationsPerPass))
    case .bytes(let size): outcome.rounds.append(try size() / Double(operationsPerPass))
    case .latencies(let run):
      let latencies = try run(events).map(\.nanoseconds)
      for latency in latencies { outcome.latencies?.record(UInt64(max(0, latency))) }
      outcome.rounds.append(latencies.median)
    }
  }
}

import Foundation

/// The results as a file with a JSON object per line: first the machine, then the contenders.
final class JSONLines {
  struct Line: Encodable {
    var kind = "result"
    let `case`: String
    let operation: String
    let contender: String
    let unit: Outcome.Unit
    let median: Double
    let ratio: Double
    let rounds: [Double]
    var latencies: Outcome.Spread?
  }

  private let file: FileHandle
  private let encoder = JSONEncoder()

  init(path: String) throws {
    try Data().write(to: URL(filePath: path))
    file = try FileHandle(forWritingTo: URL(filePath: path))
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  func write(_ value: some Encodable) throws {
    try file.write(contentsOf: encoder.encode(value) + Data("\n".utf8))
  }

  func write(_ entry: Case, _ outcomes: [Outcome]) throws {
    for outcome in outcomes {
      try write(
        Line(
          case: entry.name, operation: entry.operation, contender: outcome.contender, unit: outcome.unit,
          median: outcome.median, ratio: outcome.ratio(to: outcomes[0]), rounds: outcome.rounds,
          latencies: outcome.spread))
    }
  }
}

import Histogram

/// The measurements of one contender.
struct Outcome {
  enum Unit: String, Encodable { case nanoseconds, bytes }

  let contender: String
  let unit: Unit
  /// The figure of an operation in each round: the mean of its turn, or the median of latencies.
  var rounds: [Double] = []
  /// All events, if latencies are measured.
  var latencies: Histogram<UInt64>?

  /// The distribution of the latencies, if they are measured.
  var spread: Spread? {
    latencies.map {
      Spread(p50: $0.valueAtPercentile(50), p99: $0.valueAtPercentile(99), max: $0.max, events: $0.totalCount)
    }
  }

  struct Spread: Encodable {
    let p50: UInt64
    let p99: UInt64
    let max: UInt64
    let events: UInt64
  }

  /// The median of the rounds.
  var median: Double { rounds.median }

  /// The median of the ratios to another contender in the same round, in which both met the same load of the machine.
  func ratio(to other: Outcome) -> Double {
    zip(rounds, other.rounds).map { $0 / $1 }.median
  }
}

extension [Double] {
  /// The middle value, or the mean of the two middle values.
  var median: Double {
    if isEmpty { return .nan }
    let sorted = sorted()
    let middle = count / 2
    return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

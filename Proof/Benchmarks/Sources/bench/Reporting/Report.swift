import Foundation

/// The table of a case.
///
/// Ratios are relative to the first contender, and less is better.
struct Report {
  let entry: Case
  let outcomes: [Outcome]

  var text: String {
    var rows = [header]
    for outcome in outcomes { rows.append(row(outcome)) }
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      zip(row, widths).enumerated().map { pad($1.0, $1.1, left: $0 == 0) }.joined(separator: "  ")
    }
    return "\n\(entry.name): \(entry.operation)\n" + lines.map { "  " + $0 + "\n" }.joined()
  }

  private var hasLatencies: Bool { outcomes.contains { $0.latencies != nil } }

  private var header: [String] {
    hasLatencies
      ? ["", "p50", "p99", "max", "ratio", "events"] : ["", "median", "least", "most", "ratio", "per second"]
  }

  private func row(_ outcome: Outcome) -> [String] {
    let ratio = String(format: "%.2f", outcome.ratio(to: outcomes[0]))
    let unit = outcome.unit
    if let spread = outcome.spread {
      let figures = [spread.p50, spread.p99, spread.max]
      return [outcome.contender] + figures.map { unit.text(Double($0)) } + [ratio, "\(spread.events)"]
    }
    let rate = unit == .bytes ? "" : rateText(1e9 / outcome.median)
    let figures = [outcome.median, outcome.rounds.min() ?? .nan, outcome.rounds.max() ?? .nan]
    return [outcome.contender] + figures.map { unit.text($0) } + [ratio, rate]
  }

  private func rateText(_ rate: Double) -> String {
    rate >= 1e6 ? String(format: "%.2f M", rate / 1e6) : String(format: rate < 100 ? "%.1f" : "%.0f", rate)
  }

  private func pad(_ text: String, _ width: Int, left: Bool) -> String {
    let blanks = String(repeating: " ", count: width - text.count)
    return left ? text + blanks : blanks + text
  }
}

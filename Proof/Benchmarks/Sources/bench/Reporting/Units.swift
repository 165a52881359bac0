import Foundation

extension Outcome.Unit {
  /// The value with three digits and a suitable unit.
  func text(_ value: Double) -> String {
    switch self {
    case .nanoseconds: scaled(value, [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")])
    case .bytes: scaled(value, [(1_048_576, "MiB"), (1_024, "KiB"), (1, "B")])
    }
  }

  private func scaled(_ value: Double, _ units: [(size: Double, name: String)]) -> String {
    let unit = units.first { abs(value) >= $0.size } ?? units[units.count - 1]
    let number = value / unit.size
    return String(format: number < 10 ? "%.2f" : number < 100 ? "%.1f" : "%.0f", number) + " " + unit.name
  }
}

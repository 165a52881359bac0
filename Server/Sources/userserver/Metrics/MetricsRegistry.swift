import CoreMetrics
import Synchronization

/// Keeps what is measured with swift-metrics, and writes it in Prometheus's text format.
final class MetricsRegistry: MetricsFactory {
  /// One series: a name with certain labels.
  final class Series: CounterHandler, RecorderHandler, TimerHandler {
    fileprivate enum Kind: String {
      case counter
      case gauge
      case histogram
    }

    private struct State {
      var value = 0.0
      /// How many observations each bucket has, without those of smaller ones; the last has no bound.
      var counts = [Int](repeating: 0, count: Series.bounds.count + 1)
    }

    fileprivate let kind: Kind
    private let state = Mutex(State())

    /// In seconds: most requests take milliseconds, and an answer is awaited for up to 25 s.
    private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30]

    fileprivate init(_ kind: Kind) { self.kind = kind }

    func increment(by amount: Int64) { state.withLock { $0.value += Double(amount) } }

    func reset() { state.withLock { $0 = State() } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
      state.withLock { state in
        guard kind == .histogram else { return state.value = value }
        state.value += value
        state.counts[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1
      }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    fileprivate func lines(_ name: String, _ labels: String) -> [String] {
      func line(_ suffix: String, _ more: String, _ value: String) -> String {
        let all = [labels, more].filter { !$0.isEmpty }.joined(separator: ",")
        return name + suffix + (all.isEmpty ? "" : "{\(all)}") + " " + value
      }
      let state = state.withLock { $0 }
      guard kind == .histogram else { return [line("", "", MetricsRegistry.text(state.value))] }
      var count = 0
      let buckets = zip(Self.bounds.map { MetricsRegistry.text($0) } + ["+Inf"], state.counts).map { bound, own in
        count += own
        return line("_bucket", "le=\"\(bound)\"", "\(count)")
      }
      return buckets + [line("_sum", "", MetricsRegistry.text(state.value)), line("_count", "", "\(count)")]
    }
  }

  private struct Family {
    let kind: Series.Kind
    /// By their labels as they are written.
    var series: [String: Series] = [:]
  }

  private let help: [String: String]
  private let families = Mutex<[String: Family]>([:])

  /// `help` explains the names.
  init(help: [String: String]) { self.help = help }

  // MARK: Measuring

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(.counter, label, dimensions)
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    series(aggregate ? .histogram : .gauge, label, dimensions)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(.histogram, label, dimensions)
  }

  func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  private func series(_ kind: Series.Kind, _ name: String, _ dimensions: [(String, String)]) -> Series {
    let labels = dimensions.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
    return families.withLock { families in
      var family = families[name] ?? Family(kind: kind)
      let series = family.series[labels] ?? Series(family.kind)
      family.series[labels] = series
      families[name] = family
      return series
    }
  }

  private func remove(_ handler: AnyObject) {
    families.withLock { families in
      for (name, var family) in families {
        family.series = family.series.filter { $0.value !== handler }
        families[name] = family.series.isEmpty ? nil : family
      }
    }
  }

  // MARK: Writing

  /// All series, in the order of their names and labels.
  var text: String {
    var lines: [String] = []
    for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      if let help = help[name] { lines.append("# HELP \(name) \(help)") }
      lines.append("# TYPE \(name) \(family.kind.rawValue)")
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) { lines += series.lines(name, labels) }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func text(_ value: Double) -> String {
    Int64(exactly: value).map { "\($0)" } ?? (value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)")
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

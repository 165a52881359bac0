import Dispatch
import UserStore

/// A line on a terminal that says how far something long has come whose parts report rarely; none while it is short, and
/// none elsewhere.
///
/// A clock keeps it moving: SQLite looks through a file in one call, which takes seconds and tells nothing meanwhile.
final class Ticker: Sendable {
  private let state: Lock<TickerLine?>
  private static let interval = DispatchTimeInterval.milliseconds(200)

  /// - Parameters:
  ///   - verb: What is being done: `checking`.
  ///   - isQuiet: Whether nothing is to be said.
  init(_ verb: String, isQuiet: Bool) {
    let isShown = !isQuiet && System.isTerminal(2)
    state = Lock(isShown ? TickerLine(verb: verb, start: System.uptime) : nil)
    if isShown { wait() }
  }

  /// - Parameter fraction: How much of all is done, from 0 to 1.
  func note(_ fraction: Double) {
    state.withLock { $0?.fraction = fraction }
  }

  /// Takes the line away.
  func end() {
    state.withLock { line in
      if line?.hasShown == true { Messages.shared.write("\r\u{1B}[K") }
      line = nil
    }
  }

  private func wait() {
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.show() }
  }

  private func show() {
    let goesOn = state.withLock { line in
      if let text = line?.text(at: System.uptime) { Messages.shared.write("\r\u{1B}[K" + text) }
      return line != nil
    }
    if goesOn { wait() }
  }
}

/// What the line says.
struct TickerLine {
  let verb: String
  /// In milliseconds.
  let start: Int64
  var fraction = 0.0
  private(set) var hasShown = false

  /// What is done sooner needs no line.
  private static let patience: Int64 = 1_000

  init(verb: String, start: Int64) {
    self.verb = verb
    self.start = start
  }

  mutating func text(at now: Int64) -> String? {
    guard now - start >= Self.patience else { return nil }
    hasShown = true
    let percent = fraction > 0 ? "\(min(100, Int(fraction * 100))) %  " : ""
    return "\(percent)\(verb), \((now - start) / 1_000) s"
  }
}

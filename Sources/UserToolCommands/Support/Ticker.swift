import Dispatch
import UserStore

/// A line on the terminal that shows the progress of a long operation that reports rarely; short operations, and pipes, get
/// none.
///
/// A clock updates the line: SQLite checks a file in one call, which takes seconds and reports nothing meanwhile.
final class Ticker: Sendable {
  private let state: Lock<TickerLine?>
  private static let interval = DispatchTimeInterval.milliseconds(200)

  /// Starts the clock; `verb` says what is being done, such as `checking`.
  init(_ verb: String, isQuiet: Bool) {
    let isShown = !isQuiet && System.isTerminal(2)
    state = Lock(isShown ? TickerLine(verb: verb, start: System.uptime) : nil)
    if isShown { wait() }
  }

  /// Records the fraction that is done, from 0 to 1.
  func note(_ fraction: Double) {
    state.withLock { $0?.fraction = fraction }
  }

  /// Removes the line.
  func end() {
    state.withLock { line in
      if line?.hasShown == true { Messages.shared.showProgress("") }
      line = nil
    }
  }

  private func wait() {
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.show() }
  }

  private func show() {
    let isActive = state.withLock { line in
      if let text = line?.text(at: System.uptime) { Messages.shared.showProgress(text) }
      return line != nil
    }
    if isActive { wait() }
  }
}

/// The text of the line.
struct TickerLine {
  let verb: String
  /// In milliseconds.
  let start: Int64
  var fraction = 0.0
  private(set) var hasShown = false

  /// The line is shown for operations that take longer than this.
  private static let delay: Int64 = 1_000

  init(verb: String, start: Int64) {
    self.verb = verb
    self.start = start
  }

  mutating func text(at now: Int64) -> String? {
    guard now - start >= Self.delay else { return nil }
    hasShown = true
    let percent = fraction > 0 ? "\(min(100, Int(fraction * 100)))%  " : ""
    return "\(percent)\(verb), \((now - start) / 1_000) s"
  }
}

/// A line on the terminal that shows the progress of a long operation; short operations, and pipes, get none.
struct Progress: ~Copyable {
  private var schedule: ProgressSchedule?

  /// Starts the clock; `verb` says what happens to the users, such as `imported`.
  init(_ verb: String, isQuiet: Bool) {
    schedule = isQuiet || !System.isTerminal(2) ? nil : ProgressSchedule(verb: verb, start: System.uptime)
  }

  deinit {
    if schedule?.hasShown == true { Messages.shared.showProgress("") }
  }

  /// Reports how many users are done, and the fraction of all, from 0 to 1, or nil if it is unknown.
  mutating func note(_ count: Int, fraction: @autoclosure () -> Double?) {
    guard schedule != nil, let line = schedule?.line(count, fraction(), at: System.uptime) else { return }
    Messages.shared.showProgress(line)
  }
}

/// When the line is shown, and its text.
struct ProgressSchedule {
  let verb: String
  /// In milliseconds, as are all times here.
  let start: Int64
  private var next: Int64
  private(set) var hasShown = false

  /// The line is shown for operations that take longer than this.
  private static let delay: Int64 = 1_000
  private static let interval: Int64 = 200

  init(verb: String, start: Int64) {
    self.verb = verb
    self.start = start
    next = start + Self.delay
  }

  /// The line, if it is time to show one.
  mutating func line(_ count: Int, _ fraction: @autoclosure () -> Double?, at now: Int64) -> String? {
    guard now >= next else { return nil }
    next = now + Self.interval
    hasShown = true
    let rate = Int64(count) * 1_000 / max(1, now - start)
    let percent = fraction().map { "\(min(100, Int($0 * 100)))%  " } ?? ""
    return "\(percent)\(verb) \(count) users, \(rate) per second"
  }
}

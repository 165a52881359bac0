/// A line on a terminal that says how far something long has come; none while it is short, and none elsewhere.
struct Progress: ~Copyable {
  private var schedule: ProgressSchedule?

  /// - Parameters:
  ///   - verb: What is being done to the users: `imported`.
  ///   - isQuiet: Whether nothing is to be said.
  init(_ verb: String, isQuiet: Bool) {
    schedule = isQuiet || !System.isTerminal(2) ? nil : ProgressSchedule(verb: verb, start: System.uptime)
  }

  deinit {
    if schedule?.hasShown == true { Messages.shared.write("\r\u{1B}[K") }
  }

  /// - Parameters:
  ///   - count: How many users are done.
  ///   - fraction: How much that is of all, from 0 to 1; nil when nobody knows.
  mutating func note(_ count: Int, fraction: @autoclosure () -> Double?) {
    guard schedule != nil, let line = schedule?.line(count, fraction(), at: System.uptime) else { return }
    Messages.shared.write("\r\u{1B}[K" + line)
  }
}

/// When the line is shown, and what it says.
struct ProgressSchedule {
  let verb: String
  /// In milliseconds, as all times here.
  let start: Int64
  private var next: Int64
  private(set) var hasShown = false

  /// What is done sooner needs no line.
  private static let patience: Int64 = 1_000
  private static let interval: Int64 = 200

  init(verb: String, start: Int64) {
    self.verb = verb
    self.start = start
    next = start + Self.patience
  }

  /// The line, when it is time for one.
  mutating func line(_ count: Int, _ fraction: @autoclosure () -> Double?, at now: Int64) -> String? {
    guard now >= next else { return nil }
    next = now + Self.interval
    hasShown = true
    let rate = Int64(count) * 1_000 / max(1, now - start)
    let percent = fraction().map { "\(min(100, Int($0 * 100))) %  " } ?? ""
    return "\(percent)\(verb) \(count) users, \(rate) a second"
  }
}

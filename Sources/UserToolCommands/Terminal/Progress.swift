import Dispatch
import UserStore

/// A progress line on the terminal for a long operation; short operations and pipes have none.
///
/// A timer updates the line: SQLite checks a file in one call that takes seconds and reports nothing.
final class Progress: Sendable {
  private let line: Lock<ProgressLine?>
  // No global queue: without /proc, Dispatch may end the program while work waits in one.
  private let queue = DispatchQueue(label: "progress")

  fileprivate init(_ line: ProgressLine?) {
    self.line = Lock(line)
    if line != nil { wait() }
  }

  /// Records the fraction that is done, nil if unknown, and the number of users, if they are counted.
  func note(_ fraction: Double?, users: Int? = nil) {
    line.withLock { line in
      line?.fraction = fraction
      line?.users = users
    }
  }

  private func wait() {
    queue.asyncAfter(deadline: .now() + .milliseconds(200)) { [weak self] in self?.show() }
  }

  private func show() {
    let isActive = line.withLock { line in
      if let text = line?.text(at: System.uptime) { Messages.shared.showProgress(text) }
      return line != nil
    }
    if isActive { wait() }
  }

  fileprivate func end() {
    line.withLock { line in
      if line?.hasShown == true { Messages.shared.showProgress("") }
      line = nil
    }
  }
}

extension CommonOptions {
  /// Shows the progress of `body`; `verb` is the activity, such as `checking`.
  ///
  /// If users are counted, it is a participle such as `imported`, and no line is shown before the first user.
  func showProgress<Result>(
    _ verb: String, countsUsers: Bool = false, during body: (Progress) throws -> Result
  ) rethrows -> Result {
    let line = ProgressLine(verb: verb, start: System.uptime, users: countsUsers ? 0 : nil)
    let progress = Progress(quiet || !System.isTerminal(System.standardError) ? nil : line)
    defer { progress.end() }
    return try body(progress)
  }
}

struct ProgressLine {
  let verb: String
  let start: Int64
  var users: Int?
  var fraction: Double?
  private(set) var hasShown = false

  private static let delay: Int64 = 1_000

  mutating func text(at now: Int64) -> String? {
    let elapsed = now - start
    guard elapsed >= Self.delay, users != 0 else { return nil }
    hasShown = true
    let percent = fraction.map { "\(min(100, Int($0 * 100)))%  " } ?? ""
    let count = users.map { " \($0) users, \(Int64($0) * 1_000 / elapsed) per second" }
    return percent + verb + (count ?? ", \(elapsed / 1_000) s")
  }
}

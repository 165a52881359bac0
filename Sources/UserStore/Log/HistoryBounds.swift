/// A policy, applied to a log at one time.
struct HistoryBounds {
  private let policy: HistoryPolicy
  private let extent: LogExtent
  private let now: Int64

  init(_ policy: HistoryPolicy, in extent: LogExtent, at now: Int64) {
    self.policy = policy
    self.extent = extent
    self.now = now
  }

  /// Whether the log may be forgotten through a row, as far as the limits go.
  ///
  /// - Parameters:
  ///   - sequence: The row.
  ///   - time: When it was written.
  ///   - rest: How large what stands after it is, as far as that is known.
  /// - Returns: whether it is beyond a limit.
  func mayGo(through sequence: Int64, at time: Int64, bytesAfter rest: Int64) -> Bool {
    isBeyond(policy.limits, sequence, time, rest)
  }

  /// Whether a named consumer holds it back.
  func isHeld(through sequence: Int64, at time: Int64, bytesAfter rest: Int64) -> Bool {
    guard let consumer = extent.consumer, consumer < sequence else { return false }
    return !isBeyond(policy.consumerLimits, sequence, time, rest)
  }

  private func isBeyond(_ limits: HistoryPolicy.Limits, _ sequence: Int64, _ time: Int64, _ rest: Int64) -> Bool {
    let rowsAfter = extent.head - sequence
    if let changes = limits.changes, rowsAfter >= changes { return true }
    if let bytes = limits.bytes, rest >= bytes { return true }
    guard let age = limits.age, rowsAfter >= policy.minimumChanges else { return false }
    return now.subtractingReportingOverflow(age.milliseconds).partialValue > time
  }
}

extension HistoryPolicy {
  /// The smallest size that has a meaning; nil when none has.
  var byteLimit: Int64? { [limits.bytes, consumerLimits.bytes].compactMap { $0 }.min().map { Int64($0) } }
}

extension Duration {
  /// In whole milliseconds, at most some 290 million years.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1_000)
    if milliseconds.overflow { return seconds < 0 ? .min : .max }
    return milliseconds.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}

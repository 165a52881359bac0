extension UserStore.RetentionPolicy {
  /// What the policy decides about the oldest set.
  enum Verdict {
    case delete, keep
    /// The limits are exceeded, but a named consumer needs the set.
    case holdForConsumer
    /// The verdict depends on the size of the set, which was not counted yet.
    case needsSize
  }

  /// The verdict on the rows through `end`, normally the last row of the oldest set; `rest` is the size of the rows after it,
  /// nil if it is unknown.
  func verdict(
    through end: Int64, writtenAt time: Int64, bytesAfter rest: Int64?, in extent: LogExtent, at now: Int64
  ) -> Verdict {
    guard let isBeyond = isBeyond(limits, end, time, rest, extent, now) else { return .needsSize }
    guard isBeyond else { return .keep }
    guard let consumer = extent.consumer, consumer < end else { return .delete }
    guard let isLost = self.isBeyond(consumerLimits, end, time, rest, extent, now) else { return .needsSize }
    return isLost ? .delete : .holdForConsumer
  }

  /// Whether the rows are beyond a limit; nil if that depends on their size, which is unknown.
  ///
  /// They are if the rows after them reach the limit, or if the log exceeds it and enough rows follow. Without the second case,
  /// a set that is larger than a limit would be kept until as much follows it.
  private func isBeyond(
    _ limits: Limits, _ end: Int64, _ time: Int64, _ rest: Int64?, _ extent: LogExtent, _ now: Int64
  ) -> Bool? {
    let rowsAfter = extent.head - end
    let isEnough = rowsAfter >= max(minimumChanges, graceRows)
    if let changes = limits.changes {
      if rowsAfter >= changes { return true }
      if isEnough, extent.head - extent.horizon.revision.rawValue > changes { return true }
    }
    if let age = limits.age, rowsAfter >= minimumChanges {
      if now.subtractingReportingOverflow(age.milliseconds).partialValue > time { return true }
    }
    guard let bytes = limits.bytes, extent.bytes >= bytes else { return false }
    if isEnough, extent.bytes > bytes { return true }
    return rest.map { $0 >= bytes }
  }

  var byteLimit: Int64? { [limits.bytes, consumerLimits.bytes].compactMap { $0 }.min().map { Int64($0) } }
}

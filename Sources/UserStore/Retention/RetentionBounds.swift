/// A policy, applied at one time.
struct RetentionBounds {
  private let policy: RetentionPolicy
  private let now: Int64

  init(_ policy: RetentionPolicy, at now: Int64) {
    self.policy = policy
    self.now = now
  }

  /// What a policy says of the oldest set.
  enum Verdict {
    case goes, stays
    /// It would go, but a named consumer needs it.
    case isHeld
    /// That depends on how large it is, which was not counted yet.
    case dependsOnSize
  }

  /// Whether the oldest set may be forgotten.
  ///
  /// - Parameters:
  ///   - end: Its last row, or any other one: whether all through that row may be forgotten.
  ///   - time: When that row was written.
  ///   - rest: How large what stands after it is, as far as that is known.
  ///   - extent: The log.
  /// - Returns: whether it is beyond a limit, and nobody needs it.
  func verdict(through end: Int64, at time: Int64, bytesAfter rest: Int64?, in extent: LogExtent) -> Verdict {
    switch isBeyond(policy.limits, end, time, rest, extent) {
    case true?: break
    case false?: return .stays
    case nil: return .dependsOnSize
    }
    guard let consumer = extent.consumer, consumer < end else { return .goes }
    switch isBeyond(policy.consumerLimits, end, time, rest, extent) {
    case true?: return .goes
    case false?: return .isHeld
    case nil: return .dependsOnSize
    }
  }

  /// A set goes when what stands after it is enough, or when the log is too long with it and what stands after it is at
  /// least something: else a set that is larger than the log may be would be there until as much has followed it.
  private func isBeyond(
    _ limits: RetentionPolicy.Limits, _ end: Int64, _ time: Int64, _ rest: Int64?, _ extent: LogExtent
  ) -> Bool? {
    let rowsAfter = extent.head - end
    let isEnough = rowsAfter >= max(policy.minimumChanges, policy.graceRows)
    if let changes = limits.changes {
      if rowsAfter >= changes { return true }
      if isEnough, extent.head - extent.horizon.revision.rawValue > changes { return true }
    }
    if let age = limits.age, rowsAfter >= policy.minimumChanges {
      if now.subtractingReportingOverflow(age.milliseconds).partialValue > time { return true }
    }
    guard let bytes = limits.bytes, extent.bytes >= bytes else { return false }
    if isEnough, extent.bytes > bytes { return true }
    return rest.map { $0 >= bytes }
  }
}

extension UserStore.RetentionPolicy {
  /// The smallest size that has a meaning; nil when none has.
  var byteLimit: Int64? { [limits.bytes, consumerLimits.bytes].compactMap { $0 }.min().map { Int64($0) } }
}

/// Which change sets a slow consumer of `ListenerHub.values(of:bufferingUpTo:)` missed.
///
/// The log still has them: `UserStore.changes(after:)` goes on after the cursor of the last set that was dealt with.
public struct MissedChanges: MissedSummary {
  /// The revision of the first set that was missed.
  public let first: Revision
  /// The revision of the last set that was missed.
  ///
  /// Of another log than `first`, and perhaps smaller, when there is a `reset`.
  public private(set) var last: Revision
  /// How many sets; those of other topics are not counted.
  public private(set) var count = 1
  /// Why the log did not go on from the one before, the last time that happened among the missed sets; nil if it did go on.
  ///
  /// Whoever keeps a copy reads the present state again; see `ChangeSet.reset`.
  public private(set) var reset: StoreError.Code?

  /// Begins with the first set.
  public init(_ first: ChangeSet) {
    self.first = first.revision
    last = first.revision
    reset = first.reset
  }

  /// Adds a set.
  public mutating func add(_ next: ChangeSet) {
    last = next.revision
    count += 1
    reset = next.reset ?? reset
  }
}

extension UserStore {
  /// How much of the log to keep.
  ///
  /// If the log exceeds the limits, writes of the library delete its oldest rows, after their commit and after their listeners:
  /// each time, up to 1,000 rows more than were written since the previous deletion. Whole change sets are deleted, and never
  /// the newest row. A cursor before the start of the log gets `StoreError.Code.compacted`.
  ///
  ///     var configuration = UserStore.Configuration()
  ///     configuration.retention = UserStore.RetentionPolicy(.init(age: .seconds(7 * 86_400), changes: 100_000))
  public struct RetentionPolicy: Hashable, Sendable {
    /// Limits of the log; a change is deleted if it is beyond one of them.
    ///
    /// Only whole change sets are deleted. A set that is partly beyond a limit is deleted when 10,000 rows follow it, or
    /// `minimumChanges` if that is more. Otherwise, an import that exceeds a limit would be kept until as many rows follow it.
    public struct Limits: Hashable, Sendable {
      /// The largest age of a change; nil for any age.
      ///
      /// A change from the future, written with a wrong clock, has the age of the next change that is not from the future.
      public var age: Duration?
      /// The largest number of rows (not of changes): one for each change and one for the end of each `write`; nil for any.
      public var changes: Int?
      /// The largest size of the log in bytes; nil for any size.
      ///
      /// The size is that of the values and 64 bytes for each row, about as much as the log takes in the file. Free space in the
      /// file is not counted.
      public var bytes: Int?

      /// Creates limits; one that is left out is no limit.
      public init(age: Duration? = nil, changes: Int? = nil, bytes: Int? = nil) {
        self.age = age
        self.changes = changes
        self.bytes = bytes
      }

      /// No limit.
      public static let none = Limits()
    }

    /// The limits beyond which changes are deleted, unless a named consumer still needs them.
    public var limits: Limits
    /// How many of the newest rows (not changes) are kept, however old they are.
    ///
    /// A store that is seldom written keeps its changes, and one wrong clock setting cannot delete everything.
    public var minimumChanges: Int
    /// The limits beyond which changes are deleted even if a named consumer still needs them, so that a consumer that never
    /// continues does not fill the disk.
    public var consumerLimits: Limits
    /// How many rows must follow a set that is partly beyond a limit before it is deleted.
    ///
    /// So a reader that is only a little behind gets even a set that is larger than the limits. Fewer in tests.
    var graceRows = 10_000
    /// How many rows one step reads, without the write lock; fewer in tests.
    var readRows = 4 * PagedChanges.rowLimit

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limits: The limits beyond which changes are deleted.
    ///   - minimumChanges: How many of the newest rows are kept, however old they are.
    ///   - consumerLimits: The limits beyond which changes are deleted even if a named consumer still needs them.
    public init(_ limits: Limits, minimumChanges: Int = 0, consumerLimits: Limits = standard.consumerLimits) {
      self.limits = limits
      self.minimumChanges = minimumChanges
      self.consumerLimits = consumerLimits
    }

    /// 30 days, 1,000,000 rows, 256 MiB; at least 10,000 rows; four times the limits for named consumers.
    ///
    /// A device that was off for a month can still catch up. A million rows are a day of a busy daemon, and are read in about a
    /// second. 256 MiB are little on a disk. 10,000 rows are less than a megabyte.
    public static let standard = RetentionPolicy(
      Limits(age: .seconds(30 * 86_400), changes: 1_000_000, bytes: 256 << 20), minimumChanges: 10_000,
      consumerLimits: Limits(age: .seconds(120 * 86_400), changes: 4_000_000, bytes: 1 << 30))

    /// Deletes nothing.
    public static let unlimited = RetentionPolicy(.none, consumerLimits: .none)
  }

  /// The result of a compaction: the part of the log that was deleted.
  public struct Compaction: Hashable, Sendable {
    /// The number of change sets.
    public internal(set) var sets = 0
    /// The number of changes in them.
    public internal(set) var changes = 0
    /// The size of the sets, counted like `RetentionPolicy.Limits.bytes`.
    public internal(set) var bytes = 0
    /// The revision after which the log starts now; earlier cursors get `StoreError.Code.compacted`.
    public internal(set) var horizon = Revision(rawValue: 0)
    /// Whether more would have been deleted if a named consumer did not need it.
    public internal(set) var isHeldByConsumer = false
  }
}

package typealias Compaction = UserStore.Compaction
package typealias RetentionPolicy = UserStore.RetentionPolicy

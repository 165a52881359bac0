extension UserStore {
  /// How much of the log is kept.
  ///
  /// A write of the library that finds more than that forgets a little of the oldest, after its commit and after its
  /// listeners: at most 1,000 rows, and as many as it wrote itself. Whole change sets are forgotten, and never the newest
  /// row. A cursor from before what is left gets `StoreError.Code.compacted`.
  ///
  ///     var configuration = Configuration()
  ///     configuration.retention = RetentionPolicy(.init(age: .seconds(7 * 86_400), changes: 100_000))
  public struct RetentionPolicy: Hashable, Sendable {
    /// Where a log is too long; a change that is beyond one of the limits is beyond them.
    ///
    /// They are rounded up to whole change sets: the set in which a limit lies is within until 10,000 rows follow it, or
    /// `minimumChanges` if that is more. Then it goes too, so that an import which is larger than the log may be does not
    /// stay until as much has followed it.
    public struct Limits: Hashable, Sendable {
      /// How old a change may become; nil for any age.
      ///
      /// A change from the future, by a clock that stood wrong, is as old as the next one that is not.
      public var age: Duration?
      /// How many rows the log may have: one for each change, and one for the end of each `write`; nil for any number.
      public var changes: Int?
      /// How large the log may be; nil for any size.
      ///
      /// Counted are the values, and 64 bytes for each row, which is about what it takes in the file. Free space in the
      /// file is not.
      public var bytes: Int?

      /// Limits, those that are left out without limit.
      ///
      /// - Parameters:
      ///   - age: How old a change may become.
      ///   - changes: How many rows the log may have.
      ///   - bytes: How large it may be.
      public init(age: Duration? = nil, changes: Int? = nil, bytes: Int? = nil) {
        self.age = age
        self.changes = changes
        self.bytes = bytes
      }

      /// No limit.
      public static let none = Limits()
    }

    /// What is beyond them is forgotten, unless a named consumer still needs it.
    public var limits: Limits
    /// So many of the newest rows are kept whatever their age.
    ///
    /// A store that is written rarely keeps its past, and a clock that once stood wrong takes little with it.
    public var minimumChanges: Int
    /// What is beyond these too is forgotten even if a named consumer still needs it: one that never comes back does not
    /// fill the disk.
    public var consumerLimits: Limits
    /// How many rows must follow a set in which a limit lies.
    ///
    /// So that who is close behind gets even a set that is larger than the log may be. Tests set less.
    var graceRows = 10_000
    /// How many rows one step reads, without the write lock.
    ///
    /// Tests set less.
    var readRows = 4 * PagedChanges.rowLimit

    /// A policy.
    ///
    /// - Parameters:
    ///   - limits: What is beyond them is forgotten.
    ///   - minimumChanges: So many of the newest rows are kept whatever their age.
    ///   - consumerLimits: What is beyond these is forgotten even if a named consumer still needs it.
    public init(_ limits: Limits, minimumChanges: Int = 0, consumerLimits: Limits = standard.consumerLimits) {
      self.limits = limits
      self.minimumChanges = minimumChanges
      self.consumerLimits = consumerLimits
    }

    /// 30 days, 1,000,000 rows, 256 MiB; at least 10,000 rows; four times that for named consumers.
    ///
    /// A month, because that is how long a device stays in a drawer and still expects to catch up. A million rows is a day
    /// of a busy daemon, and is read in about a second. 256 MiB is what nobody misses on a disk. 10,000 rows are less than
    /// a megabyte.
    public static let standard = RetentionPolicy(
      Limits(age: .seconds(30 * 86_400), changes: 1_000_000, bytes: 256 << 20), minimumChanges: 10_000,
      consumerLimits: Limits(age: .seconds(120 * 86_400), changes: 4_000_000, bytes: 1 << 30))

    /// Nothing is ever forgotten.
    public static let unlimited = RetentionPolicy(.none, consumerLimits: .none)
  }
}

extension UserStore {
  /// What was forgotten of the log.
  public struct Compaction: Hashable, Sendable {
    /// How many change sets.
    public internal(set) var sets = 0
    /// How many changes were in them.
    public internal(set) var changes = 0
    /// How large they were, counted as in `RetentionPolicy.Limits.bytes`.
    public internal(set) var bytes = 0
    /// Where the log begins now: cursors from before get `StoreError.Code.compacted`.
    public internal(set) var horizon = Revision(rawValue: 0)
    /// Whether more would have been forgotten if a named consumer did not need it.
    public internal(set) var isHeldByConsumer = false
  }
}

package typealias Compaction = UserStore.Compaction
package typealias RetentionPolicy = UserStore.RetentionPolicy

extension UserStore {
  /// The options for opening a store.
  public struct Configuration: Sendable {
    /// What a store may do with its file.
    public enum Access: Sendable {
      /// Reads and writes. Creates a missing file, with permissions only for its owner.
      case createIfMissing
      /// Reads and writes an existing store.
      case readWrite
      /// Only reads. The process needs no permission to write to the file if it can write to the folder or a writer has the store
      /// open. This is the only way to open a file that has several names (hard links); a state that a writer leaves in a -wal
      /// file under another name is not seen.
      case readOnly
    }

    /// How much a power cut can lose.
    public enum Durability: Sendable {
      /// No write that has returned: `synchronous=FULL`, one sync of the disk for each commit.
      case full
      /// The last writes, even after listeners received them; the state stays consistent: `synchronous=NORMAL`.
      case normal
    }

    /// What the store may do with its file; by default `createIfMissing`.
    public var access: Access = .createIfMissing
    /// How much a power cut can lose; by default `full`.
    public var durability: Durability = .full
    /// How long to wait for the lock of another process before `StoreError.Code.busy` is thrown; by default 5 seconds.
    public var busyTimeout: Duration = .seconds(5)
    /// The page size of a new file in bytes, a power of two from 512 to 65,536.
    ///
    /// With 2,048, small changes cost least; 4,096 is better for values of many kilobytes. Opening a store throws
    /// `StoreError.Code.badValue` for another number, even if the file exists and keeps its page size.
    public var pageSize = 2_048
    /// Whether listeners and feeds receive the commits of other processes; costs a sleeping thread.
    public var watchesOtherProcesses = true
    /// Whether the store uses the file events of the system, where it has them.
    ///
    /// Otherwise, the file is polled: every millisecond after a change, then less and less often, at least every 250 ms.
    public var usesFileEvents = true
    /// How many rounds one change may cause through listeners that write; the next such write is refused.
    public var roundLimit = 1_000
    /// How much of the log to keep; by default `RetentionPolicy.standard`.
    ///
    /// Writes delete what exceeds it, a little at a time, after their commit.
    public var retention = RetentionPolicy.standard
    /// Receives the errors that listeners throw, with the listener's name, on the thread that called the listener.
    ///
    /// It also receives failures of the store's own work between changes, without a name: for example, once, that the
    /// connection that watches other processes cannot be opened, or that the one to a server was lost, which the store then
    /// tries again.
    ///
    /// By default, it writes a line to standard error.
    public var onListenerError: @Sendable (_ listener: String?, any Error) -> Void = ListenerErrors.print

    /// Measures the pause between two durable acknowledgments; tests have a manual clock.
    var clock: any Clock<Duration> = ContinuousClock()
    /// The time in milliseconds since 1970, from which ages of changes are counted.
    var wallClock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How long a checkpoint blocks writers until readers have ended, so that the -wal file can restart; longer in tests.
    var readerPatience = Duration.milliseconds(50)
    /// The kind of file system of a folder; tests replace it.
    var fileSystem: @Sendable (_ folder: String) -> FileSystem = { FileSystem.of($0) }

    /// Creates a configuration with the default options.
    public init() {}

    /// Checks the page size: SQLite silently ignores one that it does not have.
    func check() throws(StoreError) {
      guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
        throw StoreError(.badValue, "the page size must be a power of two from 512 to 65536, not \(pageSize)")
      }
    }

    var busyMilliseconds: Int { Int(min(Int64(Int32.max), max(0, busyTimeout.milliseconds))) }
  }
}

package typealias Configuration = UserStore.Configuration

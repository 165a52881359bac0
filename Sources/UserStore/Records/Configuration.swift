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
      /// open. This is the only way to open a file that has several names (hard links); changes that a writer left in the -wal
      /// file of another name are not seen.
      case readOnly
    }

    /// How much a power cut can lose.
    public enum Durability: Sendable {
      /// Loses no write that has returned: `synchronous=FULL`, one sync of the disk for each commit.
      case full
      /// Can lose the last writes, even after listeners received them; the state stays consistent: `synchronous=NORMAL`.
      case normal
    }

    /// The access of the store to its file; by default `createIfMissing`.
    public var access: Access = .createIfMissing
    /// How much a power cut can lose; by default `full`.
    public var durability: Durability = .full
    /// How long to wait for the lock of another process before `StoreError.Code.busy` is thrown; by default 5 seconds.
    public var busyTimeout: Duration = .seconds(5)
    /// Whether listeners and feeds receive the commits of other processes; costs a sleeping thread.
    public var watchesOtherProcesses = true
    /// How much of the log to keep; by default `RetentionPolicy.standard`.
    ///
    /// Writes delete what exceeds it, a little at a time, after their commit.
    public var retention = RetentionPolicy.standard
    /// Receives the errors that listeners throw, with the listener's name, on the thread that called the listener.
    ///
    /// It also receives failures of the store's own work between changes, without a name: for example, once, that the
    /// connection that watches other processes cannot be opened, or that the connection to a server was lost, which the store
    /// then opens again.
    ///
    /// By default, it writes a line to standard error.
    public var onListenerError: @Sendable (_ listener: String?, any Error) -> Void = ListenerErrors.print

    // For tests:

    /// The page size of a new file in bytes; with 2,048, small changes cost least.
    package var pageSize = 2_048
    /// Whether the store uses the file events of the system, where it has them; otherwise, the file is polled.
    var usesFileEvents = true
    /// How many rounds one change may cause through listeners that write.
    var roundLimit = 1_000
    /// Measures the pause between two durable acknowledgments.
    var clock: any Clock<Duration> = ContinuousClock()
    /// The current time, in milliseconds since 1970, from which the ages of changes are measured.
    var wallClock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How long a checkpoint may block writers while it waits for readers to end, so that the -wal file can restart.
    var readerPatience = Duration.milliseconds(50)
    var fileSystem: @Sendable (_ folder: String) -> FileSystem = { FileSystem.of($0) }

    /// Creates a configuration with the default options.
    public init() {}

    var busyMilliseconds: Int { Int(min(Int64(Int32.max), max(0, busyTimeout.milliseconds))) }
  }
}

package typealias Configuration = UserStore.Configuration

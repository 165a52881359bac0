extension UserStore {
  /// How a store is opened.
  public struct Configuration: Sendable {
    /// What the store may do with its file.
    public enum Access: Sendable {
      /// Reads and writes; a file that is not there is created, only for its owner.
      case createIfMissing
      /// Reads and writes a store that is there.
      case readWrite
      /// Only reads. The file may be one that the process cannot write, as long as it may use its folder, or a writer
      /// has the store open. Also the only way to open a file that has several names (hard links): a state that a writer
      /// leaves in a -wal file under another name is not seen.
      case readOnly
    }

    /// What survives a power cut.
    public enum Durability: Sendable {
      /// Every write that returned: `synchronous=FULL`, a sync of the disk for each commit.
      case full
      /// Never corrupt, but the last writes may be lost, after listeners have heard of them: `synchronous=NORMAL`.
      case normal
    }

    /// What the store may do with its file; `createIfMissing` unless said otherwise.
    public var access: Access = .createIfMissing
    /// What survives a power cut; `full` unless said otherwise.
    public var durability: Durability = .full
    /// How long to wait for a lock of another process before `StoreError.Code.busy`; 5 seconds unless said otherwise.
    public var busyTimeout: Duration = .seconds(5)
    /// The page size of a new file in bytes, a power of two from 512 to 65,536.
    ///
    /// 2,048 makes small changes cheapest; 4,096 is better for values of many kilobytes. Any other number is refused with
    /// `StoreError.Code.badValue`, also where the file is there already and keeps its own.
    public var pageSize = 2_048
    /// Whether listeners and feeds hear of what other processes commit.
    ///
    /// Costs a thread, which sleeps.
    public var watchesOtherProcesses = true
    /// Whether the system's file events are used where it has them.
    ///
    /// Without, the file is polled: every millisecond after a change, up to every 250 when nothing changes.
    public var usesFileEvents = true
    /// How many rounds one change may cause through listeners that write; the next such write is refused.
    public var roundLimit = 1_000
    /// How much of the log is kept; what is beyond is forgotten, a little after each write.
    ///
    /// `RetentionPolicy.standard` unless said otherwise.
    public var retention = RetentionPolicy.standard
    /// Gets what listeners throw, with the listener's name, on the thread that called it.
    ///
    /// Writes a line to standard error unless said otherwise.
    public var onListenerError: @Sendable (_ listener: String?, any Error) -> Void = ListenerErrors.print

    /// What the rest between two durable acknowledgements is measured with; tests have one that they turn by hand.
    var clock: any Clock<Duration> = ContinuousClock()
    /// What time it is, in milliseconds since 1970: what the ages of changes are counted from.
    var wallClock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How long a checkpoint makes writers wait until readers have ended, so that the -wal file can restart.
    ///
    /// Longer in tests.
    var readerPatience = Duration.milliseconds(50)
    /// On what kind of file system a folder lies; tests say another.
    var fileSystem: @Sendable (_ folder: String) -> FileSystem = { FileSystem.of($0) }

    /// The defaults.
    public init() {}

    /// SQLite passes over a page size that it does not have, and takes one of its own.
    ///
    /// - Throws: `StoreError.Code.badValue`.
    func check() throws(StoreError) {
      guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
        throw StoreError(.badValue, "a page size is a power of two from 512 to 65536, not \(pageSize)")
      }
    }

    var busyMilliseconds: Int { Int(min(Int64(Int32.max), max(0, busyTimeout.milliseconds))) }
  }
}

package typealias Configuration = UserStore.Configuration

import CUserStoreSQLite

/// How a connection waits for locks of other connections: as with `sqlite3_busy_timeout`, and until it is interrupted.
///
/// SQLite's own busy handler does not look at `sqlite3_interrupt`: it goes on to its timeout, which may be minutes away.
///
/// Not `Sendable`: it belongs to its connection, and SQLite calls it on the thread that uses that.
@safe final class BusyWait {
  /// Whether it waits at all.
  var isWaiting = true
  /// Whether an interrupt ends it.
  var isInterruptible: Bool
  private let timeout: Int
  private let file: FileConnections?
  private let sleep: (_ milliseconds: Int) -> Void

  /// - Parameters:
  ///   - timeout: In milliseconds.
  ///   - file: What may be interrupted; nil for a connection that belongs to no store.
  ///   - isInterruptible: Whether that ends the wait.
  ///   - sleep: Lets the calling thread sleep for so many milliseconds.
  init(
    timeout: Int, of file: FileConnections?, isInterruptible: Bool,
    sleep: @escaping (_ milliseconds: Int) -> Void = { SystemThread.sleep(milliseconds: $0) }
  ) {
    self.timeout = timeout
    self.file = file
    self.isInterruptible = isInterruptible
    self.sleep = sleep
  }

  /// Registers it.
  ///
  /// The connection must keep this object until it is closed.
  func install(on connection: OpaquePointer) {
    if timeout <= 0 { return }
    _ = unsafe sqlite3_busy_handler(
      connection,
      { context, count in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().goesOn(after: Int(count)) ? 1 : 0
      }, unsafe Unmanaged.passUnretained(self).toOpaque())
  }

  /// Sleeps before SQLite asks for the lock again.
  ///
  /// - Parameter count: How many times it has slept for this lock.
  /// - Returns: false when it gives up: SQLite says BUSY then.
  func goesOn(after count: Int) -> Bool {
    // Once interrupted, the store is being ended: there is nothing to wait for.
    if isInterruptible, file?.isInterrupted == true { return false }
    guard isWaiting, let pause = Self.pause(after: count, within: timeout) else { return false }
    sleep(pause)
    return true
  }

  /// What SQLite's own handler sleeps (`sqliteDefaultBusyCallback` in main.c), in milliseconds; nil when the time is over.
  static func pause(after count: Int, within timeout: Int) -> Int? {
    let further = max(0, count - (pauses.count - 1))
    let slept = pauses.prefix(count - further).reduce(0, +) + further * longestPause
    let pause = count < pauses.count ? pauses[count] : longestPause
    return slept < timeout ? min(pause, timeout - slept) : nil
  }

  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
  private static let longestPause = 100
}

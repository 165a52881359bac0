import CUserStoreSQLite

/// The busy handler of a connection: waits for locks as `sqlite3_busy_timeout` does, but also ends when it is interrupted.
///
/// SQLite's own busy handler ignores `sqlite3_interrupt` and waits for its whole timeout, which may be minutes.
///
/// Not `Sendable`: it belongs to its connection, and SQLite calls it on the thread that uses the connection.
@safe final class BusyWait {
  /// Whether the connection waits at all.
  var isWaiting = true
  var isInterruptible: Bool
  private let timeout: Int
  private let file: FileConnections?
  private let sleep: (_ milliseconds: Int) -> Void

  /// Creates a handler with a timeout in milliseconds, which `file` can interrupt.
  ///
  /// It polls, as SQLite's own handler does: nothing reports that a lock is free. A test passes its own `sleep`.
  init(
    timeout: Int, of file: FileConnections?, isInterruptible: Bool,
    sleep: @escaping (_ milliseconds: Int) -> Void = { SystemThread.sleep(milliseconds: $0) }
  ) {
    self.timeout = timeout
    self.file = file
    self.isInterruptible = isInterruptible
    self.sleep = sleep
  }

  /// Installs the handler on a connection, which must keep this object until it is closed.
  func install(on connection: OpaquePointer) {
    if timeout <= 0 { return }
    _ = unsafe sqlite3_busy_handler(
      connection,
      { context, count in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().waits(after: Int(count)) ? 1 : 0
      }, unsafe Unmanaged.passUnretained(self).toOpaque())
  }

  /// Sleeps after `count` waits for the same lock, or returns false to give up.
  func waits(after count: Int) -> Bool {
    if isInterruptible, file?.isInterrupted == true { return false }
    guard isWaiting, let pause = Self.pause(after: count, within: timeout) else { return false }
    sleep(pause)
    return true
  }

  /// Returns the milliseconds that SQLite's handler would sleep (`sqliteDefaultBusyCallback` in main.c); nil after the timeout.
  static func pause(after count: Int, within timeout: Int) -> Int? {
    let further = max(0, count - (pauses.count - 1))
    let slept = pauses.prefix(count - further).reduce(0, +) + further * longestPause
    let pause = count < pauses.count ? pauses[count] : longestPause
    return slept < timeout ? min(pause, timeout - slept) : nil
  }

  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
  private static let longestPause = 100
}

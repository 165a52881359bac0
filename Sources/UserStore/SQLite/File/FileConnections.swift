import CUserStoreSQLite

/// The open connections of a store to its file, counted so that the last one to close leaves the database in one file.
///
/// When the last connection to a WAL database closes, in any process, SQLite copies the -wal file into the database and
/// removes it, under its exclusive lock (sqlite.org/wal.html, “Avoiding Excessively Large WAL Files”). That needs a
/// connection that may write, so even query-only connections are opened read-write if permissions allow.
///
/// SQLite tries to get the exclusive lock once. If two processes close at the same moment, each finds the other, and the -wal
/// file stays. A mark in the file that says “closed” would not be sound, and locks of our own on the database would drop
/// SQLite's. So a store that finds a -wal file after its last connection has closed opens and closes another one.
final class FileConnections: Sendable {
  /// How often to try, and the longest pause in between, in microseconds.
  ///
  /// The pauses are random, so that two processes do not meet again. If another process keeps the database open, they take
  /// 5 ms in all and change nothing.
  private static let attempts = 10
  private static let longestPause = 1_000

  /// All instances in this process, for a program that is about to exit.
  private static let all = Lock(All())

  private struct All {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// Whether new instances are interrupted from the start.
    var isInterrupted = false
  }

  private struct Entry: Sendable {
    weak let connections: FileConnections?
  }

  private let path: String
  private let identity: Files.Identity
  /// The folder of a temporary store, which is removed with its files when the store is released.
  private let temporaryFolder: String?
  private let state = Lock(State())

  private struct State {
    /// The number of open connections; a running cleanup counts as one too.
    var count = 0
    var handles: Set<UInt> = []
    var isClosing = false
    var isReleased = false
    var isCleanedUp = false
    var leavesWAL = false
    var isInterrupted = false
  }

  private enum Cleanup {
    case none, removeWAL, removeFolder
  }

  init(path: String, identity: Files.Identity, temporaryFolder: String?) {
    self.path = path
    self.identity = identity
    self.temporaryFolder = temporaryFolder
    let entry = Entry(connections: self)
    let isInterrupted = Self.all.withLock { all in
      all.entries[ObjectIdentifier(self)] = entry
      return all.isInterrupted
    }
    if isInterrupted { state.withLock { $0.isInterrupted = true } }
  }

  deinit {
    _ = Self.all.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(self)) }
    // Without `close`, the file was only checked, or could not be opened as a store.
    if !state.withLock({ $0.isClosing }) { removeWAL() }
  }

  /// The files that this process has open.
  static var open: [(path: String, identity: Files.Identity)] {
    let present = all.withLock { $0.entries.values.compactMap(\.connections) }
    return present.filter { $0.state.withLock { $0.count > 0 } }.map { ($0.path, $0.identity) }
  }

  // MARK: Reports of connections

  func opened(_ handle: OpaquePointer, isInterruptible: Bool) {
    let key = UInt(bitPattern: handle)
    state.withLock { state in
      state.count += 1
      state.isCleanedUp = false
      if isInterruptible { state.handles.insert(key) }
    }
  }

  /// Makes a closing connection uninterruptible; returns whether it must not copy the -wal file, and may have been interrupted.
  func willClose(_ handle: OpaquePointer) -> (leavesWAL: Bool, isInterrupted: Bool) {
    let key = UInt(bitPattern: handle)
    return state.withLock { state in
      state.handles.remove(key)
      return (state.leavesWAL, state.isInterrupted)
    }
  }

  func didClose() { change { $0.count -= 1 } }

  // MARK: Closing the store

  /// Announces that the store opens no more connections: when the last one has closed, no -wal file remains.
  func close() { change { $0.isClosing = true } }

  /// Announces that the store was closed and released: a temporary one is deleted.
  func release() {
    guard temporaryFolder != nil else { return }
    change { ($0.isClosing, $0.isReleased, $0.isCleanedUp) = (true, true, false) }
  }

  /// Leaves the -wal file uncopied when connections close, because it could not be synced.
  func leaveWAL() { state.withLock { $0.leavesWAL = true } }

  /// Whether `interrupt` was called: nothing waits for a lock then.
  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Ends running statements with the code `interrupted`, or `busy` for those that wait for a lock; returns whether a connection
  /// is still open.
  func interrupt() -> Bool {
    state.withLock { state in
      state.isInterrupted = true
      // Under the lock, because a handle must not be closed meanwhile (sqlite.org/c3ref/interrupt.html).
      for handle in state.handles { unsafe sqlite3_interrupt(OpaquePointer(bitPattern: handle)) }
      return state.count > 0
    }
  }

  /// Interrupts every file that is open in this process, even if it is only checked or restored from, and every file that is
  /// opened later, because the program is about to exit; returns whether a connection is still open.
  static func interruptAll() -> Bool {
    // Released outside of the lock, which `deinit` needs.
    let present = all.withLock { all in
      all.isInterrupted = true
      return all.entries.values.compactMap(\.connections)
    }
    return present.reduce(false) { $1.interrupt() || $0 }
  }

  // MARK: Cleanup

  /// Changes the state, and runs the cleanup that is due then.
  private func change(_ body: (inout State) -> Void) {
    // Decided under the same lock, before another thread can see the file as closed.
    let cleanup = state.withLock { state -> Cleanup in
      body(&state)
      guard state.count == 0, state.isClosing, !state.isCleanedUp else { return .none }
      state.isCleanedUp = true
      if !state.isReleased, state.leavesWAL { return .none }
      state.count += 1
      return state.isReleased ? .removeFolder : .removeWAL
    }
    switch cleanup {
    case .none: return
    case .removeWAL: removeWAL()
    case .removeFolder:
      guard let temporaryFolder else { return }
      for addition in DatabasePath.additions + [""] { Files.remove(path + addition) }
      Files.remove(temporaryFolder)
    }
    // The store may have been released meanwhile.
    didClose()
  }

  private func removeWAL() {
    for attempt in 0..<Self.attempts {
      guard (try? Files.kind(of: path + "-wal")) == .regular else { return }
      // No event reports that another process is done.
      if attempt > 0 { SystemThread.sleep(microseconds: .random(in: 0...Self.longestPause)) }
      do { if try !openAndClose() { return } } catch {
        // BUSY: another connection is closing, and holds the pending lock until it is closed.
        if !error.isWorthRetrying { return }
      }
    }
  }

  /// Returns false if another attempt is useless: there is another file at the path, or this one is read-only.
  private func openAndClose() throws(StoreError) -> Bool {
    guard (try? Files.identity(of: path)) == identity else { return false }
    let connection = try Connection(path: path, access: .queryOnly, busyTimeout: 0)
    // A connection that has read nothing does not find the -wal file.
    try connection.execute("PRAGMA schema_version", to: "open \(path)")
    return !connection.isReadOnly
  }
}

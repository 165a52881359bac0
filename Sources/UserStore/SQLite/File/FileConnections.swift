import CUserStoreSQLite

/// The open connections of a store to its file: counted, because the last one to close must leave the database whole.
///
/// When the last connection to a WAL database closes, in any process, SQLite copies the -wal file into the database and
/// removes it, under its exclusive lock (sqlite.org/wal.html, “Avoiding Excessively Large WAL Files”). That needs a
/// connection that may write, so ours are opened read-write where the rights allow, those that only read too.
///
/// SQLite asks for the exclusive lock once. Of two processes that close at the same moment each finds the other, and the
/// -wal file stays. A mark in the file that says “closed” could not be sound, and locks of our own on the database would
/// drop SQLite's. So a store that finds a -wal file after its last connection has closed opens and closes once more.
final class FileConnections: Sendable {
  /// How often, and how long to wait in between at most, in microseconds.
  ///
  /// The pauses are random, so that two processes do not meet again. When somebody else still has the database open, they
  /// are in vain, and cost 5 ms in all.
  private static let attempts = 10
  private static let longestPause = 1_000

  /// All that there are in this process, for a program that is about to end.
  private static let all = Lock(All())

  private struct All {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// Whether those that come are interrupted from their beginning.
    var isInterrupted = false
  }

  private struct Entry: Sendable {
    weak let connections: FileConnections?
  }

  private let path: String
  private let identity: Files.Identity
  /// Removed with its files when the store was released, if it is a temporary one.
  private let temporaryFolder: String?
  private let state = Lock(State())

  private struct State {
    /// Of open connections; what is done at the end counts as one too.
    var count = 0
    var handles: Set<UInt> = []
    var isClosing = false
    var isReleased = false
    /// Whether the end was seen to since the last connection was opened.
    var isEnded = false
    var leavesWAL = false
    var isInterrupted = false
  }

  private enum Duty {
    case nothing, removeWAL, removeFolder
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
    // A file that was only checked, or could not be opened as a store: nobody has called `close`.
    if !state.withLock({ $0.isClosing }) { removeWAL() }
  }

  // MARK: What connections report

  /// - Parameters:
  ///   - handle: The connection's.
  ///   - isInterruptible: Whether its statements may be interrupted.
  func opened(_ handle: OpaquePointer, isInterruptible: Bool) {
    let key = UInt(bitPattern: handle)
    state.withLock { state in
      state.count += 1
      state.isEnded = false
      if isInterruptible { state.handles.insert(key) }
    }
  }

  /// A connection is about to close.
  ///
  /// - Returns: whether it leaves the -wal file as it is, and whether a statement on it may have been interrupted.
  func willClose(_ handle: OpaquePointer) -> (leavesWAL: Bool, isInterrupted: Bool) {
    let key = UInt(bitPattern: handle)
    return state.withLock { state in
      state.handles.remove(key)
      return (state.leavesWAL, state.isInterrupted)
    }
  }

  func didClose() {
    perform(
      state.withLock { state in
        state.count -= 1
        return Self.duty(&state)
      })
  }

  // MARK: The store's end

  /// The store needs no more connections: the last one to close sees to it that no -wal file stays behind.
  func close() {
    perform(
      state.withLock { state in
        state.isClosing = true
        return Self.duty(&state)
      })
  }

  /// The store was closed and released: a temporary one is removed.
  func release() {
    guard temporaryFolder != nil else { return }
    perform(
      state.withLock { state in
        (state.isClosing, state.isReleased) = (true, true)
        state.isEnded = false
        return Self.duty(&state)
      })
  }

  /// From now on nobody copies the -wal file on closing: it could not be synced.
  func leaveWAL() {
    state.withLock { $0.leavesWAL = true }
  }

  /// Whether it was interrupted: from then on nobody waits for a lock.
  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Ends the statements that are running, with the code `interrupted`, or `busy` where they wait for a lock.
  ///
  /// - Returns: whether a connection is still open.
  func interrupt() -> Bool {
    state.withLock { state in
      state.isInterrupted = true
      // Under the lock, because a handle must not be closed meanwhile (sqlite.org/c3ref/interrupt.html).
      for handle in state.handles { unsafe sqlite3_interrupt(OpaquePointer(bitPattern: handle)) }
      return state.count > 0
    }
  }

  /// Does so with every file that is open in this process, one that is only checked or restored from too.
  ///
  /// In files that are opened later nobody waits for a lock: the program is about to end.
  ///
  /// - Returns: whether a connection is still open.
  static func interruptAll() -> Bool {
    // Released outside the lock, which their end needs.
    let present = all.withLock { all in
      all.isInterrupted = true
      return all.entries.values.compactMap(\.connections)
    }
    return present.reduce(false) { $1.interrupt() || $0 }
  }

  /// What the calling thread is to do, before anybody else may take the file for closed.
  private static func duty(_ state: inout State) -> Duty {
    guard state.count == 0, state.isClosing, !state.isEnded else { return .nothing }
    state.isEnded = true
    if !state.isReleased, state.leavesWAL { return .nothing }
    state.count += 1
    return state.isReleased ? .removeFolder : .removeWAL
  }

  private func perform(_ duty: Duty) {
    switch duty {
    case .nothing: return
    case .removeWAL: removeWAL()
    case .removeFolder:
      guard let temporaryFolder else { return }
      for end in ["-wal", "-shm", "-journal", ""] { Files.remove(path + end) }
      Files.remove(temporaryFolder)
    }
    // The store may have been released meanwhile.
    didClose()
  }

  private func removeWAL() {
    for attempt in 0..<Self.attempts {
      guard (try? Files.kind(of: path + "-wal")) == .regular else { return }
      if attempt > 0 { SystemThread.sleep(microseconds: .random(in: 0...Self.longestPause)) }
      do { if try !openAndClose() { return } } catch {
        // Another connection is closing: it holds the pending lock until its close ends.
        if error.code != .busy { return }
      }
    }
  }

  /// - Returns: false when it was of no use: another file lies there, or this one may only be read.
  private func openAndClose() throws(StoreError) -> Bool {
    guard (try? Files.identity(of: path)) == identity else { return false }
    let connection = try Connection(path: path, access: .queryOnly, busyTimeout: 0)
    // A connection that has read nothing does not know of the -wal file.
    try connection.execute("PRAGMA schema_version", to: "open \(path)")
    return !connection.isReadOnly
  }
}

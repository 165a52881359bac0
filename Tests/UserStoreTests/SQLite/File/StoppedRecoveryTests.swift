import Foundation
import TestSupport
import Testing

@testable import UserStore

/// A process that is stopped while it recovers the -shm file: SQLite tries for ten seconds to get its lock, whatever the busy
/// timeout is.
///
/// The library must not repeat such an attempt: the cleanup of the -wal file made ten.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct StoppedRecoveryTests {
  @Test func `an attempt that took SQLite ten seconds is not worth a retry, and one that was busy at once is`()
    async throws
  {
    let folder = try Folder()
    try await folder.open().close()
    let program = """
      import fcntl, os, signal, sqlite3, sys
      path = sys.argv[1]
      if os.fork() == 0:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("INSERT INTO users (name) VALUES ('NIX')")
        os.kill(os.getpid(), signal.SIGKILL)  # leaves the -wal and the -shm file
      os.wait()
      db = sqlite3.connect(path)
      db.execute("SELECT count(*) FROM users").fetchall()  # has the file open, so that no other connection is the last one
      shm = open(path + "-shm", "r+b", 0)
      fcntl.lockf(shm, fcntl.LOCK_EX, 1, 120)  # the lock of a writer, which recovery takes first
      shm.write(bytes(136))
      print("stopped", flush=True)
      sys.stdin.read()
      """
    let stopped = try Child(
      [Child.python, "-c", program, folder.database], environment: ProcessInfo.processInfo.environment)
    #expect(stopped.output.next() == "stopped")
    // On a thread of its own, because it blocks: the other tests need those of the concurrency pool.
    let stuck = await errorOnThread { try folder.open { $0.busyTimeout = .milliseconds(50) } }
    #expect(stuck?.code == .busy && stuck?.isWorthRetrying == false)
    stopped.endInput()
    #expect(stopped.wait() == 0)
    let store = try folder.open { $0.busyTimeout = .milliseconds(1) }
    #expect(try await store.read { try $0.count() } == 1)
    let writer = try folder.plain()
    try writer.execute("BEGIN IMMEDIATE", to: "lock")
    let busy = await errorOnThread { try store.write { try $0.add(name: "b") } }
    #expect(busy?.code == .busy && busy?.isWorthRetrying == true)
  }

  private func errorOnThread<Result>(_ body: @escaping @Sendable () throws -> Result) async -> StoreError? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        do {
          _ = try body()
          continuation.resume(returning: nil)
        } catch { continuation.resume(returning: error as? StoreError) }
      }
    }
  }
}

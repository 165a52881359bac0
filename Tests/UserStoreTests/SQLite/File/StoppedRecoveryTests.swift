import Foundation
import TestSupport
import Testing

@testable import UserStore

/// A process that is stopped while it recovers the -shm file: SQLite tries for ten seconds to get its lock, whatever the busy
/// timeout is.
///
/// Each further attempt would take ten seconds more; opening made eleven.
@Suite(.timeLimit(.minutes(1))) struct StoppedRecoveryTests {
  @Test func `opening a store makes few attempts of ten seconds, and is busy`() throws {
    let folder = try Folder()
    try folder.open().close()
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
      ["python3", "-c", program, folder.database], environment: ProcessInfo.processInfo.environment)
    #expect(stopped.output.next() == "stopped")
    #expect(code { try folder.open { $0.busyTimeout = .milliseconds(50) } } == .busy)
    stopped.endInput()
    #expect(stopped.wait() == 0)
    #expect(try folder.open().read { try $0.userCount } == 1)
  }
}

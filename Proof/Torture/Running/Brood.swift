import Foundation
import Synchronization
import TortureSupport

/// The processes that were started to be killed, so that all of them can be killed at one moment.
final class Brood: Sendable {
  private let group: pid_t
  private let state = Mutex((running: Set<pid_t>(), isOver: false))

  /// Nobody is started any more.
  struct Over: Error {}

  init(group: pid_t) {
    self.group = group
  }

  func start(_ command: [String], environment: [String: String]) throws -> Child {
    try state.withLock { state in
      if state.isOver { throw Over() }
      let child = try Child(command, environment: environment, group: group)
      state.running.insert(child.id)
      return child
    }
  }

  /// Waits for the end of one: the exit code, or 128 and the signal.
  ///
  /// It leaves the list before its number may be given to somebody else.
  func wait(for child: Child) -> Int32 {
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(child.id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    state.withLock { _ = $0.running.remove(child.id) }
    return child.wait()
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Kills all that run, and lets nobody start.
  ///
  /// - Returns: how many.
  func killAll() -> Int {
    state.withLock { state in
      state.isOver = true
      for id in state.running { kill(id, SIGKILL) }
      return state.running.count
    }
  }

  /// Others may be started again.
  func reopen() {
    state.withLock { $0.isOver = false }
  }
}

import Foundation
import Synchronization
import TortureSupport

/// The processes to kill, so that all of them can be killed at the same moment.
final class ProcessGroup: Sendable {
  private let group: pid_t
  private let state = Mutex((running: Set<pid_t>(), isOver: false))

  /// No process can be started, because all were killed.
  struct Closed: Error {}

  init(group: pid_t) {
    self.group = group
  }

  func start(_ command: [String], environment: [String: String]) throws -> Child {
    try state.withLock { state in
      if state.isOver { throw Closed() }
      let child = try Child(command, environment: environment, group: group)
      state.running.insert(child.id)
      return child
    }
  }

  /// Waits for a process to end, and returns its exit code, or 128 plus its signal.
  ///
  /// The process is removed before the system can reuse its id.
  func wait(for child: Child) -> Int32 {
    var information = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(child.id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    state.withLock { _ = $0.running.remove(child.id) }
    return child.wait()
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Kills all running processes, allows no new ones, and returns how many were killed.
  func killAll() -> Int {
    state.withLock { state in
      state.isOver = true
      for id in state.running { kill(id, SIGKILL) }
      return state.running.count
    }
  }

  /// Allows processes to be started again.
  func reopen() {
    state.withLock { $0.isOver = false }
  }
}

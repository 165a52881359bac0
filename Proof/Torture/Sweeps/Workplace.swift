import Foundation
import Synchronization

/// A folder in memory for concurrent runs.
///
/// It is removed when this process ends, also if it is killed.
final class Workplace: Sendable {
  let folder: String
  private let guardian: Mutex<Process?>
  private static let workers = 2

  init(_ name: String) throws {
    folder = "/dev/shm/torture-\(name)-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guardian = Mutex(try Self.guardian(of: folder))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts a process that waits at a pipe, which the system closes even if this process is killed.
  private static func guardian(of folder: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", #"trap "" INT TERM HUP; read -r line; rm -rf "$1""#, "guardian", folder]
    process.standardInput = Pipe()
    try process.run()
    return process
  }

  /// Runs the tasks in order, two at a time, each with a folder of its own, and starts none after the deadline.
  func perform<Task: Sendable, Result: Sendable>(
    _ tasks: [Task], until deadline: Date = .distantFuture, _ body: @Sendable (String, Task) -> Result
  ) -> [Result] {
    let state = Mutex((next: 0, results: [Result]()))
    DispatchQueue.concurrentPerform(iterations: Self.workers) { worker in
      while Date() < deadline {
        let index = state.withLock { state in
          defer { state.next += 1 }
          return state.next
        }
        guard index < tasks.count else { return }
        let result = body("\(folder)/\(worker)", tasks[index])
        state.withLock { $0.results.append(result) }
      }
    }
    return state.withLock { $0.results }
  }
}

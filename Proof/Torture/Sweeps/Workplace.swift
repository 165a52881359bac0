import Foundation
import Synchronization

/// A folder in memory where several runs go on at a time; it goes with this process, however that ends.
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

  /// Waits at the end of a pipe that the system closes for a process that can close nothing any more.
  private static func guardian(of folder: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", #"trap "" INT TERM HUP; read -r line; rm -rf "$1""#, "guardian", folder]
    process.standardInput = Pipe()
    try process.run()
    return process
  }

  /// Does all of them, two at a time, until the time is over.
  ///
  /// - Parameters:
  ///   - tasks: What is to be done, in this order.
  ///   - deadline: When no more of it is begun.
  ///   - body: Gets a folder that nobody else uses meanwhile.
  /// - Returns: what it gave for each, in the order in which they were done.
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

import Foundation

/// A client of the store, which works in a thread of its own in each round until the round is over.
///
/// Only that thread uses a role, and after it ended, the thread that joined it. That is why its class may be
/// `@unchecked Sendable`.
protocol Role: AnyObject, Sendable {
  /// Works until `stage.isOver`, or throws `ProcessGroup.Closed`.
  func live(on stage: Stage) throws
}

/// Runs blocking work in threads.
enum Threads {
  /// Runs and joins a thread for each body, and returns the errors that they threw.
  static func run(_ bodies: [@Sendable () throws -> Void], while waiting: () -> Void = {}) -> [any Error] {
    let failures = Failures()
    let group = DispatchGroup()
    for body in bodies {
      group.enter()
      let thread = Thread {
        do { try body() } catch { failures.add(error) }
        group.leave()
      }
      thread.start()
    }
    waiting()
    group.wait()
    return failures.all
  }

  private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []

    var all: [any Error] { lock.withLock { errors } }

    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
  }
}

/// The failures that a role saw and that no promise covers: a process failed, or ended without being killed.
struct Troubles {
  private(set) var all: [String] = []

  mutating func add(_ trouble: String) { all.append(trouble) }

  /// Adds a failure unless the process was killed.
  mutating func expectKilled(_ status: Int32, _ who: String, _ errors: @autoclosure () -> String) {
    if status != 128 + SIGKILL { add("\(who) ended with \(status) before it was killed: \(errors())") }
  }
}

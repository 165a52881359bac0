import Foundation

/// Somebody who works on the store: in a thread of its own in each round, until the round is over.
///
/// Only that thread touches a role, and whoever joined it: that is why its class may be `@unchecked Sendable`.
protocol Role: AnyObject, Sendable {
  /// Works; ends when `stage.isOver`, or with `Brood.Over`.
  func live(on stage: Stage) throws
}

/// Threads that block, all joined before this returns.
enum Threads {
  /// - Returns: what they threw.
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

/// What a role found that must not be, whatever the promises say: nobody ends by itself, nobody fails.
struct Troubles {
  private(set) var all: [String] = []

  mutating func add(_ trouble: String) { all.append(trouble) }

  /// A process that was killed may have ended in no other way.
  mutating func expectKilled(_ status: Int32, _ who: String, _ errors: @autoclosure () -> String) {
    if status != 128 + SIGKILL { add("\(who) ended by itself with \(status): \(errors())") }
  }
}

import Dispatch
import Foundation

/// Collects the ages of stamps when they arrive, from any thread.
final class Arrivals: @unchecked Sendable {
  private let lock = NSLock()
  private let arrived = DispatchSemaphore(value: 0)
  private var ages: [Duration] = []

  /// Adds the age of a name that is a stamp.
  func add(_ name: String?) {
    guard let age = name.flatMap(Stamp.age) else { return }
    lock.withLock { ages.append(age) }
    arrived.signal()
  }

  /// Waits for one more arrival.
  func wait() throws {
    if arrived.wait(timeout: .now() + 10) == .timedOut { throw WorkNotDone(description: "a write was not delivered") }
  }

  /// Removes and returns all ages.
  func take() -> [Duration] {
    lock.withLock {
      defer { ages = [] }
      return ages
    }
  }
}

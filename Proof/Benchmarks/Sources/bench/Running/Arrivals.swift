import Dispatch
import Foundation

/// Collects how old stamps are when they arrive, on any thread.
final class Arrivals: @unchecked Sendable {
  private let lock = NSLock()
  private let arrived = DispatchSemaphore(value: 0)
  private var ages: [Duration] = []

  /// A name was heard.
  func hear(_ name: String?) {
    guard let age = name.flatMap(Stamp.age) else { return }
    lock.withLock { ages.append(age) }
    arrived.signal()
  }

  /// Waits for one more arrival.
  func wait() throws {
    if arrived.wait(timeout: .now() + 10) == .timedOut { throw WorkNotDone(description: "a write was not heard of") }
  }

  /// All since the last time.
  func take() -> [Duration] {
    lock.withLock {
      defer { ages = [] }
      return ages
    }
  }
}

import Foundation
import Testing

@testable import UserStore

/// A gate for threads that wait for each other.
///
/// A wait ends after three minutes with an issue: a guard against hanging, not a test.
final class Gate: Sendable {
  private let condition = NSCondition()
  private let isOpen = Lock(false)

  func open() {
    condition.lock()
    isOpen.withLock { $0 = true }
    condition.broadcast()
    condition.unlock()
  }

  func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    let deadline = Date(timeIntervalSinceNow: 180)
    condition.lock()
    defer { condition.unlock() }
    while !isOpen.withLock({ $0 }) {
      guard condition.wait(until: deadline) else {
        Issue.record("nobody opened the gate", sourceLocation: sourceLocation)
        return
      }
    }
  }
}

import Dispatch
import Foundation

/// Runs asynchronous work, and waits for it.
enum Waiting {
  static func run(_ body: @escaping @Sendable () async throws -> Void) throws {
    let ended = DispatchSemaphore(value: 0)
    let failures = Failures()
    Task.detached {
      do { try await body() } catch { failures.add(error) }
      ended.signal()
    }
    ended.wait()
    try failures.throwFirst()
  }
}

/// Collects errors from other threads.
final class Failures: @unchecked Sendable {
  private let lock = NSLock()
  private var errors: [any Error] = []

  func add(_ error: any Error) { lock.withLock { errors.append(error) } }

  func throwFirst() throws {
    if let error = lock.withLock({ errors.first }) { throw error }
  }
}

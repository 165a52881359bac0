import TestSupport
import Testing

/// Waits for a turn (see `Turns.ofSuites`), and runs the suite on threads that it may block (see `SuiteThreads`).
///
/// The time limits of its tests begin after the wait.
struct Bounded: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    await Turns.ofSuites.take()
    let result: Result<Void, any Error>
    do {
      result = .success(try await withTaskExecutorPreference(SuiteThreads.shared) { try await function() })
    } catch {
      result = .failure(error)
    }
    await Turns.ofSuites.giveBack()
    try result.get()
  }
}

extension Trait where Self == Bounded {
  static var bounded: Self { Self() }
}

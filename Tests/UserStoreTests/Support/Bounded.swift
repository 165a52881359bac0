import TestSupport
import Testing
import UserStore

/// Waits for a turn (see `Turns.ofSuites`), and runs the suite on threads that it may block (see `SuiteThreads`).
///
/// The time limits of the tests begin after the wait. Tests that hang end the process (see `TestProgress`).
struct Bounded: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    test.isSuite || testCase != nil ? self : nil
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if testCase != nil {
      let end = TestProgress.began(test.displayName ?? test.name)
      defer { end() }
      return try await function()
    }
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

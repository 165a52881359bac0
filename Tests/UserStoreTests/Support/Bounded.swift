import TestSupport
import Testing
import UserStore

/// Waits for a turn (see `Turns.ofSuites`), and runs the suite on `threads`, if it has some.
///
/// The time limits of the tests begin after the wait. Tests that hang end the process (see `TestProgress`).
struct Bounded: SuiteTrait, TestTrait, TestScoping {
  let threads: SuiteThreads?

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
      result = .success(try await withTaskExecutorPreference(threads) { try await function() })
    } catch {
      result = .failure(error)
    }
    await Turns.ofSuites.giveBack()
    try result.get()
  }
}

extension Trait where Self == Bounded {
  /// For suites with tests that block threads (see `SuiteThreads`).
  static var bounded: Self { Self(threads: .shared) }

  /// For suites on the main actor.
  ///
  /// With threads of their own, each `await` would leave the main actor, and then wait for one of these threads, which other tests
  /// block: a thousand turns took 36 seconds in place of a hundredth of one, and three minutes on a slower machine.
  static var boundedOnMainActor: Self { Self(threads: nil) }
}

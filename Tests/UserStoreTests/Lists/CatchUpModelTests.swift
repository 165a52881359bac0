import TestSupport
import Testing

@testable import UserStore

/// Lists, counts, and attributes read a state and then follow the log, wherever a set begins and ends.
@Suite(.bounded, .serialized, .timeLimit(.minutes(10))) struct CatchUpModelTests {
  @Test(arguments: 0..<3 * UInt64(Repetitions.count))
  func `each change is followed once, also in a set that begins before the state was read and ends after it`(
    _ index: UInt64
  ) throws {
    let seed = Seed.base &+ index
    let run = try CatchUpRun(seed: seed)
    for _ in 0..<200 where run.failures.isEmpty { try run.step() }
    try run.finish()
    for failure in run.failures.prefix(3) { Issue.record("USERSTORE_SEED=\(seed): \(failure)") }
    run.close()
  }
}

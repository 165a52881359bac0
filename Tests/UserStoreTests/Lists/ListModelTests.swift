import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Random writes of the library and of other programs, with random lists, compared with a plain search in each round.
@Suite(.bounded, .serialized, .timeLimit(.minutes(60))) struct ListModelTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `in each round, a list is what its query gives, and its steps lead there`(_ index: UInt64) throws {
    let seed = Seed.base &+ index
    var run = try ListRun(seed: seed)
    do {
      while run.model.rounds < 10 * Repetitions.count, run.model.failures.isEmpty { try run.step() }
    } catch { Issue.record("USERSTORE_SEED=\(seed): \(error)") }
    for failure in run.model.failures { Issue.record("USERSTORE_SEED=\(seed): \(failure)") }
  }
}

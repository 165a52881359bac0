import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Random writes of the library and of other programs, with random lists, compared with a plain search in each round.
@Suite(.bounded, .timeLimit(.minutes(60))) struct ListModelTests {
  /// The rounds of each seed: 150, or `USERSTORE_ROUNDS`.
  private static let rounds = ProcessInfo.processInfo.environment["USERSTORE_ROUNDS"].flatMap { Int($0) } ?? 150
  /// The number of seeds: 4, or `USERSTORE_SEEDS`.
  private static let seeds = ProcessInfo.processInfo.environment["USERSTORE_SEEDS"].flatMap { UInt64($0) } ?? 4

  @Test(arguments: 0..<seeds)
  func `in each round, a list is what its query gives, and its steps lead there`(_ index: UInt64) throws {
    let seed = Seed.base &+ index
    var run = try ListRun(seed: seed)
    do {
      while run.model.rounds < Self.rounds, run.model.failures.isEmpty { try run.step() }
    } catch { Issue.record("USERSTORE_SEED=\(seed): \(error)") }
    for failure in run.model.failures { Issue.record("USERSTORE_SEED=\(seed): \(failure)") }
  }
}

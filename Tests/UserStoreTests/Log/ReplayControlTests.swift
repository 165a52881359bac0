import CUserStoreSQLite
import TestSupport
import Testing

@testable import UserStore

/// Proves that the replay test can fail: it fails without any one of the triggers' rules.
@Suite(.bounded, .serialized) struct ReplayControlTests {
  /// Most mutations are noticed in the first runs, the hardest after two hundred runs.
  static let seedCount: UInt64 = 5_000

  static let mutations =
    SchemaMutation.ofUsers + SchemaMutation.ofDisplacedUsers + SchemaMutation.ofRemovals + SchemaMutation.ofAttributes
    + SchemaMutation.ofDisplacedAttributes
    + (sqlite3_libversion_number() < 3_045_003 ? SchemaMutation.ofUpserts : [])

  /// All of them with `USERSTORE_RUNS=50`; otherwise a quarter, which the seed chooses.
  static let chosen =
    Repetitions.count >= 50
    ? mutations : mutations.enumerated().filter { UInt64($0.offset) % 4 == Seed.base % 4 }.map(\.element)

  @Test(arguments: chosen)
  func `the replay fails when`(mutation: SchemaMutation) throws {
    let mutant = try mutation.applied(to: Migrations.all)
    for index in 0..<Self.seedCount {
      let settings = WriterSettings.all[Int(index % 4)]
      let run = ReplayRun(schema: mutant, settings: settings, seed: Seed.base &+ index)
      if try run.failure() != nil { return }
    }
    Issue.record("none of \(Self.seedCount) runs noticed the mutation")
  }
}

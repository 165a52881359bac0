import TestSupport
import Testing

@testable import UserStore

/// Random writes of the library and of foreign writers, with random policies, compared with a model that has every row.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CompactionModelTests {
  @Test(arguments: 0..<Repetitions.count)
  func `every cursor gives the changes after it, or throws compacted`(_ index: Int) throws {
    let seed = Seed.base &+ UInt64(index)
    var run = try CompactionRun(seed: seed)
    do { for _ in 0..<40 { try run.step() } } catch { Issue.record("USERSTORE_SEED=\(seed): \(error)") }
    #expect(try run.folder.shell("PRAGMA integrity_check") == "ok\n", "USERSTORE_SEED=\(seed)")
  }
}

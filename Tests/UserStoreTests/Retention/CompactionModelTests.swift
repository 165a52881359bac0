import TestSupport
import Testing

@testable import UserStore

/// Random writes, ours and foreign ones, and random policies, against a model that knows every row.
@Suite(.timeLimit(.minutes(5))) struct CompactionModelTests {
  @Test(arguments: 0..<8)
  func `from every cursor comes what came after it, or the log says that it was forgotten`(_ index: Int) throws {
    let seed = Seed.base &+ UInt64(index)
    var run = try CompactionRun(seed: seed)
    do { for _ in 0..<40 { try run.step() } } catch { Issue.record("USERSTORE_SEED=\(seed): \(error)") }
    #expect(try run.folder.shell("PRAGMA integrity_check") == "ok\n", "USERSTORE_SEED=\(seed)")
  }
}

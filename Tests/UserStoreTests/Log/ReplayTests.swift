import TestSupport
import Testing

@testable import UserStore

/// After every statement of any writer, the log describes the tables exactly.
///
/// The first migration, which is never edited, says that this test is in this folder.
@Suite(.bounded, .serialized) struct ReplayTests {
  @Test(arguments: WriterSettings.all)
  func `replaying the log gives the tables`(settings: WriterSettings) throws {
    for index in 0..<3 * UInt64(Repetitions.count) {
      let run = ReplayRun(schema: Migrations.all, settings: settings, seed: Seed.base &+ index)
      if let failure = try run.failure() {
        Issue.record("\(failure)")
        return
      }
    }
  }
}

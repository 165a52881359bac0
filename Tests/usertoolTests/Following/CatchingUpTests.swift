import Foundation
import TestSupport
import Testing
import UserStore

@Suite(.bounded, .serialized) struct `Catching up` {
  /// Writes changes after a cursor, in many small sets and one huge set, and returns the cursor and their number.
  private func fall(behind users: Int, sets: Int, _ workspace: Workspace) throws -> (cursor: String, changes: Int) {
    var configuration = Configuration()
    configuration.durability = .normal
    let store = try UserStore(path: workspace.database, configuration: configuration)
    defer { store.close() }
    let id = try store.write { try $0.add(name: "0") }
    let cursor = try store.read { try $0.cursor }.description
    for number in 1...sets / 2 { try store.write { try $0.rename(id, to: "before \(number)") } }
    try workspace.sqlite(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(users))
      INSERT INTO users (name) SELECT 'one of very many users ' || i FROM n
      """)
    for number in 1...sets / 2 { try store.write { try $0.rename(id, to: "after \(number)") } }
    // An insert is two changes: the name and the hair color.
    return (cursor, 2 * users + sets)
  }

  @Test(.enabled(if: !Sanitizer.isAny))
  func `catching up with more than a hundred thousand changes takes no more memory than with a few`() throws {
    var peaks: [Int] = []
    for (users, sets) in [(2_000, 1_000), (60_000, 6_000)] {
      let workspace = try Workspace()
      let (cursor, changes) = try fall(behind: users, sets: sets, workspace)
      for arguments in [["watch", "--per-change", "--count", "\(changes)", "--timeout", "300s"], ["log"]] {
        let (outcome, peak) = try workspace.measured(arguments + ["--after", cursor])
        #expect(outcome.status == 0, "\(outcome)")
        peaks.append(peak)
      }
    }
    // A hundred bytes for each additional change would be 12 MiB.
    for (small, large) in zip(peaks[..<2], peaks[2...]) {
      #expect(large - small < 8 << 20, "KiB: \(peaks.map { $0 >> 10 })")
    }
  }
}

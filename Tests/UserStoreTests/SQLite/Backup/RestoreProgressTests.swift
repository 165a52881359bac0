import Foundation
import Synchronization
import TestSupport
import Testing

@testable import UserStore

/// The progress that `restore` and `check` report, which commands show for large stores.
@Suite(.bounded, .serialized) struct RestoreProgressTests {
  @Test func `a restore reports every thousand rows and the last row, and a check reports its steps`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("progress-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try UserStore.temporary()
    defer { store.close() }
    try store.write { users in for number in 0..<1_000 { _ = try users.add(name: "user \(number)") } }
    try store.backup(to: folder + "/backup.db")
    var parts: [Double] = []
    try store.restore(from: folder + "/backup.db") { parts.append($0) }
    // 1,000 users, two changes for each, and the end of the write are 3,001 rows.
    let expected: [Double] = [1_000, 2_000, 3_000, 3_001].map { $0 / 3_001 }
    #expect(parts == expected)
    var checked: [Double] = []
    let findings = try UserStore.check(path: folder + "/backup.db", busyTimeout: .seconds(1)) { checked.append($0) }
    #expect(!findings.contains { $0.severity == .problem })
    #expect(checked.count == 3)
    #expect(checked == checked.sorted())
    #expect(checked.last == 1)
  }
}

import Foundation
import TestSupport
import Testing

@testable import UserStore

@Suite struct CheckpointTests {
  @Test func `the log file is copied and begun anew, however much is written`() throws {
    let folder = try Folder()
    // A watcher that reads just then would hold a page back until the next one.
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    // Each write appends two pages or more: without checkpoints five times the limit.
    for number in 0..<(Checkpoints.pageLimit * 5 / 2) { try store.write { try $0.rename(id, to: "name \(number)") } }
    let frames = try Files.size(of: folder.database + "-wal") / (Configuration().pageSize + 24)
    #expect(frames >= Checkpoints.pageLimit)
    #expect(frames < Checkpoints.pageLimit * 2)
  }

  @Test func `what a reader holds back is copied when the reader is gone`() throws {
    let folder = try Folder()
    // A watcher that reads just then would hold a page back until the next one.
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    let reader = try PlainConnection(folder.database)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    for number in 0..<1_500 { try store.write { try $0.rename(id, to: "held \(number)") } }
    let held = try Files.size(of: folder.database + "-wal")
    try reader.script("COMMIT")
    for number in 0..<3_000 { try store.write { try $0.rename(id, to: "free \(number)") } }
    // It grew for one more limit at the most, and was then used again from its beginning.
    #expect(
      try Files.size(of: folder.database + "-wal") < held + 2 * Checkpoints.pageLimit * (Configuration().pageSize + 24))
    #expect(try store.read { try $0.user(id)?.name } == "free 2999")
  }
}

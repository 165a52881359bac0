import Foundation
import Testing

@testable import UserStore

@Suite struct CheckpointTests {
  @Test func `the log file is copied and begun anew, however much is written`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("users.db")
    var configuration = Configuration()
    configuration.durability = .normal
    // A watcher that reads just then would hold a page back until the next one.
    configuration.watchesOtherProcesses = false
    let store = try UserStore(path: path, configuration: configuration)
    let id = try store.write { try $0.add(name: "NIX") }
    // Each write appends two pages or more: without checkpoints five times the limit.
    for number in 0..<(Checkpoints.pageLimit * 5 / 2) { try store.write { try $0.rename(id, to: "name \(number)") } }
    let frames = try Files.size(of: path + "-wal") / (configuration.pageSize + 24)
    #expect(frames >= Checkpoints.pageLimit)
    #expect(frames < Checkpoints.pageLimit * 2)
  }

  @Test func `what a reader holds back is copied when the reader is gone`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("users.db")
    var configuration = Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    let store = try UserStore(path: path, configuration: configuration)
    let id = try store.write { try $0.add(name: "NIX") }
    let reader = try PlainConnection(path)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    for number in 0..<1_500 { try store.write { try $0.rename(id, to: "held \(number)") } }
    let held = try Files.size(of: path + "-wal")
    try reader.script("COMMIT")
    for number in 0..<3_000 { try store.write { try $0.rename(id, to: "free \(number)") } }
    // It grew for one more limit at the most, and was then used again from its beginning.
    #expect(try Files.size(of: path + "-wal") < held + 2 * Checkpoints.pageLimit * (configuration.pageSize + 24))
    #expect(try store.read { try $0.user(id)?.name } == "free 2999")
  }
}

import Foundation
import TestSupport
import Testing

@testable import UserStore

/// The length of the -wal file: the library's own checkpoints, and the readers that they wait for.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CheckpointTests {
  @Test func `the -wal file is copied and restarted, no matter how much is written`() throws {
    let folder = try Folder()
    // No watcher: one that reads during a checkpoint would hold pages back until the next one.
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    // Each write appends at least two pages: without checkpoints, five times the limit.
    for number in 0..<(Checkpoints.pageLimit * 5 / 2) { try store.write { try $0.rename(id, to: "name \(number)") } }
    let frames = try Files.size(of: folder.database + "-wal") / (Configuration().pageSize + 24)
    #expect(frames >= Checkpoints.pageLimit)
    #expect(frames < Checkpoints.pageLimit * 2)
  }

  @Test func `pages that a reader holds back are copied after the read ends`() throws {
    let folder = try Folder()
    // No watcher: one that reads during a checkpoint would hold pages back until the next one.
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    let reader = try PlainConnection(folder.database)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    for number in 0..<1_500 { try store.write { try $0.rename(id, to: "held \(number)") } }
    let held = try Files.size(of: folder.database + "-wal")
    try reader.script("COMMIT")
    for number in 0..<3_000 { try store.write { try $0.rename(id, to: "free \(number)") } }
    // The file grew by at most one more limit, and was then used again from its start.
    #expect(
      try Files.size(of: folder.database + "-wal") < held + 2 * Checkpoints.pageLimit * (Configuration().pageSize + 24))
    #expect(try store.read { try $0.user(id)?.name } == "free 2999")
  }

  @Test func `readers that follow each other without a pause do not let the -wal file grow`() throws {
    let folder = try Folder()
    let store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.durability = .normal
      // Long enough even if the readers rarely get the processor.
      $0.readerPatience = .seconds(60)
    }
    let id = try store.write { try $0.add(name: "NIX") }
    let relay = Relay()
    let readers = try (0..<2).map { _ in try Threads.start { try relay.read(store) } }
    relay.waitForReader()
    for number in 0..<5_000 { try store.write { try $0.rename(id, to: "name \(number)") } }
    relay.end()
    for reader in readers { try reader.join() }
    let frames = try Files.size(of: folder.database + "-wal") / (Configuration().pageSize + 24)
    #expect(frames >= Checkpoints.waitingLimit)
    #expect(frames < Checkpoints.waitingLimit + Checkpoints.pageLimit)
    #expect(try store.read { try $0.user(id)?.name } == "name 4999")
  }

  @Test func `a long read is waited for again only when the -wal file is twice as long`() throws {
    let folder = try Folder()
    let store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.readerPatience = .zero
    }
    let checkpoints = try #require(store.checkpoints)
    var waitsAt: Int { checkpoints.state.withLock { $0.waitsAt } }
    let id = try store.write { try $0.add(name: "NIX") }
    let reader = try PlainConnection(folder.database)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    while waitsAt == Checkpoints.waitingLimit { try store.write { try $0.set(Self.photo, of: id, to: Self.bytes) } }
    let first = waitsAt
    #expect(first >= 2 * Checkpoints.waitingLimit)
    while waitsAt == first { try store.write { try $0.set(Self.photo, of: id, to: Self.bytes) } }
    #expect(waitsAt >= 2 * first)
    try reader.script("COMMIT")
    // The first checkpoint that is due copies everything.
    for _ in 0..<4 { try store.write { try $0.set(Self.photo, of: id, to: Self.bytes) } }
    #expect(waitsAt == Checkpoints.waitingLimit, "the file was restarted")
  }

  @Test func `after a first attempt that copied nothing, the file may double, else it may grow by one limit`() throws {
    let store = try Folder().open { $0.watchesOtherProcesses = false }
    let checkpoints = try #require(store.checkpoints)
    for (isHeld, isFirst, growth) in [
      (true, true, 5_000), (false, true, Checkpoints.pageLimit), (true, false, Checkpoints.pageLimit),
      (false, false, Checkpoints.pageLimit),
    ] {
      checkpoints.state.withLock { state in
        state.walPages = 5_000
        state.rest = isFirst ? Checkpoints.firstRest : Checkpoints.firstRest * 2
      }
      checkpoints.giveUp(isHeld: isHeld)
      let (waitsAt, rest) = checkpoints.state.withLock { ($0.waitsAt, $0.rest) }
      #expect(waitsAt == 5_000 + growth && rest == Checkpoints.firstRest, "\(isHeld), \(isFirst)")
    }
  }

  @Test func `the steps of a compaction do not let the -wal file grow`() throws {
    let folder = try Folder()
    let store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.durability = .normal
      $0.retention = .unlimited
    }
    let id = try store.write { try $0.add(name: "NIX") }
    // One change fills a page.
    let note = String(repeating: "x", count: 1_500)
    for number in 0..<12 {
      try store.write { transaction in
        for place in 0..<1_000 {
          try transaction.set(AttributeName("note"), of: id, to: .text("\(number) \(place) " + note))
        }
      }
    }
    try store.compact(keeping: .rows(0))
    let frames = try Files.size(of: folder.database + "-wal") / (Configuration().pageSize + 24)
    // A step deletes up to a thousand rows.
    #expect(frames < Checkpoints.waitingLimit + 2 * Checkpoints.pageLimit)
    #expect(try store.read { try $0.cursor.revision.rawValue } > 12_000)
  }

  private static let photo = Attribute<[UInt8]>("photo")
  /// About 250 pages, and twice as many with the copy in the log.
  private static var bytes: [UInt8] { Array(repeating: .random(in: 0...255), count: 500_000) }
}

/// Reads that overlap: one ends when another one has begun.
private final class Relay: Sendable {
  private let condition = NSCondition()
  private let state = Lock((begun: 0, isOver: false))

  /// Reads until `end`.
  func read(_ store: UserStore) throws {
    while !state.withLock({ $0.isOver }) {
      try store.read { transaction in
        _ = try transaction.count()
        let own = begin()
        // Longer than a write takes, also on a busy machine, so that some reader always has an older state. A gate that the
        // writer opens would not work: the writer may be waiting for this very reader.
        SystemThread.sleep(milliseconds: 20)
        wait { $0.begun > own }
      }
    }
  }

  func waitForReader() { wait { $0.begun > 0 } }

  func end() { change { $0.isOver = true } }

  private func begin() -> Int {
    change { $0.begun += 1 }
  }

  /// - Returns: The number of reads that have begun.
  @discardableResult
  private func change(_ body: (inout (begun: Int, isOver: Bool)) -> Void) -> Int {
    condition.lock()
    defer { condition.unlock() }
    condition.broadcast()
    return state.withLock { state in
      body(&state)
      return state.begun
    }
  }

  private func wait(for isReached: ((begun: Int, isOver: Bool)) -> Bool) {
    condition.lock()
    while !state.withLock({ $0.isOver || isReached($0) }) { condition.wait() }
    condition.unlock()
  }
}

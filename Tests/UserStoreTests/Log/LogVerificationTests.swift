import Foundation
import Testing

@testable import UserStore

/// A log that does not continue after a cursor is an error.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LogVerificationTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open()
    zoe = try store.write { try $0.add(name: "0") }
    for number in 1...5 { try store.write { try $0.rename(zoe, to: "\(number)") } }
  }

  /// Deletes the log up to a revision, as `compact` does.
  private func compact(through revision: Int64) throws {
    try folder.shell(
      """
      BEGIN IMMEDIATE;
      UPDATE meta SET horizon_nonce = (SELECT nonce FROM changes WHERE seq = \(revision)), horizon = \(revision);
      DELETE FROM changes WHERE seq <= \(revision); COMMIT
      """)
  }

  @Test func `a cursor that needs deleted changes is compacted, and the horizon itself is not`() throws {
    let all = try store.allChanges()
    try compact(through: all[2].revision.rawValue)
    #expect(code { try store.page(after: all[1].cursor) } == .compacted)
    #expect(try store.allChanges(after: all[2].cursor).map(\.cursor) == all.suffix(3).map(\.cursor))
    #expect(try store.allChanges().map(\.cursor) == all.suffix(3).map(\.cursor))
    try store.write { try $0.rename(zoe, to: "next") }
    #expect(try store.allChanges(after: all[5].cursor).count == 1)
  }

  @Test func `a huge set whose first part was deleted throws compacted`() throws {
    let before = try store.read { try $0.cursor }
    try store.write { transaction in for number in 0..<2_000 { try transaction.add(name: "\(number)") } }
    let sets = try store.allChanges(after: before)
    try compact(through: before.revision.rawValue + 3_000)
    #expect(sets.count == 1)
    #expect(code { try sets[0].forEach { _ in } } == .compacted)
  }

  @Test func `after a restore by SQLite, later cursors are diverged, and earlier ones continue`() throws {
    let copy = folder.path + "/copy.db"
    let early = try store.read { try $0.cursor }
    try folder.shell(".backup '\(copy)'")
    try store.write { try $0.rename(zoe, to: "lost") }
    let late = try store.read { try $0.cursor }
    let sets = Recorder<ChangeSet>()
    let name = try store.listenable(.name, of: zoe)
    let received = Recorder<String?>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    name.bind("test") { received.record($0) }
    try folder.shell(".restore '\(copy)'")
    sets.wait { $0.contains { $0.discontinuity == .diverged } }
    received.wait { $0.contains("5") }
    #expect(name.value == "5", "the listenable reads its value again")
    #expect(code { try store.page(after: late) } == .diverged)
    try store.write { try $0.rename(zoe, to: "other") }
    #expect(code { try store.page(after: late) } == .diverged, "a reused revision is not the same")
    #expect(try store.allChanges(after: early).map(\.lines) == [["updated 1 name '5' 'other'"]])
    #expect(received.all.last == "other")
  }

  @Test func `cursors of another epoch and of another database are diverged`() throws {
    let cursor = try store.read { try $0.cursor }
    let other = try UserStore.temporary()
    #expect(code { try other.page(after: cursor) } == .diverged)
    try folder.shell("UPDATE meta SET epoch = epoch + 1")
    #expect(code { try store.page(after: cursor) } == .diverged)
  }

  @Test func `a feed throws the reason`() async throws {
    let cursor = try await store.read { try $0.cursor }
    try folder.shell("UPDATE meta SET epoch = epoch + 1")
    let code = await awaitedCode { for try await _ in store.changeSets(after: cursor) {} }
    #expect(code == .diverged)
  }

  @Test func `a gap is detected`() throws {
    let all = try store.allChanges()
    try folder.shell("DELETE FROM changes WHERE seq = \(all[2].revision.rawValue)")
    #expect(code { try store.allChanges(after: all[1].cursor) } == .diverged)
    #expect(try store.allChanges(after: all[3].cursor).count == 2)
  }

  @Test func `a row of an unknown kind is delivered as unknown, and the feed continues`() async throws {
    var iterator = store.changeSets(after: try await store.read { try $0.cursor }).makeAsyncIterator()
    try folder.shell("INSERT INTO changes (op, user, attribute, old, new) VALUES (-9, NULL, NULL, 1, x'00')")
    try folder.shell("INSERT INTO changes (op, old) VALUES (0, 'nonsense')")
    let first = try await iterator.next()
    #expect(try first?.changes.map(\.kind).first == .unknown)
    try await store.write(origin: "end") { try $0.rename(zoe, to: "x") }
    var origin: String?
    while origin != "end" { origin = try await iterator.next()?.origin }
  }

  @Test func `the commits of a killed process are delivered, and its open transaction is not`() throws {
    let sets = Recorder<[String]>()
    store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
    #expect(throws: Program.Failure.self) {
      try folder.python(
        """
        db.execute("UPDATE users SET name = 'kept'")
        db.execute('BEGIN IMMEDIATE')
        db.execute('PRAGMA cache_spill = 1'); db.execute('PRAGMA cache_size = 1')
        db.execute("INSERT INTO users (name) SELECT 'lost' FROM changes, changes AS c LIMIT 200")
        os.kill(os.getpid(), signal.SIGKILL)
        """)
    }
    sets.wait(for: 1)
    try store.write { try $0.rename(zoe, to: "next") }
    #expect(sets.all == [["updated 1 name '5' 'kept'"], ["updated 1 name 'kept' 'next'"]])
    #expect(try store.read { try $0.count() } == 1)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }
}

import Testing

@testable import UserStore

/// The cursors of rows of the log.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LogCursorTests {
  private let folder: Folder
  private let store: UserStore
  private let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.retention = .unlimited }
    zoe = try store.write { try $0.add(name: "0") }
    try store.rename(zoe, times: 5)
  }

  private func cursor(at revision: Int64) throws -> Cursor? {
    try store.read { try $0.cursor(at: Revision(rawValue: revision)) }
  }

  private var end: Cursor { get throws { try store.read { try $0.cursor } } }
  private var oldest: Cursor { get throws { try store.read { try $0.oldestCursor } } }

  /// As if the index of a damaged file hid the last rows.
  @Test func `a log without its last rows is damaged, and is not read again and again`() throws {
    let end = try end
    let error = #expect(throws: StoreError.self) {
      try store.read {
        _ = try LogPage(after: end, through: end.revision.rawValue + 5, $0.session, pages: store.reader)
      }
    }
    #expect(error?.code == .corrupt)
    let last = end.revision.rawValue
    #expect(
      error?.message.hasSuffix("the log ends at \(last + 5), but has no rows after \(last)") == true, "\(error as Any)")
    #expect(try store.read { try LogPage(after: end, through: last, $0.session, pages: store.reader).isLast })
  }

  @Test func `a set is found by its revision`() throws {
    try folder.shell("UPDATE users SET name = 'foreign'")
    try store.write { try $0.rename(zoe, to: "after") }
    let sets = try store.allChanges()
    for set in sets { #expect(try cursor(at: set.revision.rawValue) == set.cursor) }
    #expect(try cursor(at: end.revision.rawValue) == end)
    #expect(sets.count == 8)
  }

  @Test func `a feed after a row inside a set delivers the rest of the set`() throws {
    let before = try end.revision.rawValue
    try store.write { transaction in for name in ["a", "b", "c"] { try transaction.rename(zoe, to: name) } }
    for row in 0...4 {
      let cursor = try #require(try cursor(at: before + Int64(row)))
      try store.verify(cursor)
      let rest = try store.allChanges(after: cursor).flatMap { try $0.changes }.map(\.new)
      #expect(rest == ["a", "b", "c"].dropFirst(row).map { .text($0) })
    }
  }

  @Test func `what is not in the log has no cursor`() throws {
    let end = try end.revision.rawValue
    for revision in [end + 1, end + 2, -1, .min, .max] { #expect(try cursor(at: revision) == nil) }
    #expect(try cursor(at: 0) == oldest)
    try folder.shell("DELETE FROM changes WHERE seq = 5")
    #expect(try cursor(at: 5) == nil, "a gap")
  }

  @Test func `a write that is committed after the snapshot has no cursor in it`() throws {
    let end = try end.revision.rawValue
    try store.read { transaction in
      #expect(try transaction.cursor.revision.rawValue == end)
      try folder.shell("UPDATE users SET name = 'later'")
      #expect(try transaction.cursor(at: Revision(rawValue: end + 1)) == nil)
    }
    #expect(try cursor(at: end + 1) == self.end)
  }

  @Test func `the start of a compacted log is its oldest cursor, and a row`() throws {
    let sets = try store.allChanges()
    try store.compact(keeping: .rows(4))
    let kept = try store.allChanges()
    let first = try #require(kept.first).revision
    let horizon = try #require(sets.last { $0.revision < first }).cursor
    #expect(kept.count == 2)
    #expect(try oldest == horizon)
    #expect(try cursor(at: horizon.revision.rawValue) == horizon)
    #expect(try store.allChanges(after: horizon).map(\.cursor) == kept.map(\.cursor))
    for revision in 0..<horizon.revision.rawValue { #expect(try cursor(at: revision) == nil) }
    for set in kept { #expect(try cursor(at: set.revision.rawValue) == set.cursor) }
  }

  @Test func `rows that are compacted and not deleted yet have no cursor`() throws {
    let sets = try store.allChanges()
    let horizon = sets[2].revision.rawValue
    try folder.shell(
      "UPDATE meta SET horizon = \(horizon), horizon_nonce = (SELECT nonce FROM changes WHERE seq = \(horizon))")
    #expect(try cursor(at: sets[1].revision.rawValue) == nil)
    #expect(try cursor(at: horizon) == sets[2].cursor)
    #expect(try oldest == sets[2].cursor)
  }

  @Test func `a log that ends at its start has one cursor`() throws {
    try store.compact(keeping: .rows(0))
    #expect(try oldest == end)
    #expect(try cursor(at: end.revision.rawValue) == end)
    let empty = try UserStore.forTests()
    let cursors = try empty.read { [try $0.oldestCursor, try $0.cursor, try $0.cursor(at: Revision(rawValue: 0))] }
    #expect(Set(cursors).count == 1)
  }

  @Test func `a feed after the oldest cursor delivers everything that the log has`() async throws {
    for rows in [100, 6] {
      try await store.compact(keeping: .rows(rows))
      let all = try store.allChanges()
      #expect(all.count == (rows == 6 ? 3 : 6))
      var iterator = store.changeSets(after: try oldest).makeAsyncIterator()
      for set in all { #expect(try await iterator.next()?.cursor == set.cursor) }
    }
  }

  @Test func `a log whose revisions are out of range is corrupt`() throws {
    try folder.shell("INSERT INTO changes (seq, op) VALUES (1000000000000000, 9)")
    #expect(code { try cursor(at: 1) } == .corrupt)
    try folder.shell("UPDATE meta SET horizon = -1")
    #expect(code { try oldest } == .corrupt)
  }
}

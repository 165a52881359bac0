import Testing

@testable import UserStore

/// The note in the log that a user was purged, for others that keep a copy of the log.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct PurgeNoteTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open {
      $0.retention = .unlimited
      $0.watchesOtherProcesses = false
    }
    zoe = try store.write { try $0.add(name: "Zoë") }
    try store.write { try $0.remove(zoe) }
  }

  private func rows() throws -> [LogRow] {
    try store.read { try $0.session.rows(after: 0, through: .max) }
  }

  /// The users that the notes are about, in order.
  private func noted() throws -> [User.ID] {
    var noted: [User.ID] = []
    var last: Int64 = 0
    while true {
      let rows = try store.read { try $0.session.rows(after: last, through: .max) }
      guard let end = rows.last else { return noted }
      noted += rows.filter(\.isNote).map(\.change.user)
      last = end.sequence
    }
  }

  @Test func `a purge appends one note, which is a set of its own`() throws {
    let before = try rows()
    #expect(try store.purge(zoe).blanked > 0)
    let added = try rows().dropFirst(before.count)
    let note = try #require(added.first)
    #expect(added.map(\.isEnd) == [false, true] && note.isNote && note.change.user == zoe)
    #expect(added.last?.firstOfSet == note.sequence && added.last?.origin == nil)
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test(.sqlite) func `for an older library, the note is of no attribute and has no values`() throws {
    try store.purge(zoe)
    let plain = try folder.plain()
    #expect(try plain.text("SELECT count(*) FROM changes WHERE op > 3 AND attribute IS NULL") == "1")
    let note = "SELECT op || ' ' || user FROM changes WHERE op > 3 AND coalesce(attribute, old, new) IS NULL"
    #expect(try plain.text(note) == "5 \(zoe)")
  }

  @Test func `a purge that removes no value appends no note`() throws {
    try store.purge(zoe)
    let end = try store.read { try $0.cursor }
    #expect(try store.purge(zoe).blanked == 0)
    #expect(try store.purge(User.ID(99)).found == 0)
    let other = try store.write { try $0.add(name: "NIX") }
    #expect(throws: StoreError.self) { try store.purge(other) }
    #expect(try noted() == [zoe])
    #expect(try store.read { try $0.cursor.revision.rawValue } == end.revision.rawValue + 3)
  }

  @Test func `a purge that is canceled between two steps has noted what it has removed, and so does the next`() throws {
    let user = try store.write { try $0.add(name: "new") }
    try store.write { transaction throws in for number in 0..<1_500 { try transaction.rename(user, to: "\(number)") } }
    try store.write { try $0.remove(user) }
    let writer = try #require(store.writer)
    #expect(throws: CancellationError.self) { try writer.purge(user, vacuums: false) { true } }
    #expect(try noted() == [user])
    #expect(try store.purge(user).blanked > 0)
    #expect(try noted() == [user, user])
    #expect(try store.purge(user).blanked == 0)
    #expect(try noted() == [user, user])
  }

  @Test func `a purge of several steps appends one note`() throws {
    let user = try store.write { try $0.add(name: "new") }
    try store.write { transaction throws in for number in 0..<2_500 { try transaction.rename(user, to: "\(number)") } }
    try store.write { try $0.remove(user) }
    #expect(try store.purge(user).blanked > 2_500)
    #expect(try noted() == [user])
  }

  @Test func `listeners, feeds and lists receive no note, and undo takes back the write before it`() throws {
    let nix = try store.write { try $0.add(name: "NIX") }
    let list = try store.list(Query())
    let (calls, versions) = (Recorder<ChangeSet>(), Recorder<Int>())
    list.bind("rows") { versions.record($0.count) }
    store.listeners.bind("all", to: .everything) { calls.record($0) }
    let before = try store.read { try $0.cursor }
    let renamed = try store.write { transaction in
      try transaction.rename(nix, to: "Nix")
      return try transaction.revision
    }
    let count = versions.count
    try store.purge(zoe)
    #expect(calls.count == 1 && versions.count == count)
    #expect(try store.allChanges(after: before).map(\.lines) == [["updated 2 name 'NIX' 'Nix'"]])
    #expect(try store.write { try $0.undo() } == renamed)
    #expect(try store.read { try $0.user(nix)?.name } == "NIX")
    // The position of the listeners is after the note: they receive the undo only.
    #expect(calls.all.map(\.lines) == [["updated 2 name 'NIX' 'Nix'"], ["updated 2 name 'Nix' 'NIX'"]])
  }

  @Test func `a consumer's position moves past the note`() async throws {
    let mailer = try await store.consumer("mailer")
    let received = Recorder<[String]>()
    let loop = Task {
      for try await set in mailer {
        received.record(set.lines)
        try await mailer.acknowledge(set)
      }
    }
    let id = try await store.write { try $0.add(name: "NIX") }
    await received.reached(1)
    try await store.purge(zoe)
    let end = try await store.read { try $0.cursor }
    while try await mailer.cursor() != end { await Task.yield() }
    try await store.write { try $0.rename(id, to: "Nix") }
    await received.reached(2)
    #expect(received.all.map(\.count) == [2, 1])
    loop.cancel()
    try await loop.value
    try await mailer.flush()
    #expect(try await store.read { try $0.consumers().first?.lag } == 0)
  }

  @Test func `a purge in a listener notes it, too`() throws {
    store.listeners.bind("purger", to: .everything) { [store] set in
      for change in try set.changes where change.kind == .removed && change.attribute == .name {
        try store.purge(change.user)
      }
    }
    let nix = try store.write { try $0.add(name: "NIX") }
    try store.write { try $0.remove(nix) }
    #expect(try noted() == [nix])
  }

  @Test func `a purge that shares a commit with writes is a set of its own`() async throws {
    let calls = Recorder<[String]>()
    store.listeners.bind("all", to: .everything) { calls.record($0.lines) }
    let (store, zoe) = (store, zoe)
    let lineup = await Lineup(store)
    await lineup.add(.task) { try $0.add(name: "before") }
    let purge = Task.detached { try await store.purge(zoe) }
    while store.waitingWriters < 2 { await Task.yield() }
    await lineup.add(.task) { try $0.add(name: "after") }
    #expect(await lineup.go() == [nil, nil])
    #expect(try await purge.value.blanked > 0)
    #expect(calls.all.map(\.count) == [2, 2])
    #expect(try noted() == [zoe])
    let isEnd = try rows().map(\.isEnd)
    #expect(isEnd.suffix(8) == [false, false, true, false, true, false, false, true])
  }
}

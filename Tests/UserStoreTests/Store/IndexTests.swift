import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Indexes of attributes: adding and removing them, what refuses them, and what keeps them.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct IndexTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    // A watcher that reads while the shell commits keeps it from copying its pages, which a check reports.
    store = try folder.open { $0.watchesOtherProcesses = false }
  }

  private static let names: [AttributeName] = [
    "age", "Age", "AGE", "^age", "^Age", "name", "hair_color", "it's", "'\u{301}", "\"", "\"\u{301}", "100%", "größe",
    "e\u{301}", "\u{E9}", "]", "-- x", "Ä", "ä", AttributeName(String(repeating: "Ż", count: 200)),
  ]

  private func indexes(_ store: UserStore? = nil) throws -> [AttributeName] {
    try (store ?? self.store).read { try $0.indexes }
  }

  private func found() throws -> [Finding] {
    try UserStore.check(path: folder.database).filter { $0.kind != .library && $0.kind != .permissions }
  }

  private func addUsers(_ count: Int) throws {
    try folder.shell(
      """
      BEGIN; INSERT INTO users (name)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) SELECT 'user ' || i FROM n;
      INSERT INTO attributes (user_id, name, value) SELECT id, 'age', id % 100 FROM users; COMMIT
      """)
  }

  @Test func `indexes are added once and removed once, whatever the name is`() throws {
    try addUsers(10)
    for name in Self.names { #expect(try store.addIndex(on: name), "\(name)") }
    #expect(try indexes() == Self.names.sorted())
    for name in Self.names { #expect(try !store.addIndex(on: name), "\(name)") }
    #expect(try indexes(folder.open()) == Self.names.sorted())
    #expect(try indexes(folder.open { $0.access = .readOnly }) == Self.names.sorted())
    #expect(try found() == [])
    for name in Self.names { #expect(try store.removeIndex(on: name), "\(name)") }
    for name in Self.names { #expect(try !store.removeIndex(on: name), "\(name)") }
    #expect(try folder.shell("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL") == "")
  }

  @Test func `an attribute that nobody has can be indexed, and values that come later are found`() throws {
    #expect(try store.addIndex(on: Attribute<Int>.age.name))
    try addUsers(10)
    #expect(try store.read { try $0.ids(matching: Query(where: .age == 3)) } == [User.ID(3)])
    try folder.shell("UPDATE attributes SET value = 3 WHERE user_id = 7")
    #expect(try store.read { try $0.ids(matching: Query(where: .age == 3)) } == [User.ID(3), User.ID(7)])
    try store.write { _ = try $0.remove(User.ID(3)) }
    #expect(try store.read { try $0.ids(matching: Query(where: .age == 3)) } == [User.ID(7)])
    #expect(try store.removeIndex(on: Attribute<Int>.age.name))
    #expect(try found() == [])
  }

  @Test func `an index is no change`() throws {
    try store.write { _ = try $0.add(name: "user 1") }
    let sets = Recorder<[String]>()
    store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
    let cursor = try store.read { try $0.cursor }
    _ = try store.addIndex(on: "age")
    #expect(try store.read { try $0.cursor } == cursor)
    try store.write { _ = try $0.rename(User.ID(1), to: "NIX") }
    #expect(sets.all == [["updated 1 name 'user 1' 'NIX'"]])
  }

  @Test func `a store in memory has indexes`() throws {
    let store = try UserStore.forTests()
    #expect(try store.addIndex(on: "age"))
    #expect(try indexes(store) == ["age"])
  }

  @Test func `the id and names that no attribute can have are refused`() {
    for name in ["id", "", "a\nb", "a\u{0}b", AttributeName(String(repeating: "x", count: 201))] {
      #expect(code { try store.addIndex(on: name) } == .badValue, "\(name)")
      #expect(code { try store.removeIndex(on: name) } == .badValue, "\(name)")
    }
  }

  @Test func `inside a transaction of the store, and in a store that only reads, indexes are refused`() throws {
    let reader = try folder.open { $0.access = .readOnly }
    #expect(code { try reader.addIndex(on: "age") } == .readOnly)
    #expect(code { try reader.removeIndex(on: "age") } == .readOnly)
    try store.write { _ in #expect(code { try store.addIndex(on: "age") } == .nested) }
    try store.read { _ in #expect(code { try store.removeIndex(on: "age") } == .nested) }
    store.close()
    #expect(code { try store.addIndex(on: "age") } == .closed)
  }

  @Test func `an interrupted index is not there, and can be added later`() throws {
    try addUsers(60_000)
    for calls in [0, 1, 3, 6] { try interrupt(after: calls) }
    #expect(try found() == [])
    #expect(try store.addIndex(on: "age"))
    #expect(try store.read { try $0.count(where: .age == 3) } == 600)
    #expect(try found() == [])
  }

  private func interrupt(after calls: Int) throws {
    var count = 0
    #expect(
      code {
        try store.addIndex(AttributeIndex(on: "age")) {
          count += 1
          return count <= calls
        }
      } == .closed)
    #expect(count == calls + 1)
    #expect(try indexes() == [], "\(calls)")
  }

  @Test func `closing with an interrupt ends an index that is being added`() throws {
    try addUsers(60_000)
    let connections = try #require((store.engine as? SQLiteEngine)?.file?.connections)
    let isInside = Gate()
    let ended = Recorder<StoreError.Code?>()
    let thread = try Threads.start { [store] in
      ended.record(
        code {
          try store.addIndex(AttributeIndex(on: "age")) {
            isInside.open()
            while !connections.isInterrupted { SystemThread.yield() }
            return true
          }
        })
    }
    isInside.wait()
    store.interruptAndClose()
    try thread.join()
    #expect(ended.all == [.closed])
    #expect(try indexes(folder.open()) == [])
    #expect(try found() == [])
  }

  @Test func `an awaited index is added on another thread, and ends when its task is canceled`() async throws {
    #expect(try await store.addIndex(on: Attribute<Int>.age.name))
    #expect(try await !store.addIndex(on: "age"))
    #expect(try await store.removeIndex(on: Attribute<Int>.age.name))
    #expect(try await !store.removeIndex(on: "age"))
    try addUsers(60_000)
    let task = Task { [store] in
      while !Task.isCancelled { await Task.yield() }
      return try await store.addIndex(on: "age")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try indexes() == [])
  }

  @Test func `a backup has the indexes, and a restore keeps those of the store`() throws {
    try addUsers(100)
    _ = try store.addIndex(on: "age")
    let backup = folder.path + "/backup.db"
    try store.backup(to: backup)
    #expect(try indexes(UserStore(path: backup)) == ["age"])
    _ = try store.removeIndex(on: "age")
    _ = try store.addIndex(on: "name")
    try store.restore(from: backup)
    #expect(try indexes() == ["name"])
    #expect(try store.read { try $0.ids(named: "user 7") } == [User.ID(7)])
    #expect(try found() == [])
  }

  @Test func `a purge with a vacuum keeps the indexes, and leaves no value in them`() throws {
    try addUsers(10)
    _ = try store.addIndex(on: "note")
    let secret = "very secret text of one user"
    try store.write { try $0.set("note", of: User.ID(3), to: .text(secret)) }
    try store.write { _ = try $0.remove(User.ID(3)) }
    #expect(try store.purge(User.ID(3)).isErased)
    store.close()
    #expect(try folder.bytes().range(of: Data(secret.utf8)) == nil)
    let store = try folder.open()
    try store.purge(User.ID(3), vacuums: true)
    #expect(try indexes(store) == ["note"])
    #expect(try found() == [])
  }
}

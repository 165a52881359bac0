import Foundation
import Testing

@testable import UserStore

/// Restoring a backup into a store that other processes have open.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct RestoreTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID
  let backup: String

  /// Creates a store with a backup, and a write after the backup.
  init() throws {
    folder = try Folder()
    store = try folder.open()
    backup = folder.path + "/backup.db"
    zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
    try store.write { try $0.set(Attribute<Int>("age"), of: zoe, to: 41) }
    try folder.shell("INSERT INTO attributes VALUES (1, 'odd', x'41FF00'), (1, 'one', 1.0)")
    try store.backup(to: backup)
    try store.write { transaction in
      try transaction.rename(zoe, to: "later")
      try transaction.add(name: "lost")
    }
  }

  private func problems(_ file: String? = nil) throws -> [Finding] {
    try UserStore.check(path: file ?? folder.database).filter { $0.severity == .problem }
  }

  // MARK: Contents

  @Test func `records and log are exactly the backup's, no cursor continues, and no id is reused`()
    throws
  {
    let late = try store.read { try $0.cursor }
    let early = try store.allChanges()[0].cursor
    let bytes = try folder.bytes(backup)
    try store.restore(from: backup)
    #expect(try folder.rows() == folder.rows(backup))
    #expect(try folder.bytes(backup) == bytes)
    for cursor in [early, late] { #expect(code { try store.page(after: cursor) } == .diverged) }
    #expect(try problems() == [])
    let now = try store.read { try $0.cursor }
    #expect(
      try store.write { try $0.add(name: "next") } == User.ID(3), "id 2 belonged to a user that the restore removed")
    #expect(try store.allChanges(after: now).map(\.lines.first) == ["added 3 name - 'next'"])
  }

  @Test(arguments: [512, 4_096, 65_536])
  func `the page sizes of store and backup may differ`(_ pageSize: Int) throws {
    let path = folder.path + "/other.db"
    var configuration = Configuration()
    configuration.pageSize = pageSize
    let other = try UserStore(path: path, configuration: configuration)
    try other.restore(from: backup)
    #expect(try folder.rows(path) == folder.rows(backup))
    #expect(try folder.shell("PRAGMA page_size", path) == "\(pageSize)\n")
    #expect(try problems(path) == [])
  }

  @Test func `a store in memory can be restored, also from a store in use`() throws {
    let memory = try UserStore.inMemory()
    try memory.write { try $0.add(name: "gone") }
    try memory.restore(from: folder.database)
    #expect(try memory.read { try $0.users() } == store.read { try $0.users() })
    #expect(try memory.check() == [])
    try memory.write { try $0.rename(zoe, to: "next") }
  }

  @Test(arguments: Migration.oldest..<Migration.latest)
  func `a backup of an older version is migrated in a copy`(_ version: Int64) throws {
    let old = folder.path + "/old.db"
    try folder.makeOld(version, "INSERT INTO users (name) VALUES ('old');", at: old)
    let bytes = try folder.bytes(old)
    try store.restore(from: old)
    #expect(try folder.rows() == folder.rows(old))
    #expect(try folder.bytes(old) == bytes)
    #expect(try problems() == [])
  }

  @Test func `a backup with missing triggers restores its records, and starts a new log`() throws {
    try folder.shell("DROP TRIGGER users_after_update; UPDATE users SET name = 'unseen'", backup)
    try store.restore(from: backup)
    #expect(try store.read { try $0.ids(named: "unseen") } == [zoe])
    #expect(try store.allChanges().isEmpty)
    #expect(try problems() == [])
  }

  @Test func `sizes that were counted for the old log are reset`() throws {
    try folder.shell("UPDATE meta SET measured = 4, bytes = 5000, searched = 3, sized = 3, size = 400")
    try store.restore(from: backup)
    #expect(try folder.shell("SELECT measured, bytes, searched, sized, size FROM meta") == "0|0|0|0|0\n")
  }

  @Test func `consumers keep their names, and foreign tables and indexes stay`() throws {
    try folder.shell(
      """
      INSERT INTO consumers SELECT 'mail', epoch, 2, 0, 1, 0 FROM meta;
      CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine'); CREATE INDEX by_name ON users (name)
      """)
    try store.restore(from: backup)
    #expect(try folder.shell("SELECT name FROM consumers; SELECT text FROM notes") == "mail\nmine\n")
    #expect(try folder.shell("SELECT count(*) FROM consumers JOIN meta USING (epoch)") == "0\n")
    #expect(try problems() == [])
  }

  @Test(arguments: [
    "UPDATE users SET name = 'x' WHERE id = 1", "UPDATE attributes SET value = 42 WHERE name = 'age'",
    "UPDATE changes SET new = CAST(x'41FF00' AS TEXT) WHERE seq = 1; UPDATE users SET name = CAST(x'41FF00' AS TEXT)",
  ])
  func `a backup with problems is restored only if they are ignored`(_ sql: String) throws {
    let other = try Folder()
    try FileManager.default.copyItem(atPath: backup, toPath: other.database)
    for statement in sql.split(separator: ";") { try other.withoutTriggers(String(statement)) }
    let before = try folder.rows()
    #expect(code { try store.restore(from: other.database) } == .problemsFound)
    #expect(try folder.rows() == before)
    try store.restore(from: other.database, ignoringProblems: true)
    #expect(try folder.rows() == other.rows())
  }

  @Test func `text that is not UTF-8 is restored byte for byte if problems are ignored`() throws {
    try folder.shell("INSERT INTO attributes VALUES (1, 'broken', CAST(x'41FF00' AS TEXT))", backup)
    #expect(code { try store.restore(from: backup) } == .problemsFound)
    try store.restore(from: backup, ignoringProblems: true)
    #expect(try folder.rows() == folder.rows(backup))
  }

  // MARK: Notification

  @Test(arguments: [true, false])
  func `listeners are called before a restore returns, listenables are current, and feeds diverge`(
    _ isWatching: Bool
  ) async throws {
    let store = try folder.open { $0.watchesOtherProcesses = isWatching }
    let received = Recorder<StoreError.Code?>()
    let names = Recorder<String?>()
    let name = try await store.listenable(.name, of: zoe)
    name.bind("screen") { names.record($0) }
    store.listeners.bind("all", to: .everything) { received.record($0.discontinuity) }
    let cursor = try await store.read { try $0.cursor }
    try await store.restore(from: backup)
    #expect(received.all == [.diverged])
    #expect(names.all == ["Zoë"] && name.value == "Zoë")
    #expect(await awaitedCode { for try await _ in store.changeSets(after: cursor) {} } == .diverged)
    try await store.write { try $0.rename(zoe, to: "next") }
    #expect(received.all == [.diverged, nil])
    #expect(names.all == ["Zoë", "next"])
    try await store.restore(from: backup)
    #expect(received.all == [.diverged, nil, .diverged] && name.value == "Zoë")
  }

  @Test(arguments: [true, false])
  func `another store on the file is notified once, by its watcher or when it writes`(_ isWatching: Bool) throws {
    let other = try folder.open { $0.watchesOtherProcesses = isWatching }
    let name = try other.listenable(.name, of: zoe)
    let received = Recorder<String>()
    other.listeners.bind("all", to: .everything) { set in
      received.record(set.discontinuity?.rawValue ?? set.lines.joined())
    }
    try store.restore(from: backup)
    if isWatching { received.wait(for: 1) }
    try other.write { try $0.rename(zoe, to: "next") }
    #expect(received.all == ["diverged", "updated 1 name 'Zoë' 'next'"])
    #expect(name.value == "next")
  }

  @Test func `inside a listener a restore commits at once, and is delivered after the present round`() throws {
    let received = Recorder<String>()
    let (folder, store, backup) = (folder, store, backup)
    store.listeners.bind("first", to: .everything) { set in
      received.record("first " + (set.discontinuity?.rawValue ?? "set"))
      if set.discontinuity == nil {
        try store.restore(from: backup)
        received.record(try folder.shell("SELECT name FROM users"))
      }
    }
    store.listeners.bind("second", to: .everything) {
      received.record("second " + ($0.discontinuity?.rawValue ?? "set"))
    }
    try store.write { try $0.rename(zoe, to: "x") }
    // If the watcher is delivering, the write returns after its own set, and the watcher delivers what the listener did.
    received.wait(for: 5)
    #expect(received.all == ["first set", "Zoë\n", "second set", "first diverged", "second diverged"])
  }

  @Test func `concurrent writes commit before or after a restore`() throws {
    let (folder, store, backup) = (folder, store, backup)
    let python = try Threads.start {
      try folder.python("for i in range(300): db.execute('INSERT INTO users (name) VALUES (?)', ('python',))")
    }
    let swift = try Threads.start { for number in 0..<200 { try store.write { try $0.add(name: "swift \(number)") } } }
    for _ in 0..<5 { try store.restore(from: backup) }
    try python.join()
    try swift.join()
    #expect(try problems() == [])
    let ids = try folder.shell("SELECT count(*), count(DISTINCT user) FROM changes WHERE op = 1 AND attribute = 'name'")
    #expect(Set(ids.dropLast().split(separator: "|")).count == 1, "an id was given twice: \(ids)")
  }

  // MARK: Refusals

  enum Defect: String, CaseIterable {
    case missing, folder, itself, text, empty, foreign, newer, view, trigger, truncated, damaged, scratch, gap, orphan
    case numbers
  }

  private func createFile(with defect: Defect) throws -> String {
    let file = folder.path + "/bad.db"
    try FileManager.default.copyItem(atPath: backup, toPath: file)
    switch defect {
    case .missing: return folder.path + "/nowhere.db"
    case .folder: return folder.path
    case .itself: return folder.database
    case .text: try Data(String(repeating: "no database ", count: 99).utf8).write(to: URL(filePath: file))
    case .empty: try Data().write(to: URL(filePath: file))
    case .foreign: try folder.shell("PRAGMA application_id = 7", file)
    case .newer: try folder.shell("PRAGMA user_version = 99", file)
    case .view: try folder.shell("CREATE VIEW pragma_extra AS SELECT * FROM users", file)
    case .trigger:
      try folder.shell("CREATE TRIGGER extra AFTER INSERT ON users BEGIN DELETE FROM users; END", file)
    case .truncated: try folder.bytes(file).prefix(9_000).write(to: URL(filePath: file))
    case .damaged: try folder.damage("attributes", of: file)
    // A copy of the records would not read this table.
    case .scratch: try folder.damage("displaced_users", of: file)
    case .gap: try folder.shell("DELETE FROM changes WHERE seq = 2", file)
    case .orphan:
      let sql = try folder.shell("SELECT sql FROM sqlite_schema WHERE name = 'attributes_need_user'", file)
      try folder.shell(
        "DROP TRIGGER attributes_need_user; INSERT INTO attributes VALUES (9, 'a', 1);" + sql, file)
    case .numbers: try folder.shell("INSERT INTO changes (seq, op) VALUES (9223372036854775807, 0)", file)
    }
    return file
  }

  @Test(arguments: Defect.allCases)
  func `a file that is not a backup is refused, and nothing changes`(_ defect: Defect) throws {
    let file = try createFile(with: defect)
    let (before, bytes) = (try folder.rows(), try? folder.bytes(file))
    let cursor = try store.read { try $0.cursor }
    let received = Recorder<ChangeSet>()
    store.listeners.bind("all", to: .everything) { received.record($0) }
    let expected: [StoreError.Code] =
      switch defect {
      case .missing, .empty: [.notFound]
      case .folder, .itself: [.cannotOpen]
      case .text: [.notADatabase]
      case .foreign: [.notAUserStore]
      case .newer: [.schemaTooNew]
      case .view, .trigger: [.schemaChanged]
      case .truncated, .damaged: [.corrupt, .schemaChanged]
      case .scratch, .gap, .orphan, .numbers: [.corrupt]
      }
    for isIgnoring in [false, true] {
      let refused = code { try store.restore(from: file, ignoringProblems: isIgnoring) }
      #expect(refused.map { expected.contains($0) } == true, "\(refused as Any)")
    }
    #expect(try folder.rows() == before)
    if defect != .itself { #expect((try? folder.bytes(file)) == bytes) }
    try store.write { try $0.rename(zoe, to: "next") }
    #expect(received.all.map(\.discontinuity) == [nil])
    #expect(try store.allChanges(after: cursor).count == 1)
  }

  @Test func `a restore is refused in a read-only store and inside a transaction`() throws {
    let reader = try folder.open { $0.access = .readOnly }
    #expect(code { try reader.restore(from: backup) } == .readOnly)
    #expect(code { try store.read { _ in try store.restore(from: backup) } } == .nested)
    #expect(code { try store.write { _ in try store.restore(from: backup) } } == .nested)
  }

  @Test func `while another process holds the lock, a restore throws busy and changes nothing`() throws {
    let impatient = try folder.open { $0.busyTimeout = .milliseconds(10) }
    let before = try folder.rows()
    let other = try folder.plain()
    try other.execute("BEGIN IMMEDIATE")
    #expect(code { try impatient.restore(from: backup) } == .busy)
    try other.execute("COMMIT")
    #expect(try folder.rows() == before)
  }
}

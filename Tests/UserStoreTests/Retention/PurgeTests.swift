import Foundation
import TestSupport
import Testing

@testable import UserStore

/// A purged user leaves no values in the log or in the files, only the fact that there was a user.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct PurgeTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID
  private let secret = "a-name-that-occurs-nowhere-else"

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.retention = .unlimited }
    zoe = try store.write { [secret] in try $0.add(name: secret) }
  }

  /// Returns the suffixes of the files, of the database and its -wal file, that contain the text.
  private func filesContaining(_ text: String) throws -> [String] {
    try ["", "-wal"].filter { ending in
      // In another process, because closing the file here would drop SQLite's locks.
      try Program.run("sh", ["-c", "grep -c -a -F -e '\(text)' '\(folder.database)\(ending)' || true"]) != "0\n"
    }
  }

  private func fill() throws {
    let other = try store.write { try $0.add(name: "other") }
    let bytes = Attribute<[UInt8]>("bytes")
    for number in 0..<200 {
      try store.write { try $0.rename(zoe, to: String(repeating: "\(secret) \(number) ", count: 1 + number % 9)) }
      try store.write { try $0.rename(other, to: "other \(number)") }
    }
    try store.write { try $0.set(Attribute<String>("note"), of: zoe, to: String(repeating: secret, count: 1_000)) }
    try store.write { try $0.set(bytes, of: zoe, to: Array(String(repeating: secret, count: 5_000).utf8)) }
    try folder.shell("INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (\(zoe), 'note', '\(secret)')")
    try store.write { try $0.remove(zoe) }
  }

  @Test func `a purge removes the values from the files, and all cursors continue`() throws {
    try fill()
    let before = try store.allChanges()
    #expect(try !filesContaining(secret).isEmpty)
    let purge = try store.purge(zoe)
    #expect(purge.isErased && purge.found == purge.blanked + 2, "the hair color never had a value")
    #expect(try filesContaining(secret) == [])
    let after = try store.allChanges()
    #expect(after.map(\.cursor) == before.map(\.cursor))
    for (old, new) in zip(try before.flatMap { try $0.changes }, try after.flatMap { try $0.changes }) {
      #expect((old.sequence, old.kind, old.user, old.attribute) == (new.sequence, new.kind, new.user, new.attribute))
      #expect(new.user == zoe ? new.old.isNull && new.new.isNull : old == new)
      #expect(new.isPurged == (new.user == zoe && new.attribute != "hair_color"))
    }
    for set in before { _ = try store.page(after: set.cursor) }
    let again = try store.purge(zoe)
    #expect(again.found == purge.found && again.blanked == 0)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  @Test func `an existing user cannot be purged, and keeps the log`() async throws {
    try await store.write { try $0.rename(zoe, to: "Zoë") }
    let error = #expect(throws: StoreError.self) { try store.purge(zoe) }
    #expect(error?.code == .userExists && error?.message.contains("user 1 still exists") == true)
    #expect(await awaitedCode { try await store.purge(zoe) } == .userExists)
    #expect(try store.allChanges().flatMap(\.lines).contains("updated 1 name '\(secret)' 'Zoë'"))
  }

  @Test func `a purge of an unknown user finds nothing`() throws {
    #expect(try store.purge(User.ID(99)).found == 0)
  }

  @Test func `a purge clears the scratch tables as well`() throws {
    // OR IGNORE skips the row after the trigger has saved the row that it might displace.
    try folder.shell(
      """
      INSERT INTO attributes (user_id, name, value) VALUES (\(zoe), 'note', '\(secret)');
      INSERT OR IGNORE INTO attributes (user_id, name, value) VALUES (\(zoe), 'note', 'x');
      INSERT OR IGNORE INTO users (id, name) VALUES (\(zoe), 'x');
      PRAGMA recursive_triggers = OFF; DELETE FROM users WHERE id = \(zoe);
      INSERT OR REPLACE INTO displaced_users VALUES (\(zoe), '\(secret)', NULL, 0);
      INSERT INTO displaced_attributes (id, user_id, name, value) VALUES (77, \(zoe), 'note', '\(secret)'), (78, 99, 'note', 'of another');
      INSERT INTO displaced_attributes (id, row_user, row_name, row_value) VALUES (79, \(zoe), 'note', '\(secret)');
      """)
    try store.purge(zoe)
    #expect(try filesContaining(secret) == [])
    #expect(try folder.shell("SELECT count(*) FROM displaced_users") == "0\n")
    #expect(try folder.shell("SELECT user_id FROM displaced_attributes") == "99\n")
  }

  @Test func `while an older state is being read, a purge reports that a copy is left`() throws {
    try fill()
    let reader = try PlainConnection(folder.database)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    #expect(try !store.purge(zoe).isErased)
    #expect(try store.allChanges().flatMap { try $0.changes }.allSatisfy { $0.user != zoe || $0.old.isNull })
    try reader.script("COMMIT")
    let again = try store.purge(zoe)
    #expect(again.isErased && again.blanked == 0)
    #expect(try filesContaining(secret) == [])
  }

  @Test func `a purge with vacuum removes copies that page splits left`() throws {
    var random = SplitMix64(seed: 5)
    for number in 0..<60 {
      let user = try store.write { try $0.add(name: "\(number)") }
      for _ in 0..<20 {
        let name = String(repeating: "secret-of-\(user)-", count: Int.random(in: 1...30, using: &random))
        let attribute = Attribute<String>("\("abcdefgh".randomElement(using: &random)!)")
        try store.write { try $0.set(attribute, of: user, to: name) }
      }
      if number % 2 == 0 { try store.write { try $0.remove(user) } }
    }
    let changes = try store.allChanges().flatMap { try $0.changes }
    let gone = changes.filter { $0.kind == .removed && $0.attribute == "name" }
    for change in gone.dropLast() { try store.purge(change.user) }
    let before = try store.allChanges().map(\.cursor)
    #expect(try store.purge(gone.last!.user, vacuums: true).isErased)
    for change in gone { #expect(try filesContaining("secret-of-\(change.user)-") == []) }
    #expect(try !filesContaining("secret-of-3-").isEmpty)
    #expect(try store.allChanges().map(\.cursor) == before)
    try store.write { try $0.add(name: "next") }
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  @Test func `the counted size stays correct after a purge`() throws {
    try fill()
    let policy = RetentionPolicy(.init(bytes: 100_000))
    try store.compact(keeping: policy)
    try store.purge(zoe)
    let plain = try PlainConnection(folder.database)
    let counted = try plain.value("SELECT bytes FROM meta")
    let sum = """
      SELECT sum(64 + CASE typeof(old) WHEN 'null' THEN 0 WHEN 'integer' THEN 8 ELSE length(CAST(old AS BLOB)) END
        + coalesce(length(CAST(new AS BLOB)), 0)) FROM changes, meta WHERE seq > horizon AND seq <= measured
      """
    #expect(try plain.value(sum) == counted)
    #expect(counted != 0)
  }

  @Test func `the size of a set that is being counted stays correct as well`() throws {
    try store.write { transaction in for number in 0..<50 { try transaction.rename(zoe, to: "\(secret) \(number)") } }
    try fill()
    var policy = RetentionPolicy(.init(changes: 0))
    policy.readRows = 5
    let session = try folder.session()
    var extent = try session.extent(assuming: nil)
    while extent.sized < 20 {
      let step = try CompactionStep(in: extent, keeping: policy, at: 0, session)
      try session.execute("BEGIN IMMEDIATE")
      #expect(try step.perform(session))
      try session.execute("COMMIT")
      extent = try session.extent(assuming: nil)
    }
    #expect(extent.horizon.revision.rawValue == 3 && extent.size > 17 * 64)
    try store.purge(zoe)
    let size = try session.size(after: 3, through: extent.sized, limit: 1_000).bytes
    let purged = try session.extent(assuming: nil)
    #expect(purged.size == size && purged.sized == extent.sized && size < extent.size)
  }

  @Test func `the file is rewritten only by a purge that is asked to, awaited or not`() async throws {
    func freePages() throws -> Int { Int(try folder.plain().text("PRAGMA freelist_count") ?? "") ?? -1 }
    try fill()
    #expect(try await store.purge(zoe).isErased && freePages() > 0)
    #expect(try await store.purge(zoe, vacuums: true).isErased && freePages() == 0)
  }

  @Test func `a purge of thousands of changes runs in steps, in memory too`() async throws {
    for store in [store, try UserStore.forTests(configuration: .init())] {
      let user = try await store.write { try $0.add(name: "new") }
      try await store.write { transaction in for number in 0..<3_500 { try transaction.rename(user, to: "\(number)") } }
      try await store.write { try $0.remove(user) }
      let purge = try await store.purge(user)
      #expect(purge.found == 3_504 && purge.blanked == 3_502 && purge.isErased)
      #expect(try store.allChanges().flatMap { try $0.changes }.filter { $0.user == user }.allSatisfy { $0.new.isNull })
    }
  }

  @Test func `a purge that is canceled stops between two steps, and completes if it is canceled after the last step`()
    throws
  {
    let user = try store.write { try $0.add(name: "new") }
    try store.write { transaction throws in for number in 0..<1_500 { try transaction.rename(user, to: "\(number)") } }
    try store.write { transaction throws in for id in [user, zoe] { try transaction.remove(id) } }
    let writer = try #require(store.writer)
    #expect(throws: CancellationError.self) { try writer.purge(user, vacuums: false) { true } }
    #expect(try store.purge(user).blanked == 503, "one step was committed before the error")
    let purge = try writer.purge(zoe, vacuums: false) { true }
    #expect(purge.blanked == 2 && purge.isErased)
    #expect(try filesContaining(secret) == [])
  }

  @Test func `a step changes at most a thousand rows`() throws {
    let user = try store.write { try $0.add(name: "new") }
    try store.write { transaction throws in for number in 0..<2_500 { try transaction.rename(user, to: "\(number)") } }
    try store.write { try $0.remove(user) }
    let session = try folder.session()
    var (counts, position): ([Int], Int64?) = ([], nil)
    while true {
      let step = try PurgeStep(of: user, after: position, session)
      try session.execute("BEGIN IMMEDIATE")
      try step.perform(session)
      try session.execute("COMMIT")
      counts.append(step.count)
      if step.isLast { break }
      position = step.position
    }
    #expect(counts.allSatisfy { $0 <= 1_000 } && counts.reduce(0, +) == 2_502)
  }
}

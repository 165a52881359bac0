import Testing

@testable import UserStore

/// Files that earlier versions of the library created.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct MigrationTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test func `the compiled schema is what the migrations create`() throws {
    // If not, run scripts/update-schema.
    #expect(try SchemaCheck.latest == SchemaCheck.objects(Migration.latest))
  }

  @Test(arguments: Migration.oldest..<Migration.latest)
  func `an older file keeps its records, its log and its cursors`(_ version: Int64) throws {
    try folder.makeOld(version, "INSERT INTO users (name) VALUES ('NIX'); UPDATE users SET name = 'Zoë';")
    let epoch = try #require(Int64(folder.shell("SELECT epoch FROM meta").dropLast()))
    let store = try folder.open()
    #expect(try store.read { try $0.users().map { try $0.name } } == ["Zoë"])
    #expect(try store.read { try $0.cursor }.epoch == epoch)
    #expect(try store.page(after: nil).flatMap { try $0.changes }.count == 3)
    #expect(try folder.shell("PRAGMA user_version") == "\(Migration.latest)\n")
  }

  @Test(arguments: Migration.oldest..<Migration.latest)
  func `an older file with missing triggers is repaired before the migration, with a new epoch`(_ version: Int64) throws
  {
    try folder.makeOld(version, "DROP TRIGGER users_after_update; INSERT INTO users (name) VALUES ('NIX');")
    let epoch = try #require(Int64(folder.shell("SELECT epoch FROM meta").dropLast()))
    let store = try folder.open()
    try store.write { try $0.rename(User.ID(1), to: "Zoë") }
    #expect(try store.read { try $0.cursor }.epoch != epoch)
    #expect(try store.page(after: nil).last?.changes.map(\.new) == [.text("Zoë")])
  }

  @Test(arguments: Migration.oldest..<Migration.latest)
  func `an older file with a changed schema is not migrated`(_ version: Int64) throws {
    try folder.makeOld(version, "CREATE TRIGGER extra AFTER INSERT ON migrations BEGIN DELETE FROM users; END;")
    #expect(code { try folder.open() } == .schemaChanged)
    #expect(try folder.shell("PRAGMA user_version") == "\(version)\n")
  }

  @Test(arguments: Migration.oldest..<Migration.latest)
  func `an older file is refused for reading until it has been opened for writing`(_ version: Int64) throws {
    try folder.makeOld(version)
    var configuration = Configuration()
    configuration.access = .readOnly
    #expect(code { try UserStore(path: folder.database, configuration: configuration) } == .schemaTooOld)
  }

  @Test(arguments: 1..<Migration.oldest, ["", "DROP TRIGGER users_after_update;"])
  func `a file of a layout before the oldest is refused with a way out, and left unchanged`(
    _ version: Int64, _ damage: String
  ) throws {
    try folder.makeOld(Migration.oldest, "\(damage) PRAGMA user_version = \(version)")
    let before = try folder.rows()
    for access in [Configuration.Access.createIfMissing, .readWrite, .readOnly] {
      let error = #expect(throws: StoreError.self) { try folder.open { $0.access = access } }
      #expect(error?.code == .schemaTooOld && error?.hint?.contains("export the users") == true, "\(error as Any)")
    }
    #expect(try folder.rows() == before)
    #expect(try folder.shell("PRAGMA user_version") == "\(version)\n")
  }

  @Test func `a file of five migrations is as one that the first migration makes`() throws {
    try folder.makeOld(5)
    try folder.shell(
      """
      DELETE FROM migrations;
      INSERT INTO migrations VALUES (1, 'users_and_changes', 'a'), (2, 'consumers', 'b'), (3, 'log_size', 'c'),
        (4, 'log_keys_and_search', 'd'), (5, 'indexes', 'e')
      """)
    _ = try folder.open().write { try $0.add(name: "Zoë") }
    #expect(try folder.shell("SELECT number FROM migrations") == (1...Migration.latest).map { "\($0)\n" }.joined())
    _ = try folder.open()
  }

  @Test(arguments: [
    "INSERT INTO users (id, name) VALUES (9223372036854775807, 'last')",
    "INSERT INTO sqlite_sequence (name, seq) VALUES ('users', 9223372036854775807)",
  ])
  func `an older file that has given the largest id gives no new ids, and accepts chosen ids`(_ records: String) throws
  {
    try folder.makeOld(5)
    try folder.withoutTriggers(records)
    let store = try folder.open()
    let error = #expect(throws: StoreError.self) { try store.write { try $0.add(name: "Zoë") } }
    #expect(
      error?.code == .corrupt && error?.message.contains("no id is left for a new user") == true, "\(error as Any)")
    #expect(try store.check().filter { $0.kind == .value }.map(\.severity) == [.problem])
    try store.write { transaction throws in _ = try transaction.add([("name", .text("Zoë"))], as: User.ID(7)) }
    #expect(try store.read { try $0.user(User.ID(7))?.name } == "Zoë")
  }
}

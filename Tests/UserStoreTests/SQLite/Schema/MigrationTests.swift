import Testing

@testable import UserStore

/// Files that earlier versions of the library created.
@Suite(.bounded, .timeLimit(.minutes(5))) struct MigrationTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test func `the compiled schema is what the migrations create`() throws {
    // If not, run scripts/update-schema.
    #expect(try SchemaCheck.latest == SchemaCheck.objects(Migration.latest))
  }

  @Test(arguments: 1..<Migration.all.count)
  func `an older file keeps its records, its log and its cursors`(_ version: Int) throws {
    try folder.makeOld(version, "INSERT INTO users (name) VALUES ('NIX'); UPDATE users SET name = 'Zoë';")
    let epoch = try #require(Int64(folder.shell("SELECT epoch FROM meta").dropLast()))
    let store = try folder.open()
    #expect(try store.read { try $0.users().map { try $0.name } } == ["Zoë"])
    #expect(try store.read { try $0.cursor }.epoch == epoch)
    #expect(try store.page(after: nil).flatMap { try $0.changes }.count == 3)
    #expect(try folder.shell("PRAGMA user_version") == "\(Migration.latest)\n")
  }

  @Test(arguments: 1..<Migration.all.count)
  func `an older file with missing triggers is repaired before the migration, with a new epoch`(_ version: Int) throws {
    try folder.makeOld(version, "DROP TRIGGER users_after_update; INSERT INTO users (name) VALUES ('NIX');")
    let epoch = try #require(Int64(folder.shell("SELECT epoch FROM meta").dropLast()))
    let store = try folder.open()
    try store.write { try $0.rename(User.ID(1), to: "Zoë") }
    #expect(try store.read { try $0.cursor }.epoch != epoch)
    #expect(try store.page(after: nil).last?.changes.map(\.new) == [.text("Zoë")])
  }

  @Test(arguments: 1..<Migration.all.count)
  func `an older file with a changed schema is not migrated`(_ version: Int) throws {
    try folder.makeOld(version, "CREATE TRIGGER extra AFTER INSERT ON migrations BEGIN DELETE FROM users; END;")
    #expect(code { try folder.open() } == .schemaChanged)
    #expect(try folder.shell("PRAGMA user_version") == "\(version)\n")
  }

  @Test(arguments: 1..<Migration.all.count)
  func `an older file is refused for reading until it has been opened for writing`(_ version: Int) throws {
    try folder.makeOld(version)
    var configuration = Configuration()
    configuration.access = .readOnly
    #expect(code { try UserStore(path: folder.database, configuration: configuration) } == .schemaTooOld)
  }

  @Test(arguments: [
    "INSERT INTO users (id, name) VALUES (9223372036854775807, 'last')",
    "INSERT INTO users (name) VALUES ('x'); UPDATE sqlite_sequence SET seq = 9223372036854775807",
  ])
  func `an older file that has given the largest id gives no new ids, and accepts chosen ids`(_ records: String) throws
  {
    try folder.makeOld(3, records)
    let store = try folder.open()
    let error = #expect(throws: StoreError.self) { try store.write { try $0.add(name: "Zoë") } }
    #expect(
      error?.code == .corrupt && error?.message.contains("no id is left for a new user") == true, "\(error as Any)")
    #expect(try store.check().filter { $0.kind == .value }.map(\.severity) == [.problem])
    try store.write { transaction throws in _ = try transaction.add([("name", .text("Zoë"))], as: User.ID(7)) }
    #expect(try store.read { try $0.user(User.ID(7))?.name } == "Zoë")
  }
}

import TestSupport
import Testing

@testable import UserStore

/// Unique attributes in a file: against other programs, without their triggers, and in copies.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct UniqueSchemaTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { users in
      for name in ["Zoë", "NIX", "Eve"] { try users.set("email", of: users.add(name: name), to: .text("\(name)@x.de")) }
    }
  }

  private func found() throws -> [Finding] {
    try UserStore.check(path: folder.database).filter { $0.kind != .library && $0.kind != .permissions }
  }

  private func objects() throws -> String {
    try folder.shell("SELECT type, name, sql FROM sqlite_schema WHERE name LIKE 'userstore_unique_%' ORDER BY name")
  }

  @Test func `another program is refused, in every form of its statement`() throws {
    try store.addUnique(on: "email", ignoringCase: true)
    let statements = [
      "UPDATE attributes SET value = 'zoë@X.de' WHERE user_id = 2",
      "UPDATE OR REPLACE attributes SET value = 'Zoë@x.de' WHERE user_id = 2",
      "UPDATE OR FAIL attributes SET value = 'Zoë@x.de' WHERE user_id = 2",
      "REPLACE INTO attributes (user_id, name, value) VALUES (2, 'email', 'Zoë@x.de')",
      "INSERT INTO attributes (user_id, name, value) VALUES (2, 'email', 'Zoë@x.de') ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value",
      "INSERT OR IGNORE INTO attributes (user_id, name, value) SELECT id + 1, 'email', 'new@x.de' FROM users WHERE id < 4; INSERT INTO users (name) VALUES ('x')",
      "UPDATE attributes SET value = lower(value)  || '' WHERE user_id = 2; UPDATE attributes SET value = 'EVE@x.de' WHERE user_id = 1",
    ]
    for statement in statements {
      let before = try folder.rows()
      #expect(throws: (any Error).self, "\(statement)") { try folder.shell("BEGIN; \(statement); COMMIT") }
      let script = "BEGIN; \(statement); ROLLBACK"
      _ = try? folder.shell(script)
      #expect(try folder.rows() == before, "\(statement)")
    }
    // An upsert that stores nothing is not refused.
    try folder.shell(
      "INSERT INTO attributes (user_id, name, value) VALUES (2, 'email', 'Zoë@x.de') ON CONFLICT (user_id, name) DO NOTHING"
    )
    let messages = try found().filter { $0.severity == .problem }.map(\.message)
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func `a user who is replaced does not conflict with its own value`() throws {
    try store.addUnique(on: "email")
    try store.addUnique(on: .name)
    try folder.shell(
      "REPLACE INTO users (id, name) VALUES (1, 'Zoë'); INSERT INTO attributes (user_id, name, value) VALUES (1, 'email', 'Zoë@x.de')"
    )
    #expect(throws: (any Error).self) { try folder.shell("REPLACE INTO users (id, name) VALUES (1, 'NIX')") }
    #expect(try store.read { try $0.users().map { try $0.name } } == ["Zoë", "NIX", "Eve"])
    #expect(try found() == [])
  }

  @Test(arguments: [
    "DROP TRIGGER userstore_unique_insert_email", "DROP TRIGGER userstore_unique_update_email",
    "DROP INDEX userstore_unique_index_email",
    "DROP INDEX userstore_unique_index_email; CREATE INDEX userstore_unique_index_email ON attributes (value)",
    "DROP TRIGGER userstore_unique_insert_email; CREATE TRIGGER userstore_unique_insert_email AFTER INSERT ON attributes BEGIN SELECT 1; END",
  ])
  func `what is missing or changed is noticed, and opening for writing creates it again`(_ damage: String) throws {
    try store.addUnique(on: "email", ignoringCase: true)
    store.close()
    let (before, epoch) = (try objects(), try folder.shell("SELECT epoch FROM meta"))
    try folder.shell(damage)
    #expect(try found().map(\.kind) == [.schema])
    // Reading is as exact as before.
    let reader = try folder.open { $0.access = .readOnly }
    #expect(try reader.read { try $0.user(where: "email", is: .text("zoë@x.de")) }?.id == User.ID(1))
    reader.close()
    let repaired = try folder.open()
    #expect(try objects() == before && folder.shell("SELECT epoch FROM meta") == epoch)
    #expect(code { try repaired.write { try $0.set("email", of: User.ID(2), to: .text("ZOë@x.de")) } } == .notUnique)
    #expect(try found() == [])
  }

  @Test func `duplicates that came while a trigger was missing are found, and stay until somebody changes them`() throws
  {
    try store.addUnique(on: "email")
    store.close()
    try folder.shell(
      "DROP TRIGGER userstore_unique_update_email; UPDATE attributes SET value = 'same'; UPDATE users SET name = 'same'"
    )
    let repaired = try folder.open()
    #expect(try found().map(\.message) == ["users 1, 2, 3 have the same email, which is unique: “same”"])
    #expect(
      try repaired.read { try $0.duplicates(of: "email") }.map(\.users) == [[User.ID(1), User.ID(2), User.ID(3)]])
    try repaired.write { users in
      try users.set("email", of: User.ID(1), to: .text("Zoë@x.de"))
      try users.set("email", of: User.ID(2), to: .null)
    }
    #expect(try found() == [])
  }

  @Test(arguments: [
    "INSERT INTO userstore_unique VALUES ('id', 0)", "INSERT INTO userstore_unique VALUES ('', 0)",
    "INSERT INTO userstore_unique VALUES (char(10), 1)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO userstore_unique SELECT i, 0 FROM n",
    "DELETE FROM userstore_unique", "UPDATE userstore_unique SET attribute = 'other'",
    "DROP TABLE userstore_unique; CREATE VIEW userstore_unique AS SELECT 'a' AS attribute, 0 AS ignores_case",
    "CREATE TRIGGER userstore_unique_insert_x AFTER INSERT ON attributes BEGIN DELETE FROM users; END",
    "CREATE INDEX userstore_unique_index_x ON attributes (abs(value))",
  ])
  func `a hostile record of unique attributes is refused before anything runs`(_ damage: String) throws {
    try store.addUnique(on: "email")
    store.close()
    try folder.shell(damage)
    let before = try folder.rows()
    for access in [Configuration.Access.readWrite, .readOnly] {
      #expect(code { try folder.open { $0.access = access } } == .schemaChanged, "\(access)")
    }
    #expect(try found().map(\.kind) == [.schema])
    #expect(try folder.rows() == before)
  }

  @Test func `a rule that another process makes or removes holds at once`() throws {
    let email = { (text: String) in try self.store.user(where: Attribute<String>.email, is: text)?.id }
    let other = try folder.open()
    #expect(code { try email("Eve@x.de") } == .badValue)
    // Several values are compared with the rules that the writer knows.
    try store.write { try $0.set([("age", .integer(1)), ("email", .text("Zoë@x.de"))], of: User.ID(1)) }
    #expect(try other.addUnique(on: "email"))
    #expect(try email("Eve@x.de") == User.ID(3))
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.set("email", of: User.ID(1), to: .text("Eve@x.de")) }
    }
    #expect(error?.notUnique?.user == User.ID(3))
    #expect(try other.removeUnique(on: "email"))
    #expect(code { try email("Eve@x.de") } == .badValue)
    try store.write { try $0.set("email", of: User.ID(1), to: .text("Eve@x.de")) }
  }

  @Test func `a backup has the rules, and a restore keeps those of the store and is refused if it breaks one`() throws {
    let backup = folder.path + "/backup.db"
    try store.write { try $0.set("email", of: User.ID(2), to: .text("ZOË@x.de")) }
    try store.write { try $0.set("email", of: User.ID(3), to: .text("Zoë@x.de")) }
    try store.backup(to: backup)
    try store.write { try $0.set("email", of: User.ID(3), to: .null) }
    try store.addUnique(on: "email")
    let rows = try folder.rows()
    let error = #expect(throws: StoreError.self) { try store.restore(from: backup) }
    #expect(error?.code == .notUnique && error?.message.contains("“Zoë@x.de” (users 1, 3)") == true, "\(error as Any)")
    #expect(try folder.rows() == rows)
    #expect(code { try store.write { try $0.set("email", of: User.ID(3), to: .text("Zoë@x.de")) } } == .notUnique)
    let other = folder.path + "/other.db"
    try store.backup(to: other)
    let copy = try UserStore(path: other)
    #expect(try copy.read { try $0.uniqueAttributes }.map(\.attribute) == ["email"])
    try store.removeUnique(on: "email")
    try store.restore(from: backup)
    #expect(try store.read { try $0.uniqueAttributes.isEmpty })
  }

  @Test func `a canceled addUnique changes nothing`() throws {
    let before = try objects()
    var count = 0
    let isCanceled = { () -> Bool in
      count += 1
      return count < 2
    }
    try folder.shell(
      """
      BEGIN; INSERT INTO users (name)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT 'user ' || i FROM n;
      INSERT INTO attributes (user_id, name, value) SELECT id, 'code', id FROM users; COMMIT
      """)
    let index = AttributeIndex(on: "code", .unique)
    #expect(code { try store.addIndex(index, while: isCanceled) } == .closed)
    #expect(try objects() == before && store.read { try $0.uniqueAttributes.isEmpty })
    #expect(try store.addUnique(on: "code"))
    #expect(try found() == [])
  }

  @Test func `a unique value is found by its index`() throws {
    for (attribute, ignoresCase) in [("email", true), ("code", false), ("name", true)] as [(AttributeName, Bool)] {
      try store.addUnique(on: attribute, ignoringCase: ignoresCase)
      let index = AttributeIndex(uniqueOn: attribute, ignoringCase: ignoresCase)
      let sql = index.holder.text.replacing("?1", with: "'x'").replacing("?2", with: "1")
      let plan = try folder.shell("EXPLAIN QUERY PLAN \(sql)")
      #expect(plan.contains("USING") && plan.contains("\(AttributeIndex.uniquePrefix)index_\(attribute)"), "\(plan)")
      let condition = Condition(attribute, .equal, .text("x"))
      let query = QuerySQL(counting: condition, indexes: [index])
      let counting = query.values.reduce(query.text) {
        $0.replacing("?", with: $1 == .text("x") ? "'x'" : "0", maxReplacements: 1)
      }
      let queryPlan = try folder.shell("EXPLAIN QUERY PLAN \(counting)")
      #expect(queryPlan.contains("\(AttributeIndex.uniquePrefix)index_\(attribute)"), "\(counting)\n\(queryPlan)")
    }
  }
}

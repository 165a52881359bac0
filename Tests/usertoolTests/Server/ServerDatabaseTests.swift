import Foundation
import TestSupport
import Testing

/// usertool on PostgreSQL, which usertool-postgres runs; only in `scripts/postgres run`.
@Suite(.bounded, .serialized, .enabled(if: Workspace.server != nil, "there is no server"))
struct `A database on a server` {
  private let workspace: Workspace

  init() throws { workspace = try Workspace() }

  private func psql(_ sql: String) throws -> String { try workspace.psql(sql) }

  @Test func `init creates the schema once, and nothing else does without being asked`() throws {
    let missing = try workspace.run("list")
    #expect(missing.status == 66 && missing.errors.contains("hint: create it with usertool init"), "\(missing)")
    #expect(try workspace.run("init", "-n").errors == "dry run: would create \(workspace.database)\n")
    #expect(try psql("SELECT to_regnamespace('userstore') IS NULL") == "t")
    #expect(try workspace.run("init").errors == "created \(workspace.database)\n")
    #expect(try workspace.run("init").errors == "unchanged: \(workspace.database) already exists\n")
    #expect(try workspace.run("--db", workspace.database, "list").output.isEmpty)
  }

  @Test func `init gives roles rights, and says which it does not know`() throws {
    // Roles are those of the whole server, which other tests share.
    let (app, reports) = ("app \(UUID())", "reports \(UUID())")
    func isAllowed(_ role: String, _ privilege: String, on table: String) throws -> Bool {
      try psql("SELECT has_table_privilege('\(role)', 'userstore.\(table)', '\(privilege)')") == "t"
    }
    for role in [app, reports] { _ = try psql("CREATE ROLE \"\(role)\"") }
    defer { for role in [app, reports] { _ = try? psql("DROP OWNED BY \"\(role)\"; DROP ROLE \"\(role)\"") } }
    let dry = try workspace.run("init", "-n", "--writer", app)
    #expect(dry.errors.hasSuffix("dry run: would let \(app) read and write\n"), "\(dry)")
    let created = try workspace.run("init", "--writer", app, "--reader", reports)
    #expect(created.errors.hasSuffix("\(reports) may read\n\(app) may read and write\n"), "\(created)")
    #expect(try isAllowed(app, "UPDATE", on: "users") && !isAllowed(app, "INSERT", on: "changes"))
    #expect(try isAllowed(reports, "SELECT", on: "changes") && !isAllowed(reports, "UPDATE", on: "users"))
    let address = workspace.database + "?options=-c%20role%3D" + reports.replacing(" ", with: "%5C%20")
    let refused = try workspace.run("--db", address, "add", "NIX")
    #expect(refused.status == 77 && refused.errors.contains("hint: ask the owner of the database"), "\(refused)")
    // A layout that nobody can migrate.
    let layout = try psql("SELECT layout FROM userstore.meta")
    _ = try psql("UPDATE userstore.meta SET layout = 0")
    let old = try workspace.run("--db", address, "list")
    #expect(old.status == 65 && old.errors.contains("hint: export the users"), "\(old)")
    _ = try psql("UPDATE userstore.meta SET layout = \(layout)")
    // Again, with less.
    #expect(try workspace.run("init", "--reader", app).status == 0)
    #expect(try isAllowed(app, "SELECT", on: "users") && !isAllowed(app, "UPDATE", on: "users"))
    #expect(try workspace.run("check").status == 0)
    for role in ["nobody", "public", "", "\u{1b}[31m"] {
      let outcome = try workspace.run("init", "--writer", role)
      #expect(outcome.status != 0 && outcome.errors.contains("hint: create it in psql"), "\(outcome)")
      #expect(!outcome.errors.contains("\u{1b}"), "\(outcome)")
    }
    #expect(try workspace.run("init", "--writer", app, "--reader", app).status == 64)
    #expect(try workspace.run("init", "--writer", app, "--db", workspace.folder + "/users.db").status == 64)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: workspace.folder).contains("users.db"))
  }

  @Test func `text that PostgreSQL cannot hold is a bad record, and the others are imported`() throws {
    try workspace.run("init")
    let lines = [
      #"{"name":"A","note":{"text_base64":"Yf8="},"zero":"a\u0000b"}"#, #"{"name":{"text_base64":"Yf8="}}"#,
      #"{"name":"B","hair_color":{"text_base64":"AA=="}}"#, #"{"name":"C","x":1,":=a\u0000b":1}"#,
      #"{"name":{"text_base64":""},"hair_color":{"text_base64":"emVicmE="}}"#,
    ]
    try workspace.write(Data(lines.joined(separator: "\n").utf8), to: "in.jsonl")
    let path = workspace.folder + "/in.jsonl"
    let outcome = try workspace.run("import", path, "--skip-bad")
    #expect(outcome.errors.contains("in.jsonl:2: PostgreSQL cannot store the name: it has text that is"), "\(outcome)")
    #expect(outcome.errors.contains("in.jsonl:3: PostgreSQL cannot store the hair_color: it has a NUL"), "\(outcome)")
    #expect(outcome.errors.contains("in.jsonl:4: PostgreSQL cannot store an attribute whose name"), "\(outcome)")
    #expect(outcome.errors.hasSuffix("imported 2 users (3 skipped) as one change set\n"), "\(outcome)")
    #expect(
      try workspace.run("export").lines.map { $0.split(separator: ",", maxSplits: 1)[1] } == [
        #""name":"A","hair_color":null,"note":{"text_base64":"Yf8="},"zero":"a\u0000b"}"#,
        #""name":{"text_base64":""},"hair_color":{"text_base64":"emVicmE="}}"#,
      ])
  }

  @Test func `records are written, read, listed, undone, and moved`() throws {
    #expect(try workspace.run("add", "NIX", "--hair-color", "auburn", "--set", "age=41").output == "1\n")
    #expect(try workspace.run("add", "Zoë").output == "2\n")
    #expect(try workspace.run("rename", "NIX", "Nixie").status == 0)
    #expect(try workspace.run("get", "1", "name").output == "Nixie\n")
    #expect(
      try workspace.run("list", "--where", "age>=18", "--format", "plain").output == "1\tNixie\t#a52a2a\tage=41\n")
    let renamed = try #require(workspace.run("log", "--format", "jsonl").lines.last)
    #expect(renamed.contains(#""op":"update","user":1,"attribute":"name","old":"NIX","new":"Nixie""#))
    #expect(try workspace.run("undo").status == 0)
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
    #expect(try workspace.run("index", "add", "age").status == 0)
    #expect(try workspace.run("index", "list").output == "age\n")
    let exported = try workspace.run("export").output
    try workspace.write(Data(exported.utf8), to: "users.jsonl")
    let lines = workspace.folder + "/users.jsonl"
    #expect(try workspace.run("remove", "2", "--yes").status == 0)
    let other = try Workspace()
    #expect(try other.run("import", lines).status == 0)
    #expect(try other.run("export").output == exported)
    let file = workspace.folder + "/users.db"
    #expect(try workspace.run("--db", file, "import", lines).status == 0)
    #expect(try workspace.run("--db", file, "export").output == exported)
  }

  @Test func `a watch prints the changes of usertool and of psql, in order`() throws {
    try workspace.run("add", "NIX")
    let watcher = try workspace.start(
      "watch", "--per-change", "--no-initial", "--consumer", "sync", "--count", "3")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "NIX", "one")
    _ = try psql("UPDATE userstore.users SET name = 'two'")
    try workspace.run("rename", "two", "three")
    let lines = try watcher.output.next(3).map(Line.decode)
    #expect(lines.map(\.old) == [.text("NIX"), .text("one"), .text("two")])
    #expect(lines.map(\.new) == [.text("one"), .text("two"), .text("three")])
    #expect(watcher.wait() == 0)
    #expect(try workspace.run("consumers", "--format", "plain").output.hasPrefix("sync\t"))
  }

  @Test func `a write prints its own changes, not those that were committed after it began`() throws {
    try workspace.run("add", "NIX")
    // Commits when the write waits for the row, and so has begun.
    let waiting = "SELECT FROM pg_locks l WHERE NOT l.granted AND l.transactionid = pg_current_xact_id()::xid"
    let name = String(workspace.database.dropFirst("postgres:///".count))
    let other = try workspace.start([
      "psql", "-qtAX", "-d", name,
      "-c", "BEGIN", "-c", "UPDATE userstore.users SET name = 'theirs'", "-c", "\\echo locked",
      "-c", "DO $$ BEGIN WHILE NOT EXISTS (\(waiting)) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$", "-c", "COMMIT",
    ])
    #expect(other.output.next(1) == ["locked"])
    let lines = try workspace.run("rename", "1", "ours", "--format", "jsonl", "--listener", "Title=name").lines
    #expect(other.wait() == 0)
    #expect(lines.count == 1 && lines[0].contains(#""old":"theirs","new":"ours""#), "\(lines)")
  }

  @Test func `a write whose changes cannot be printed says that it was committed`() throws {
    try workspace.run("add", "NIX")
    // The log cannot be read any more as soon as the write is committed. More changes than a page has are read after that.
    _ = try psql(
      """
      INSERT INTO userstore.attributes (user_id, name, integer) SELECT 1, 'a' || g, g FROM generate_series(1, 1100) g;
      CREATE FUNCTION hide() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN ALTER FUNCTION userstore.log_rows RENAME TO hidden; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hide AFTER DELETE ON userstore.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        EXECUTE FUNCTION hide();
      """)
    let removed = try workspace.run("remove", "1", "--yes")
    #expect(removed.status == 1 && removed.errors.contains("cannot read the log"), "\(removed.errors)")
    #expect(removed.errors.contains("hint: the write was committed, as revision "), "\(removed.errors)")
    #expect(try psql("SELECT count(*) FROM userstore.users") == "0")
  }

  @Test func `check lists what is damaged, also if the store cannot be opened`() throws {
    try workspace.run("add", "NIX")
    let sound = try workspace.run("check")
    #expect(sound.status == 0 && sound.output.isEmpty && !sound.errors.contains("SQLite"), "\(sound)")
    _ = try psql(
      "ALTER TABLE userstore.users DISABLE TRIGGER \"A_userstore_updated\"; UPDATE userstore.users SET name = 'x'")
    let damaged = try workspace.run("check", "--format", "plain")
    #expect(damaged.status == 1, "\(damaged)")
    #expect(damaged.lines.contains { $0.hasPrefix("problem\ttrigger\t") }, "\(damaged)")
    #expect(damaged.lines.contains { $0.hasPrefix("problem\tlog\t1\tname\t") }, "\(damaged)")
    #expect(try workspace.run("list").status == 65)
    let repair = try workspace.run("check", "--repair")
    #expect(repair.status == 64 && repair.errors.contains("SELECT userstore.renew()"), "\(repair)")
    // What the hint says.
    _ = try psql("ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER \"A_userstore_updated\"; SELECT userstore.renew()")
    #expect(try workspace.run("check").status == 0)
    #expect(try workspace.run("get", "1", "name").output == "x\n")
  }

  @Test func `what only a file has says what to use instead`() throws {
    try workspace.run("add", "NIX")
    let backup = try workspace.run("backup", workspace.folder + "/backup.db")
    #expect(backup.status == 1 && backup.errors.contains("pg_dump"), "\(backup)")
    let restore = try workspace.run("restore", workspace.folder + "/backup.db")
    #expect(restore.status == 1 && restore.errors.contains("pg_restore"), "\(restore)")
    #expect(try workspace.run("get", "1", "name").output == "NIX\n")
  }

  @Test func `what the server refuses has a hint that says what to do`() throws {
    let missing = try workspace.run("--db", workspace.database + "x", "list")
    #expect(missing.status == 66 && missing.errors.contains("hint: create the database with createdb"), "\(missing)")
    let unknown = try workspace.run("--db", "postgres://nowhere.invalid/x", "list")
    #expect(unknown.status == 66 && unknown.errors.contains("hint: no machine has this name"), "\(unknown)")
    let port = try workspace.run("--db", "postgres://db.example.com:99999/x", "list")
    #expect(port.status == 64 && port.errors.contains("the port in the address"), "\(port)")
    for outcome in [missing, unknown, port] { #expect(!outcome.errors.contains("psql"), "\(outcome)") }
  }

  @Test func `a password is neither accepted as an argument nor shown`() throws {
    for address in [
      "postgres://me:secret@nowhere.test/x", "postgresql://me:se@cret@nowhere.test/x",
      "postgres://me:sec?cret@nowhere.test/x", "postgres://me:1/cret@nowhere.test/x",
      "postgres://nowhere.test/x?password=secret", "postgres://nowhere.test/x?a=b&%70assword=secret",
    ] {
      let argument = try workspace.run("--db", address, "list")
      #expect(argument.status == 64 && argument.errors.contains("PGPASSWORD"), "\(argument)")
      let variable = try workspace.run("init", environment: ["USERTOOL_DB": address])
      #expect(variable.status == 66 && !variable.description.contains("cret"), "\(variable)")
      #expect(variable.errors.contains("\nusertool: hint: "), "\(variable)")
    }
  }
}

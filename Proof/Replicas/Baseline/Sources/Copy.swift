import GRDB

/// The file: the users, and the outbox.
struct Copy: Sendable {
  struct Row: Sendable {
    let id: Int64
    let user: Int64
    let attribute: String
    let value: Value
  }

  private let database: DatabasePool

  init(path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    database = try DatabasePool(path: path, configuration: configuration)
    try database.write { db in
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hair_color TEXT);
          CREATE TABLE IF NOT EXISTS attributes (user_id INTEGER NOT NULL, name TEXT NOT NULL, value ANY NOT NULL, UNIQUE (user_id, name)) STRICT;
          CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL, attribute TEXT NOT NULL, value ANY) STRICT;
          CREATE INDEX IF NOT EXISTS outbox_key ON outbox (user_id, attribute);
          -- applying: 1 within a transaction that writes what came from the server, which is not sent back.
          CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT, applying INTEGER NOT NULL);
          INSERT OR IGNORE INTO state VALUES (1, NULL, 0);
          CREATE TRIGGER IF NOT EXISTS users_updated AFTER UPDATE ON users WHEN (SELECT applying FROM state) = 0 BEGIN
            INSERT INTO outbox (user_id, attribute, value) SELECT NEW.id, 'name', NEW.name WHERE NEW.name IS NOT OLD.name;
            INSERT INTO outbox (user_id, attribute, value) SELECT NEW.id, 'hair_color', NEW.hair_color WHERE NEW.hair_color IS NOT OLD.hair_color;
          END;
          CREATE TRIGGER IF NOT EXISTS attributes_inserted AFTER INSERT ON attributes WHEN (SELECT applying FROM state) = 0 BEGIN
            INSERT INTO outbox (user_id, attribute, value) VALUES (NEW.user_id, NEW.name, NEW.value);
          END;
          CREATE TRIGGER IF NOT EXISTS attributes_updated AFTER UPDATE ON attributes WHEN (SELECT applying FROM state) = 0 BEGIN
            INSERT INTO outbox (user_id, attribute, value) VALUES (NEW.user_id, NEW.name, NEW.value);
          END;
          CREATE TRIGGER IF NOT EXISTS attributes_deleted AFTER DELETE ON attributes WHEN (SELECT applying FROM state) = 0 BEGIN
            INSERT INTO outbox (user_id, attribute, value) VALUES (OLD.user_id, OLD.name, NULL);
          END;
          """)
    }
  }

  // MARK: The outbox

  func oldest() async throws -> Row? {
    try await database.read { db in
      try GRDB.Row.fetchOne(db, sql: "SELECT id, user_id, attribute, value FROM outbox ORDER BY id LIMIT 1").map {
        Row(id: $0[0], user: $0[1], attribute: $0[2], value: Value($0[3] as DatabaseValue))
      }
    }
  }

  func remove(_ row: Row) async throws {
    try await database.write { db in try db.execute(sql: "DELETE FROM outbox WHERE id = ?", arguments: [row.id]) }
  }

  // MARK: What comes from the server

  func cursor() async throws -> String? {
    try await database.read { db in try String.fetchOne(db, sql: "SELECT cursor FROM state") }
  }

  private func applying(_ cursor: String, _ write: @escaping @Sendable (Database) throws -> Void) async throws {
    try await database.write { db in
      try db.execute(sql: "UPDATE state SET applying = 1")
      try write(db)
      try db.execute(sql: "UPDATE state SET applying = 0, cursor = ?", arguments: [cursor])
    }
  }

  private static func isPending(_ user: Int64, _ attribute: String, _ db: Database) throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM outbox WHERE user_id = ? AND attribute = ?)", arguments: [user, attribute])!
  }

  private static func set(_ attribute: String, of user: Int64, to value: DatabaseValue, _ db: Database) throws {
    if try isPending(user, attribute, db) { return }
    switch attribute {
    case "name", "hair_color":
      try db.execute(sql: "UPDATE users SET \(attribute) = ? WHERE id = ?", arguments: [value, user])
    default:
      if value.isNull {
        try db.execute(sql: "DELETE FROM attributes WHERE user_id = ? AND name = ?", arguments: [user, attribute])
      } else {
        try db.execute(
          sql:
            "INSERT INTO attributes VALUES (?, ?, ?) ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value",
          arguments: [user, attribute, value])
      }
    }
  }

  func apply(_ page: ChangePage) async throws {
    try await applying(page.cursor) { db in
      for change in page.changes {
        let value = change.new?.stored ?? .null
        if change.op == "insert", change.attribute == "name" {
          try db.execute(sql: "INSERT OR IGNORE INTO users (id, name) VALUES (?, ?)", arguments: [change.user, value])
        } else if change.op == "delete", change.attribute == "name" {
          try db.execute(sql: "DELETE FROM attributes WHERE user_id = ?", arguments: [change.user])
          try db.execute(sql: "DELETE FROM users WHERE id = ?", arguments: [change.user])
        } else if change.op != "delete" {
          try Self.set(change.attribute, of: change.user, to: value, db)
        }
      }
    }
  }

  /// Replaces everything but what is still to be sent.
  func install(_ copy: (users: [[String: Value]], cursor: String)) async throws {
    try await applying(copy.cursor) { db in
      var ids: [Int64] = []
      for user in copy.users {
        guard case .integer(let id)? = user["id"], let name = user["name"]?.stored else { continue }
        ids.append(id)
        try db.execute(sql: "INSERT OR IGNORE INTO users (id, name) VALUES (?, ?)", arguments: [id, name])
        for (attribute, value) in user where attribute != "id" { try Self.set(attribute, of: id, to: value.stored, db) }
        for attribute in try String.fetchAll(db, sql: "SELECT name FROM attributes WHERE user_id = ?", arguments: [id])
        where user[attribute] == nil {
          try Self.set(attribute, of: id, to: .null, db)
        }
      }
      for id in try Int64.fetchAll(db, sql: "SELECT id FROM users") where !ids.contains(id) {
        try db.execute(sql: "DELETE FROM attributes WHERE user_id = ?", arguments: [id])
        try db.execute(sql: "DELETE FROM users WHERE id = ?", arguments: [id])
      }
    }
  }
}

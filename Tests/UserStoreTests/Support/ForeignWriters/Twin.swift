import CUserStoreSQLite
import TestSupport

/// The same two tables with the same rules and without a log: the result that a foreign writer expects.
///
/// Its attributes are removed with their user by DELETE triggers, which also fire for REPLACE, because recursive triggers
/// are always on here.
struct Twin {
  private let connection: PlainConnection
  let varying: VaryingFunction

  /// Creates the tables, and the objects of further SQL.
  init(rules: String) throws(PlainError) {
    connection = try PlainConnection()
    varying = VaryingFunction(on: connection)
    try connection.script(Self.schema + rules)
  }

  /// Runs a step that was run on `other`, and compares the results.
  func check(_ step: Step, error: PlainError?, on other: PlainConnection) throws {
    // The library's triggers refuse what the log cannot describe, together with the rows that it would have displaced.
    let isRefused = step.sql.contains("varying") && error?.message.contains("computed twice") == true
    // With an index on the values, SQLite before 3.45.3 refuses some UPSERTs of large values: “database disk image is malformed”.
    let isRefusedByMistake =
      sqlite3_libversion_number() < 3_045_003 && error?.code == SQLITE_CORRUPT | 3 << 8
      && step.sql.contains("ON CONFLICT")
    if step.touchesLog || isRefused || isRefusedByMistake { return }
    let twinError = connection.error(of: step)
    guard twinError?.code == error?.code else {
      throw Mismatch("\(outcome(error)), and without a log \(outcome(twinError))")
    }
    let (tables, twinTables) = (try LogCheck.tables(of: other), try LogCheck.tables(of: connection))
    guard tables == twinTables else {
      throw Mismatch("with a log\n\(LogCheck.show(tables))\nwithout\n\(LogCheck.show(twinTables))")
    }
  }

  private func outcome(_ error: PlainError?) -> String {
    error.map { "fails: \($0)" } ?? "succeeds"
  }

  private static let schema = """
    PRAGMA recursive_triggers = ON;
    CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, hair_color TEXT) STRICT;
    CREATE TABLE attributes (
      user_id INTEGER NOT NULL, name TEXT NOT NULL CHECK (name NOT IN ('id', 'name', 'hair_color')),
      value ANY NOT NULL, UNIQUE (user_id, name)
    ) STRICT;
    CREATE TRIGGER users_key BEFORE UPDATE ON users WHEN NEW.id IS NOT OLD.id
    BEGIN SELECT RAISE(ABORT, 'key'); END;
    CREATE TRIGGER attributes_key BEFORE UPDATE ON attributes
    WHEN NEW.rowid IS NOT OLD.rowid OR NEW.user_id IS NOT OLD.user_id OR NEW.name IS NOT OLD.name
    BEGIN SELECT RAISE(ABORT, 'key'); END;
    CREATE TRIGGER attributes_user BEFORE INSERT ON attributes
    WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id)
    BEGIN SELECT RAISE(ABORT, 'user'); END;
    CREATE TRIGGER users_delete AFTER DELETE ON users
    BEGIN DELETE FROM attributes WHERE user_id = OLD.id; END;

    -- These only keep an id within its bounds. But the existence of triggers changes what SQLite does: with a BEFORE INSERT
    -- trigger it checks the classes of the values before it looks for a conflict; with a trigger that may RAISE it opens a
    -- statement journal, without which a statement keeps the rows before one that STRICT refuses.
    CREATE TRIGGER users_before_insert BEFORE INSERT ON users
    BEGIN SELECT RAISE(ABORT, 'id') WHERE NEW.id > 4611686018427387904; END;
    CREATE TRIGGER users_insert AFTER INSERT ON users BEGIN SELECT RAISE(ABORT, '') WHERE 0; END;
    CREATE TRIGGER users_update AFTER UPDATE ON users BEGIN SELECT RAISE(ABORT, '') WHERE 0; END;
    CREATE TRIGGER attributes_insert AFTER INSERT ON attributes BEGIN SELECT RAISE(ABORT, '') WHERE 0; END;
    CREATE TRIGGER attributes_update AFTER UPDATE ON attributes BEGIN SELECT RAISE(ABORT, '') WHERE 0; END;
    CREATE TRIGGER attributes_delete AFTER DELETE ON attributes BEGIN SELECT RAISE(ABORT, '') WHERE 0; END;
    """
}

extension PlainConnection {
  /// Runs a step and returns its error, or nil if it succeeds.
  func error(of step: Step) -> PlainError? {
    do { try run(step.sql, step.values) } catch { return error }
    return nil
  }
}

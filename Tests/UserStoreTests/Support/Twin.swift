import TestSupport

/// The same two tables with the same rules and no log: what a foreign writer expects to happen.
///
/// Here attributes go with their user because DELETE triggers fire for REPLACE too, whatever the writer turned off.
struct Twin {
  private let connection: PlainConnection
  let anew: Anew

  init() throws(PlainError) {
    connection = try PlainConnection()
    anew = Anew(on: connection)
    try connection.script(Self.schema)
  }

  /// Does the same as was done to `other`, and compares what came of it.
  func repeating(_ step: Step, error: PlainError?, on other: PlainConnection) throws {
    // What the log cannot describe is refused, with whatever it would have pushed out.
    let isRefused = step.sql.contains("anew") && error?.message.contains("computed twice") == true
    if step.touchesLog || isRefused { return }
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

    -- These do nothing else than to keep an id in its bounds. But what SQLite does depends on there being triggers: with one BEFORE an insert it looks at the
    -- classes of the values before it looks for a conflict; with one that may RAISE it opens a statement journal, without
    -- which a statement keeps the rows before one that STRICT refuses.
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
  /// Does the step.
  ///
  /// - Returns: why it failed; nil if it did not.
  func error(of step: Step) -> PlainError? {
    do { try run(step.sql, step.values) } catch { return error }
    return nil
  }
}

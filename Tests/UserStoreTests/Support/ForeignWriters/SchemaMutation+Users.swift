extension SchemaMutation {
  static let ofUsers = [
    SchemaMutation(
      "an update of a name that changes nothing is logged", ("WHEN OLD.name IS NOT NEW.name COLLATE BINARY\n", "\n")),
    SchemaMutation(
      "an update of a hair color that changes nothing is logged",
      ("WHEN OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY\n", "\n")),
    SchemaMutation(
      "a hair color that was or becomes null is not logged",
      ("OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY\n", "OLD.hair_color <> NEW.hair_color\n")),
    SchemaMutation("a name is not logged", ("AFTER UPDATE OF name ON", "AFTER UPDATE OF hair_color ON")),
    SchemaMutation("the id of a user may change", ("WHEN NEW.id IS NOT OLD.id\n", "WHEN 0\n")),
    SchemaMutation(
      "the id of a user may change under another name", ("BEFORE UPDATE ON users", "BEFORE UPDATE OF id ON users")),
    SchemaMutation("a new user may have the largest id", ("WHERE NEW.id > 4611686018427387904", "WHERE 0")),
  ]

  static let ofDisplacedUsers = [
    SchemaMutation(
      "a displaced user is not logged",
      ("VALUES (3, NEW.id, 'name', NEW.name);", "SELECT 3, NEW.id, 'name', NEW.name WHERE 0;"),
      ("VALUES (3, NEW.id, 'hair_color', NEW.hair_color);", "SELECT 3, NEW.id, 'hair_color', NEW.hair_color WHERE 0;")),
    SchemaMutation(
      "a user counts as displaced for every key",
      ("ON displaced_users WHEN NEW.inserted IS NEW.id AND NEW.name", "ON displaced_users WHEN NEW.name")),
    SchemaMutation(
      "displaced users whose id is -1 are not looked for", (" OR EXISTS (SELECT 1 FROM users WHERE id = -1)", "")),
    SchemaMutation(
      "a displaced user leaves its attributes", ("  DELETE FROM attributes WHERE user_id = NEW.id;\nEND", "END")),
    SchemaMutation(
      "displaced users are not cleared before an insert",
      ("  DELETE FROM displaced_users WHERE 1;  -- ", "  -- ")),
    SchemaMutation(
      "displaced users are not cleared after an insert",
      ("  DELETE FROM displaced_users WHERE 1;\n  INSERT INTO changes", "  INSERT INTO changes")),
    SchemaMutation(
      "displaced users are not cleared before an insert that gives no key",
      (
        "\nWHEN NEW.id IS NOT -1 OR EXISTS (SELECT 1 FROM users WHERE id = -1) OR EXISTS (SELECT 1 FROM displaced_users)",
        "\nWHEN NEW.id IS NOT -1 OR EXISTS (SELECT 1 FROM users WHERE id = -1)"
      )),
    SchemaMutation(
      "a deleted user still counts as displaced",
      ("  UPDATE displaced_users SET name = NULL, hair_color = NULL WHERE id = OLD.id;\n", "")),
    SchemaMutation(
      "a key that is evaluated twice is not compared",
      ("ON displaced_users WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1", "ON displaced_users WHEN 0")),
    SchemaMutation(
      "a key that SQLite assigns is compared",
      (
        "ON displaced_users WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1",
        "ON displaced_users WHEN NEW.inserted IS NOT NEW.id"
      )),
    SchemaMutation(
      "only a key that is in use is compared",
      (
        "WHEN NEW.id IS NOT -1 OR EXISTS (SELECT 1 FROM users WHERE id = -1)",
        "WHEN EXISTS (SELECT 1 FROM users WHERE id = NEW.id)"
      )),
  ]

  static let ofRemovals = [
    SchemaMutation(
      "a removed user leaves its attributes", ("  DELETE FROM attributes WHERE user_id = OLD.id;\n", "")),
    SchemaMutation(
      "the attributes of a removed user are logged as updates",
      ("WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.user_id) THEN 3", "")),
    SchemaMutation(
      "the attributes of a displaced user are logged as updates",
      ("WHEN EXISTS (SELECT 1 FROM displaced_users WHERE id = OLD.user_id AND inserted = id) THEN 3", "")),
    SchemaMutation(
      "a user that may be displaced counts as removed", (" AND inserted = id) THEN 3", ") THEN 3")),
    SchemaMutation(
      "a displaced user is not marked as removed",
      ("  UPDATE displaced_users SET inserted = NEW.id WHERE id = (SELECT id FROM displaced_users);\n", "")),
    SchemaMutation(
      "the newest change may be deleted", ("WHEN OLD.seq = (SELECT max(seq) FROM changes)", "WHEN 0")),
  ]
}

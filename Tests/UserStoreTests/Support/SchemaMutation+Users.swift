extension SchemaMutation {
  static let ofUsers = [
    SchemaMutation(
      "an update of a user that changes nothing is logged",
      ("WHERE OLD.name IS NOT NEW.name COLLATE BINARY OR typeof(OLD.name) IS NOT typeof(NEW.name)", "")),
    SchemaMutation(
      "a hair color that comes or goes is not logged",
      ("OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY", "OLD.hair_color <> NEW.hair_color"),
      (" OR typeof(OLD.hair_color) IS NOT typeof(NEW.hair_color)", "")),
    SchemaMutation(
      "a displaced user is not logged",
      ("name FROM displaced_users WHERE id = NEW.id;", "name FROM displaced_users WHERE 0;"),
      ("hair_color FROM displaced_users WHERE id = NEW.id;", "hair_color FROM displaced_users WHERE 0;")),
    SchemaMutation(
      "a user is taken for displaced whatever key was given",
      ("name FROM displaced_users WHERE id = NEW.id;", "name FROM displaced_users;"),
      ("hair_color FROM displaced_users WHERE id = NEW.id;", "hair_color FROM displaced_users;"),
      ("SELECT id FROM displaced_users WHERE id = NEW.id", "SELECT id FROM displaced_users")),
    SchemaMutation(
      "a displaced user leaves its attributes",
      ("DELETE FROM attributes WHERE user_id IN (SELECT id FROM displaced_users WHERE id = NEW.id);", "")),
    SchemaMutation(
      "displaced users are not forgotten before an insert",
      ("  DELETE FROM displaced_users WHERE 1;  -- ", "  -- ")),
    SchemaMutation(
      "displaced users are not forgotten after an insert",
      ("  DELETE FROM displaced_users WHERE 1;\n  INSERT INTO changes", "  INSERT INTO changes")),
    SchemaMutation(
      "a deleted user is still taken for displaced",
      ("  DELETE FROM displaced_users WHERE id = OLD.id;\n", "")),
    SchemaMutation("the id of a user may change", ("WHEN NEW.id IS NOT OLD.id\n", "WHEN 0\n")),
    SchemaMutation(
      "the id of a user may change under another name", ("BEFORE UPDATE ON users", "BEFORE UPDATE OF id ON users")),
  ]

  static let ofRemovals = [
    SchemaMutation(
      "a removed user leaves its attributes", ("  DELETE FROM attributes WHERE user_id = OLD.id;\n", "")),
    SchemaMutation(
      "the attributes of a removed user go by themselves",
      ("WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.user_id) THEN 3", "")),
    SchemaMutation(
      "the attributes of a displaced user go by themselves",
      ("WHEN EXISTS (SELECT 1 FROM displaced_users WHERE id = OLD.user_id AND gone = 1) THEN 3", "")),
    SchemaMutation("whoever may be displaced is taken for gone", (" AND gone = 1) THEN 3", ") THEN 3")),
    SchemaMutation(
      "a displaced user is not marked as gone", ("  UPDATE displaced_users SET gone = 1 WHERE id = NEW.id;\n", "")),
    SchemaMutation(
      "the newest change may be deleted", ("WHEN OLD.seq = (SELECT max(seq) FROM changes)", "WHEN 0")),
  ]
}

extension SchemaMutation {
  static let ofAttributes = [
    SchemaMutation(
      "an insert does not compare typeof", (" AND typeof(value) IS typeof(NEW.value));", ");")),
    SchemaMutation("an update does not compare typeof", (" OR typeof(value) IS NOT typeof(NEW.value));", ");")),
    SchemaMutation("an insert that changes nothing is logged", ("WHERE value IS NEW.value COLLATE BINARY", "WHERE 0")),
    SchemaMutation(
      "an update that changes nothing is logged", ("AND (value IS NOT NEW.value COLLATE BINARY", "AND (1")),
    SchemaMutation("an update that NOT NULL forbids is logged", ("AND NEW.value IS NOT NULL", "")),
    SchemaMutation(
      "an insert ignores case",
      ("WHERE value IS NEW.value COLLATE BINARY", "WHERE value IS NEW.value COLLATE NOCASE")),
    SchemaMutation(
      "an update ignores case",
      ("AND (value IS NOT NEW.value COLLATE BINARY", "AND (value IS NOT NEW.value COLLATE NOCASE")),
    SchemaMutation("the user of an attribute may change", ("NEW.user_id IS NOT OLD.user_id OR ", "")),
    SchemaMutation("the name of an attribute may change", (" OR NEW.name IS NOT OLD.name COLLATE BINARY", "")),
    SchemaMutation("the rowid of an attribute may change", ("NEW.rowid IS NOT OLD.rowid OR ", "")),
    SchemaMutation(
      "an attribute needs no user", ("WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id)\n", "WHEN 0\n")),
    SchemaMutation(
      "an attribute may be named like a column", (" CHECK (name NOT IN ('id', 'name', 'hair_color'))", "")),
  ]

  /// Has an effect only in SQLite before 3.45.3.
  static let ofUpserts = [
    SchemaMutation(
      "an UPSERT logs the old value that SQLite reports",
      (
        "SELECT 2, user_id, name, value, NEW.value FROM attributes\n",
        "SELECT 2, user_id, name, OLD.value, NEW.value FROM attributes\n"
      ))
  ]

  static let ofDisplacedAttributes = [
    SchemaMutation(
      "the value of an attribute that its key displaces is not saved",
      ("NEW.name, (SELECT value FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name),", "NEW.name, NULL,")),
    SchemaMutation(
      "an attribute that its rowid displaces is not saved",
      ("LEFT JOIN attributes ON attributes.rowid = NEW.rowid;", "LEFT JOIN attributes ON 0;")),
    SchemaMutation(
      "an attribute counts as displaced for every rowid",
      ("WHEN NEW.inserted IS NEW.id AND NEW.row_user", "WHEN NEW.row_user")),
    SchemaMutation(
      "an attribute that its rowid displaces is not logged",
      (
        "VALUES (2, NEW.row_user, NEW.row_name, NEW.row_value);",
        "SELECT 2, NEW.row_user, NEW.row_name, NEW.row_value WHERE 0;"
      )),
    SchemaMutation(
      "an attribute that its own key displaces is logged as removed",
      (" AND (NEW.row_user IS NOT NEW.user_id OR NEW.row_name IS NOT NEW.name)", "")),
    SchemaMutation(
      "an attribute that its key displaces has no old value",
      ("NEW.name, (SELECT value FROM displaced_attributes), NEW.value", "NEW.name, NULL, NEW.value")),
    SchemaMutation(
      "a deleted attribute still counts as displaced by its key",
      ("value = CASE WHEN user_id IS OLD.user_id AND name IS OLD.name THEN NULL ELSE value END", "value = value")),
    SchemaMutation(
      "a deleted attribute still counts as displaced by its rowid",
      ("row_user = CASE WHEN id = OLD.rowid THEN NULL ELSE row_user END", "row_user = row_user")),
    SchemaMutation(
      "displaced attributes are not cleared before an insert",
      (
        "  DELETE FROM displaced_attributes WHERE 1;\n  INSERT INTO displaced_attributes\n    SELECT NEW",
        "  INSERT INTO displaced_attributes\n    SELECT NEW"
      )),
    SchemaMutation(
      "attributes that their key displaces are not looked for",
      ("  OR EXISTS (SELECT 1 FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name)\n", "")),
    SchemaMutation(
      "attributes that their rowid displaces are not looked for",
      ("WHEN NEW.rowid IS NOT -1 OR EXISTS (SELECT 1 FROM attributes WHERE rowid = -1)", "WHEN 0")),
    SchemaMutation(
      "displaced attributes whose rowid is -1 are not looked for",
      ("OR EXISTS (SELECT 1 FROM attributes WHERE rowid = -1)", "")),
    SchemaMutation(
      "displaced attributes are not cleared before an insert that displaces nothing",
      ("name = NEW.name)\n  OR EXISTS (SELECT 1 FROM displaced_attributes)\n", "name = NEW.name)\n")),
    SchemaMutation(
      "a rowid that is evaluated twice is not compared",
      (
        "WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1\nBEGIN\n  SELECT RAISE(ABORT, 'the rowid",
        "WHEN 0\nBEGIN\n  SELECT RAISE(ABORT, 'the rowid"
      )),
    SchemaMutation(
      "a rowid that SQLite assigns is compared",
      (
        "WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1\nBEGIN\n  SELECT RAISE(ABORT, 'the rowid",
        "WHEN NEW.inserted IS NOT NEW.id\nBEGIN\n  SELECT RAISE(ABORT, 'the rowid"
      )),
    SchemaMutation(
      "only a rowid that is in use is compared",
      (
        "WHEN NEW.rowid IS NOT -1 OR EXISTS (SELECT 1 FROM attributes WHERE rowid = -1)",
        "WHEN EXISTS (SELECT 1 FROM attributes WHERE rowid = NEW.rowid)"
      )),
  ]
}

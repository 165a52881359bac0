extension SchemaMutation {
  static let ofAttributes = [
    SchemaMutation("an insert does not compare typeof", (" AND typeof(value) IS typeof(NEW.value)", "")),
    SchemaMutation("an update does not compare typeof", (" OR typeof(value) IS NOT typeof(NEW.value)", "")),
    SchemaMutation("an insert that changes nothing is logged", ("AND value IS NEW.value COLLATE BINARY", "AND 0")),
    SchemaMutation(
      "an update that changes nothing is logged", ("AND (value IS NOT NEW.value COLLATE BINARY", "AND (1")),
    SchemaMutation("an update that NOT NULL forbids is logged", ("AND NEW.value IS NOT NULL", "")),
    SchemaMutation(
      "an insert ignores case", ("value IS NEW.value COLLATE BINARY", "value IS NEW.value COLLATE NOCASE")),
    SchemaMutation(
      "an update ignores case",
      ("value IS NOT NEW.value COLLATE BINARY", "value IS NOT NEW.value COLLATE NOCASE")),
    SchemaMutation("the user of an attribute may change", ("NEW.user_id IS NOT OLD.user_id OR ", "")),
    SchemaMutation("the name of an attribute may change", (" OR NEW.name IS NOT OLD.name COLLATE BINARY", "")),
    SchemaMutation("the rowid of an attribute may change", ("NEW.rowid IS NOT OLD.rowid OR ", "")),
    SchemaMutation(
      "an attribute needs no user", ("WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id)\n", "WHEN 0\n")),
    SchemaMutation(
      "an attribute may be named like a column", (" CHECK (name NOT IN ('id', 'name', 'hair_color'))", "")),
  ]

  /// In SQLite before 3.45.3; since then it makes no difference.
  static let ofUpserts = [
    SchemaMutation(
      "an UPSERT logs what SQLite takes for the old value",
      ("SELECT 2, user_id, name, value, NEW.value FROM", "SELECT 2, user_id, name, OLD.value, NEW.value FROM"))
  ]

  static let ofDisplacedAttributes = [
    SchemaMutation(
      "an attribute that is displaced by its key is not kept",
      ("FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name\n", "FROM attributes WHERE 0\n")),
    SchemaMutation(
      "an attribute that is displaced by its rowid is not kept",
      ("FROM attributes WHERE rowid = NEW.rowid;", "FROM attributes WHERE 0;")),
    SchemaMutation(
      "nobody looks for an attribute that is displaced by its key",
      ("WHEN EXISTS (SELECT 1 FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name)", "WHEN 0")),
    SchemaMutation(
      "nobody looks for an attribute that is displaced by its rowid",
      ("OR EXISTS (SELECT 1 FROM attributes WHERE rowid = NEW.rowid)", "")),
    SchemaMutation(
      "an attribute is taken for displaced whatever rowid was given",
      ("WHERE id = NEW.rowid AND (user_id", "WHERE (user_id")),
    SchemaMutation(
      "an attribute that is displaced by its rowid is not logged",
      ("WHERE id = NEW.rowid AND (user_id", "WHERE 0 AND (user_id")),
    SchemaMutation(
      "an attribute that is displaced by its own key is logged as gone",
      (" AND (user_id IS NOT NEW.user_id OR name IS NOT NEW.name)", "")),
    SchemaMutation(
      "an attribute that is displaced by its key has no old value",
      ("(SELECT value FROM displaced_attributes WHERE user_id = NEW.user_id AND name = NEW.name)", "NULL")),
    SchemaMutation(
      "a deleted attribute is still taken for displaced",
      ("  DELETE FROM displaced_attributes WHERE id = OLD.rowid;\n", "")),
    SchemaMutation(
      "displaced attributes are not forgotten before an insert",
      ("DELETE FROM displaced_attributes WHERE 1;\n  INSERT", "INSERT")),
    SchemaMutation(
      "displaced attributes are not forgotten before an insert that displaces nothing",
      ("  OR EXISTS (SELECT 1 FROM displaced_attributes)\n", "")),
    SchemaMutation(
      "displaced attributes are neither forgotten after an insert nor before the next",
      ("  DELETE FROM displaced_attributes WHERE 1;\nEND", "END"),
      ("  OR EXISTS (SELECT 1 FROM displaced_attributes)\n", "")),
  ]
}

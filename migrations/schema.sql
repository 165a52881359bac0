/* Written by scripts/update-schema: what the migrations create, as SQLite stores it. Read by SchemaCheck.swift. */
-- table migrations
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL) STRICT
-- table meta
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL,          -- a new one whenever the log stops describing the tables
  horizon INTEGER NOT NULL,        -- the last change that was forgotten; 0 when the log is whole
  horizon_nonce INTEGER NOT NULL   -- that change's nonce
, measured INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, searched INTEGER NOT NULL DEFAULT 0, sized INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0) STRICT
-- table users
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hair_color TEXT                  -- #rrggbb
) STRICT
-- table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq)
-- table attributes
CREATE TABLE attributes (
  user_id INTEGER NOT NULL,
  name TEXT NOT NULL CHECK (name NOT IN ('id', 'name', 'hair_color')),
  value ANY NOT NULL,
  UNIQUE (user_id, name)
) STRICT
-- index sqlite_autoindex_attributes_1
-- table changes
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  op INTEGER,                      -- 0 end of a write, 1 user added, 2 updated, 3 user removed
  user INTEGER,                    -- in the row of an end: null
  attribute TEXT,                  -- in the row of an end: the writer's origin
  old ANY,                         -- in the row of an end: the first seq of the write
  new ANY,
  nonce INTEGER DEFAULT (random()),
  at INTEGER DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER))
) STRICT
-- trigger users_before_update
CREATE TRIGGER users_before_update BEFORE UPDATE ON users WHEN NEW.id IS NOT OLD.id
BEGIN
  SELECT RAISE(ABORT, 'the id of a user never changes');
END
-- trigger attributes_need_user
CREATE TRIGGER attributes_need_user BEFORE INSERT ON attributes WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id)
BEGIN
  SELECT RAISE(ABORT, 'no user has this id');
END
-- trigger attributes_before_update
CREATE TRIGGER attributes_before_update BEFORE UPDATE ON attributes
BEGIN
  SELECT RAISE(ABORT, 'the key of an attribute never changes')
    WHERE NEW.rowid IS NOT OLD.rowid OR NEW.user_id IS NOT OLD.user_id OR NEW.name IS NOT OLD.name COLLATE BINARY;
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, user_id, name, value, NEW.value FROM attributes
    WHERE rowid = OLD.rowid AND NEW.value IS NOT NULL
      AND (value IS NOT NEW.value COLLATE BINARY OR typeof(value) IS NOT typeof(NEW.value));
END
-- trigger changes_before_delete
CREATE TRIGGER changes_before_delete BEFORE DELETE ON changes WHEN OLD.seq = (SELECT max(seq) FROM changes)
BEGIN
  SELECT RAISE(ABORT, 'the newest change stays in the log');
END
-- table consumers
CREATE TABLE consumers (
  name TEXT NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL,          -- with seq and nonce: the cursor of the last set that was acknowledged
  seq INTEGER NOT NULL,
  nonce INTEGER NOT NULL,
  holder INTEGER NOT NULL,         -- who has the name: drawn anew each time that it is taken
  at INTEGER NOT NULL              -- when it was last acknowledged or taken, in milliseconds since 1970
) STRICT, WITHOUT ROWID
-- table displaced_users
CREATE TABLE displaced_users (
  id INTEGER PRIMARY KEY,          -- -1: given by SQLite
  name TEXT,                       -- null when nobody has the id
  hair_color TEXT,
  inserted INTEGER                 -- the id of the row that was then inserted
) STRICT
-- table displaced_attributes
CREATE TABLE displaced_attributes (
  id INTEGER PRIMARY KEY,          -- the rowid; -1: given by SQLite
  user_id INTEGER,
  name TEXT,
  value ANY,                       -- null when there is no such attribute
  row_user INTEGER,                -- what has the rowid; null when nothing has
  row_name TEXT,
  row_value ANY,
  inserted INTEGER                 -- the rowid of the row that was then inserted
) STRICT
-- trigger users_before_insert
CREATE TRIGGER users_before_insert BEFORE INSERT ON users
WHEN NEW.id IS NOT -1 OR EXISTS (SELECT 1 FROM users WHERE id = -1) OR EXISTS (SELECT 1 FROM displaced_users)
BEGIN
  -- After the largest number of all SQLite gives no new id any more. Ids that it gives itself are never refused.
  SELECT RAISE(ABORT, 'the id of a new user is at most 4611686018427387904') WHERE NEW.id > 4611686018427387904;
  DELETE FROM displaced_users WHERE 1;  -- WHERE 1: a truncation would dirty a page even when there is nothing
  INSERT INTO displaced_users (id, name, hair_color) VALUES
    (NEW.id, (SELECT name FROM users WHERE id = NEW.id), (SELECT hair_color FROM users WHERE id = NEW.id));
END
-- trigger users_after_insert
CREATE TRIGGER users_after_insert AFTER INSERT ON users
BEGIN
  UPDATE displaced_users SET inserted = NEW.id WHERE id = (SELECT id FROM displaced_users);
  DELETE FROM displaced_users WHERE 1;
  INSERT INTO changes (op, user, attribute, new) VALUES (1, NEW.id, 'name', NEW.name);
  INSERT INTO changes (op, user, attribute, new) VALUES (1, NEW.id, 'hair_color', NEW.hair_color);
END
-- trigger displaced_users_key
CREATE TRIGGER displaced_users_key AFTER UPDATE OF inserted ON displaced_users WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1
BEGIN
  SELECT RAISE(ABORT, 'the id of a new user was computed twice and differs: give it as a value');
END
-- trigger displaced_users_gone
CREATE TRIGGER displaced_users_gone AFTER UPDATE OF inserted ON displaced_users WHEN NEW.inserted IS NEW.id AND NEW.name IS NOT NULL
BEGIN
  INSERT INTO changes (op, user, attribute, old) VALUES (3, NEW.id, 'name', NEW.name);
  INSERT INTO changes (op, user, attribute, old) VALUES (3, NEW.id, 'hair_color', NEW.hair_color);
  DELETE FROM attributes WHERE user_id = NEW.id;
END
-- trigger users_after_update_color
CREATE TRIGGER users_after_update_color AFTER UPDATE OF hair_color ON users WHEN OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY
BEGIN
  INSERT INTO changes (op, user, attribute, old, new) VALUES (2, NEW.id, 'hair_color', OLD.hair_color, NEW.hair_color);
END
-- trigger users_after_update
CREATE TRIGGER users_after_update AFTER UPDATE OF name ON users WHEN OLD.name IS NOT NEW.name COLLATE BINARY
BEGIN
  INSERT INTO changes (op, user, attribute, old, new) VALUES (2, NEW.id, 'name', OLD.name, NEW.name);
END
-- trigger users_after_delete
CREATE TRIGGER users_after_delete AFTER DELETE ON users
BEGIN
  UPDATE displaced_users SET name = NULL, hair_color = NULL WHERE id = OLD.id;
  INSERT INTO changes (op, user, attribute, old) VALUES (3, OLD.id, 'name', OLD.name);
  INSERT INTO changes (op, user, attribute, old) VALUES (3, OLD.id, 'hair_color', OLD.hair_color);
  DELETE FROM attributes WHERE user_id = OLD.id;
END
-- trigger attributes_before_insert
CREATE TRIGGER attributes_before_insert BEFORE INSERT ON attributes
WHEN NEW.rowid IS NOT -1 OR EXISTS (SELECT 1 FROM attributes WHERE rowid = -1)
  OR EXISTS (SELECT 1 FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name)
  OR EXISTS (SELECT 1 FROM displaced_attributes)
BEGIN
  DELETE FROM displaced_attributes WHERE 1;
  INSERT INTO displaced_attributes
    SELECT NEW.rowid, NEW.user_id, NEW.name, (SELECT value FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name),
      attributes.user_id, attributes.name, attributes.value, NULL
    FROM (SELECT 1) LEFT JOIN attributes ON attributes.rowid = NEW.rowid;
END
-- trigger attributes_after_insert
CREATE TRIGGER attributes_after_insert AFTER INSERT ON attributes
BEGIN
  UPDATE displaced_attributes SET inserted = NEW.rowid WHERE id = (SELECT id FROM displaced_attributes);
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, NEW.user_id, NEW.name, (SELECT value FROM displaced_attributes), NEW.value
    WHERE NOT EXISTS (
      SELECT 1 FROM displaced_attributes WHERE value IS NEW.value COLLATE BINARY AND typeof(value) IS typeof(NEW.value));
  DELETE FROM displaced_attributes WHERE 1;
END
-- trigger displaced_attributes_key
CREATE TRIGGER displaced_attributes_key AFTER UPDATE OF inserted ON displaced_attributes
WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1
BEGIN
  SELECT RAISE(ABORT, 'the rowid of a new attribute was computed twice and differs: give it as a value');
END
-- trigger displaced_attributes_gone
CREATE TRIGGER displaced_attributes_gone AFTER UPDATE OF inserted ON displaced_attributes
WHEN NEW.inserted IS NEW.id AND NEW.row_user IS NOT NULL AND (NEW.row_user IS NOT NEW.user_id OR NEW.row_name IS NOT NEW.name)
BEGIN
  INSERT INTO changes (op, user, attribute, old) VALUES (2, NEW.row_user, NEW.row_name, NEW.row_value);
END
-- trigger attributes_after_delete
CREATE TRIGGER attributes_after_delete AFTER DELETE ON attributes
BEGIN
  UPDATE displaced_attributes SET
    value = CASE WHEN user_id IS OLD.user_id AND name IS OLD.name THEN NULL ELSE value END,
    row_user = CASE WHEN id = OLD.rowid THEN NULL ELSE row_user END;
  INSERT INTO changes (op, user, attribute, old) VALUES (
    CASE
      WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.user_id) THEN 3
      WHEN EXISTS (SELECT 1 FROM displaced_users WHERE id = OLD.user_id AND inserted = id) THEN 3
      ELSE 2 END, OLD.user_id, OLD.name, OLD.value);
END
-- table userstore_unique
CREATE TABLE userstore_unique (
  attribute TEXT NOT NULL PRIMARY KEY,
  ignores_case INTEGER NOT NULL    -- 1: the letters A to Z equal a to z
) STRICT, WITHOUT ROWID

-- The records, their log, and the triggers that write the log, whoever writes the records.
-- Why each rule is there: the random replay test (Tests/UserStoreTests/Log) fails without it.

-- Which migrations made this file.
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL) STRICT;

CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL,          -- a new one whenever the log stops describing the tables
  horizon INTEGER NOT NULL,        -- the last change that was forgotten; 0 when the log is whole
  horizon_nonce INTEGER NOT NULL   -- that change's nonce
) STRICT;

INSERT INTO meta (id, epoch, horizon, horizon_nonce) VALUES (1, random(), 0, 0);

CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hair_color TEXT                  -- #rrggbb
) STRICT;

-- A rowid table: WITHOUT ROWID makes every small attribute beside a large one slow.
CREATE TABLE attributes (
  user_id INTEGER NOT NULL,
  name TEXT NOT NULL CHECK (name NOT IN ('id', 'name', 'hair_color')),
  value ANY NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

-- No AUTOINCREMENT (a second dirty page for each commit), no index, and no constraint: an outer OR IGNORE would
-- override a trigger's own conflict clause and drop the row silently.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  op INTEGER,                      -- 0 end of a write, 1 user added, 2 updated, 3 user removed
  user INTEGER,                    -- in the row of an end: null
  attribute TEXT,                  -- in the row of an end: the writer's origin
  old ANY,                         -- in the row of an end: the first seq of the write
  new ANY,
  nonce INTEGER DEFAULT (random()),
  at INTEGER DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER))
) STRICT;

-- Rows that an INSERT OR REPLACE may push out; without recursive_triggers no DELETE trigger tells of them.
CREATE TABLE displaced_users (id INTEGER PRIMARY KEY, name TEXT, hair_color TEXT, gone INTEGER) STRICT;
CREATE TABLE displaced_attributes (id INTEGER PRIMARY KEY, user_id INTEGER, name TEXT, value ANY) STRICT;

-- users ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER users_before_insert BEFORE INSERT ON users
WHEN EXISTS (SELECT 1 FROM users WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM displaced_users)
BEGIN
  DELETE FROM displaced_users WHERE 1;  -- WHERE 1: a truncation would dirty a page even when there is nothing
  INSERT INTO displaced_users SELECT id, name, hair_color, 0 FROM users WHERE id = NEW.id;
END;

CREATE TRIGGER users_after_insert AFTER INSERT ON users
BEGIN
  -- Displaced only if the key is the one that was given: before the insert an automatic id reads as -1.
  UPDATE displaced_users SET gone = 1 WHERE id = NEW.id;
  INSERT INTO changes (op, user, attribute, old) SELECT 3, id, 'name', name FROM displaced_users WHERE id = NEW.id;
  INSERT INTO changes (op, user, attribute, old) SELECT 3, id, 'hair_color', hair_color FROM displaced_users WHERE id = NEW.id;
  DELETE FROM attributes WHERE user_id IN (SELECT id FROM displaced_users WHERE id = NEW.id);
  DELETE FROM displaced_users WHERE 1;
  INSERT INTO changes (op, user, attribute, new) VALUES (1, NEW.id, 'name', NEW.name), (1, NEW.id, 'hair_color', NEW.hair_color);
END;

-- Without OF id: an UPDATE that names the key rowid or oid would not fire it.
CREATE TRIGGER users_before_update BEFORE UPDATE ON users WHEN NEW.id IS NOT OLD.id
BEGIN
  SELECT RAISE(ABORT, 'the id of a user never changes');
END;

-- typeof: 1 and 1.0 are equal in SQL, and not the same value.
CREATE TRIGGER users_after_update AFTER UPDATE ON users
BEGIN
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, NEW.id, 'name', OLD.name, NEW.name
    WHERE OLD.name IS NOT NEW.name COLLATE BINARY OR typeof(OLD.name) IS NOT typeof(NEW.name);
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, NEW.id, 'hair_color', OLD.hair_color, NEW.hair_color
    WHERE OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY OR typeof(OLD.hair_color) IS NOT typeof(NEW.hair_color);
END;

CREATE TRIGGER users_after_delete AFTER DELETE ON users
BEGIN
  DELETE FROM displaced_users WHERE id = OLD.id;
  INSERT INTO changes (op, user, attribute, old) VALUES (3, OLD.id, 'name', OLD.name), (3, OLD.id, 'hair_color', OLD.hair_color);
  DELETE FROM attributes WHERE user_id = OLD.id;
END;

-- attributes ----------------------------------------------------------------------------------------------------------

CREATE TRIGGER attributes_need_user BEFORE INSERT ON attributes WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id)
BEGIN
  SELECT RAISE(ABORT, 'no user has this id');
END;

-- Two keys can push a row out: the rowid, and (user_id, name).
CREATE TRIGGER attributes_before_insert BEFORE INSERT ON attributes
WHEN EXISTS (SELECT 1 FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name)
  OR EXISTS (SELECT 1 FROM attributes WHERE rowid = NEW.rowid)
  OR EXISTS (SELECT 1 FROM displaced_attributes)
BEGIN
  DELETE FROM displaced_attributes WHERE 1;
  INSERT INTO displaced_attributes
    SELECT rowid, user_id, name, value FROM attributes WHERE user_id = NEW.user_id AND name = NEW.name
    UNION SELECT rowid, user_id, name, value FROM attributes WHERE rowid = NEW.rowid;
END;

CREATE TRIGGER attributes_after_insert AFTER INSERT ON attributes
BEGIN
  INSERT INTO changes (op, user, attribute, old)
    SELECT 2, user_id, name, value FROM displaced_attributes
    WHERE id = NEW.rowid AND (user_id IS NOT NEW.user_id OR name IS NOT NEW.name);
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, NEW.user_id, NEW.name, (SELECT value FROM displaced_attributes WHERE user_id = NEW.user_id AND name = NEW.name), NEW.value
    WHERE NOT EXISTS (
      SELECT 1 FROM displaced_attributes WHERE user_id = NEW.user_id AND name = NEW.name
        AND value IS NEW.value COLLATE BINARY AND typeof(value) IS typeof(NEW.value));
  DELETE FROM displaced_attributes WHERE 1;
END;

-- Logs before the update, and never reads OLD.value: when an UPSERT meets a row that the same statement inserted, SQLite
-- before 3.45.3 may fill it with pages of another row (sqlite.org/forum/forumpost/284955a3cd454a15). Whatever is logged
-- here is then stored: no key changes, ANY takes every class, and a null is left to NOT NULL.
CREATE TRIGGER attributes_before_update BEFORE UPDATE ON attributes
BEGIN
  SELECT RAISE(ABORT, 'the key of an attribute never changes')
    WHERE NEW.rowid IS NOT OLD.rowid OR NEW.user_id IS NOT OLD.user_id OR NEW.name IS NOT OLD.name COLLATE BINARY;
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, user_id, name, value, NEW.value FROM attributes
    WHERE rowid = OLD.rowid AND NEW.value IS NOT NULL
      AND (value IS NOT NEW.value COLLATE BINARY OR typeof(value) IS NOT typeof(NEW.value));
END;

-- Goes with its user (op 3), or by itself (op 2, nothing on the new side).
CREATE TRIGGER attributes_after_delete AFTER DELETE ON attributes
BEGIN
  DELETE FROM displaced_attributes WHERE id = OLD.rowid;
  INSERT INTO changes (op, user, attribute, old)
    SELECT CASE
      WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.user_id) THEN 3
      WHEN EXISTS (SELECT 1 FROM displaced_users WHERE id = OLD.user_id AND gone = 1) THEN 3
      ELSE 2 END, OLD.user_id, OLD.name, OLD.value;
END;

-- changes -------------------------------------------------------------------------------------------------------------

-- The newest row stays, so that no number is ever given twice.
CREATE TRIGGER changes_before_delete BEFORE DELETE ON changes WHEN OLD.seq = (SELECT max(seq) FROM changes)
BEGIN
  SELECT RAISE(ABORT, 'the newest change stays in the log');
END;

-- The triggers that write the log, again: most cost less, and they see keys that SQLite computes twice. The tables, and the
-- triggers that stay, are in m0001. A row of the log means what it meant: who has an older library open goes on.

DROP TRIGGER users_before_insert;
DROP TRIGGER users_after_insert;
DROP TRIGGER users_after_update;
DROP TRIGGER users_after_delete;
DROP TRIGGER attributes_before_insert;
DROP TRIGGER attributes_after_insert;
DROP TRIGGER attributes_after_delete;

-- Both hold at most one row, and only while a row is inserted: its key as it was before the insert, and what that key may
-- push out. INSERT … VALUES computes the rowid once for BEFORE triggers and again for the row: with
-- REPLACE INTO users VALUES (abs(random() % 3) + 1, 'x') another row goes than the one that was kept here. All other
-- columns are computed once in every SQLite that reads STRICT tables; a test holds that.
DROP TABLE displaced_users;
CREATE TABLE displaced_users (
  id INTEGER PRIMARY KEY,          -- -1: given by SQLite
  name TEXT,                       -- null when nobody has the id
  hair_color TEXT,
  inserted INTEGER                 -- the id of the row that was then inserted
) STRICT;
DROP TABLE displaced_attributes;
CREATE TABLE displaced_attributes (
  id INTEGER PRIMARY KEY,          -- the rowid; -1: given by SQLite
  user_id INTEGER,
  name TEXT,
  value ANY,                       -- null when there is no such attribute
  row_user INTEGER,                -- what has the rowid; null when nothing has
  row_name TEXT,
  row_value ANY,
  inserted INTEGER                 -- the rowid of the row that was then inserted
) STRICT;

-- users ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER users_before_insert BEFORE INSERT ON users
WHEN NEW.id IS NOT -1 OR EXISTS (SELECT 1 FROM users WHERE id = -1) OR EXISTS (SELECT 1 FROM displaced_users)
BEGIN
  -- After the largest number of all SQLite gives no new id any more. Ids that it gives itself are never refused.
  SELECT RAISE(ABORT, 'the id of a new user is at most 4611686018427387904') WHERE NEW.id > 4611686018427387904;
  DELETE FROM displaced_users WHERE 1;  -- WHERE 1: a truncation would dirty a page even when there is nothing
  INSERT INTO displaced_users (id, name, hair_color) VALUES
    (NEW.id, (SELECT name FROM users WHERE id = NEW.id), (SELECT hair_color FROM users WHERE id = NEW.id));
END;

-- The row that is kept is looked for by its key, so that SQLite needs no list of the rows to update.
CREATE TRIGGER users_after_insert AFTER INSERT ON users
BEGIN
  UPDATE displaced_users SET inserted = NEW.id WHERE id = (SELECT id FROM displaced_users);
  DELETE FROM displaced_users WHERE 1;
  INSERT INTO changes (op, user, attribute, new) VALUES (1, NEW.id, 'name', NEW.name);
  INSERT INTO changes (op, user, attribute, new) VALUES (1, NEW.id, 'hair_color', NEW.hair_color);
END;

-- Two triggers of one event have no order; of these two at most one does anything.
CREATE TRIGGER displaced_users_key AFTER UPDATE OF inserted ON displaced_users WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1
BEGIN
  SELECT RAISE(ABORT, 'the id of a new user was computed twice and differs: give it as a value');
END;

CREATE TRIGGER displaced_users_gone AFTER UPDATE OF inserted ON displaced_users WHEN NEW.inserted IS NEW.id AND NEW.name IS NOT NULL
BEGIN
  INSERT INTO changes (op, user, attribute, old) VALUES (3, NEW.id, 'name', NEW.name);
  INSERT INTO changes (op, user, attribute, old) VALUES (3, NEW.id, 'hair_color', NEW.hair_color);
  DELETE FROM attributes WHERE user_id = NEW.id;
END;

-- One trigger for each column, with its condition in WHEN: INSERT … SELECT … WHERE costs a coroutine for each. They have no
-- order, and need none: the rows are about different attributes, and the log has one order for everybody. SQLite runs
-- the one that was made last first. OF: these columns have no other names; no typeof: they hold text or null only.
CREATE TRIGGER users_after_update_color AFTER UPDATE OF hair_color ON users WHEN OLD.hair_color IS NOT NEW.hair_color COLLATE BINARY
BEGIN
  INSERT INTO changes (op, user, attribute, old, new) VALUES (2, NEW.id, 'hair_color', OLD.hair_color, NEW.hair_color);
END;

CREATE TRIGGER users_after_update AFTER UPDATE OF name ON users WHEN OLD.name IS NOT NEW.name COLLATE BINARY
BEGIN
  INSERT INTO changes (op, user, attribute, old, new) VALUES (2, NEW.id, 'name', OLD.name, NEW.name);
END;

-- Whatever DELETE triggers tell of is not displaced; the key stays, to be compared.
CREATE TRIGGER users_after_delete AFTER DELETE ON users
BEGIN
  UPDATE displaced_users SET name = NULL, hair_color = NULL WHERE id = OLD.id;
  INSERT INTO changes (op, user, attribute, old) VALUES (3, OLD.id, 'name', OLD.name);
  INSERT INTO changes (op, user, attribute, old) VALUES (3, OLD.id, 'hair_color', OLD.hair_color);
  DELETE FROM attributes WHERE user_id = OLD.id;
END;

-- attributes ----------------------------------------------------------------------------------------------------------

-- Two keys can push a row out: the rowid, and (user_id, name). Of these SQLite computes only the rowid twice.
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
END;

CREATE TRIGGER attributes_after_insert AFTER INSERT ON attributes
BEGIN
  UPDATE displaced_attributes SET inserted = NEW.rowid WHERE id = (SELECT id FROM displaced_attributes);
  INSERT INTO changes (op, user, attribute, old, new)
    SELECT 2, NEW.user_id, NEW.name, (SELECT value FROM displaced_attributes), NEW.value
    WHERE NOT EXISTS (
      SELECT 1 FROM displaced_attributes WHERE value IS NEW.value COLLATE BINARY AND typeof(value) IS typeof(NEW.value));
  DELETE FROM displaced_attributes WHERE 1;
END;

CREATE TRIGGER displaced_attributes_key AFTER UPDATE OF inserted ON displaced_attributes
WHEN NEW.inserted IS NOT NEW.id AND NEW.id IS NOT -1
BEGIN
  SELECT RAISE(ABORT, 'the rowid of a new attribute was computed twice and differs: give it as a value');
END;

CREATE TRIGGER displaced_attributes_gone AFTER UPDATE OF inserted ON displaced_attributes
WHEN NEW.inserted IS NEW.id AND NEW.row_user IS NOT NULL AND (NEW.row_user IS NOT NEW.user_id OR NEW.row_name IS NOT NEW.name)
BEGIN
  INSERT INTO changes (op, user, attribute, old) VALUES (2, NEW.row_user, NEW.row_name, NEW.row_value);
END;

-- Goes with its user (op 3), or by itself (op 2, nothing on the new side).
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
END;

-- meta ----------------------------------------------------------------------------------------------------------------

-- How far the oldest change set was looked through: a huge one is forgotten by many short steps, of several processes.

ALTER TABLE meta ADD COLUMN searched INTEGER NOT NULL DEFAULT 0;  -- no row after the horizon, through this one, ends a set
ALTER TABLE meta ADD COLUMN sized INTEGER NOT NULL DEFAULT 0;     -- the last change of the oldest set that was counted
ALTER TABLE meta ADD COLUMN size INTEGER NOT NULL DEFAULT 0;      -- of the changes after the horizon, through that one

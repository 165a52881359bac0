-- What a replica needs for writes of the application; each `Replica` (UserStoreSync) creates it, and the file's version is then 9. A write
-- is written to the log like any other, by any program, and no code of the replica runs in it. The replica then takes in the rows after
-- `taken`: their sets are the outbox, until it knows what the server has decided about them.

-- The new name stops an older library that follows with the file already: it would copy over what the application has written.
ALTER TABLE userstore_replica RENAME COLUMN seen TO taken;
ALTER TABLE userstore_replica ADD COLUMN writes INTEGER NOT NULL DEFAULT 0;    -- 1: the application may write
ALTER TABLE userstore_replica ADD COLUMN subject TEXT;                         -- whom the server knows the replica as; null before its first answer
ALTER TABLE userstore_replica ADD COLUMN next INTEGER NOT NULL DEFAULT 1;      -- the number of the next set that is sent under `producer`
ALTER TABLE userstore_replica ADD COLUMN answered TEXT;                        -- the server's cursor with results that the cursor has not reached
ALTER TABLE userstore_replica ADD COLUMN target TEXT;                          -- the server's cursor with a purge that has already taken values here

-- The sets that the server has to decide, in their order.
CREATE TABLE userstore_outbox (
  last INTEGER PRIMARY KEY,        -- the last row of the set in the log here
  first INTEGER NOT NULL,
  nonce INTEGER NOT NULL UNIQUE,   -- of the last row: the identity of the set, also in copies of the file
  producer INTEGER NOT NULL,
  number INTEGER NOT NULL,
  result TEXT,                     -- what the server has answered; null: nothing yet
  detail TEXT,
  echoed INTEGER NOT NULL          -- 1: it came back with the server's log
) STRICT;

-- The rows of these sets by user and attribute; the attribute of a row that adds or removes a user is 'id'.
CREATE TABLE userstore_outbox_rows (
  user INTEGER NOT NULL,
  attribute TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (user, attribute, seq)
) STRICT, WITHOUT ROWID;

-- The server's whole record of each user in the table above; no rows if there is none.
CREATE TABLE userstore_base (
  user INTEGER NOT NULL,
  attribute TEXT NOT NULL,
  value ANY NOT NULL,
  UNIQUE (user, attribute)
) STRICT;

-- The sets that the server has refused, until somebody has taken note. The log here keeps their rows.
CREATE TABLE userstore_refusals (
  last INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,
  nonce INTEGER NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT
) STRICT;

-- From here on, `writes` says whether the application may write: see read_only.sql.
DROP TRIGGER userstore_replica_add;
DROP TRIGGER userstore_replica_update;
DROP TRIGGER userstore_replica_remove;
DROP TRIGGER userstore_replica_set;
DROP TRIGGER userstore_replica_change;
DROP TRIGGER userstore_replica_unset;
DROP TRIGGER userstore_replica_post;

-- Two replicas would give the next id to two people. Ids that the server has given may be used again.
CREATE TRIGGER userstore_replica_id AFTER INSERT ON users WHEN NEW.id >= 0 AND (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'the id of a user that is added on a replica must be a random negative number: give that of SELECT -1 - abs(random() / 2) as a value')
    WHERE NEW.id > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'users'), -1)
      OR NOT coalesce((SELECT instr(',' || users || ',', ',' || NEW.id || ',') FROM userstore_replica), 1);
END;

-- The tables of a replica: a file whose users are those of a server, which `Replica` (UserStoreSync) copies and follows. The first
-- `Replica` of a file creates them, and the file's version is then 8, so that older libraries refuse it; other files do not have them.
-- Cursors are stored as their text. A step that changes one compares all of it in the same transaction, because several processes may
-- follow with one file.

CREATE TABLE userstore_replica (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  address TEXT NOT NULL,           -- of the server, for messages
  identity TEXT,                   -- of the server's records; null before its first answer
  producer INTEGER NOT NULL CHECK (producer > 0),  -- random; names the file to the server, and a copy of the file has the same
  users TEXT,                      -- the ids of a subset, ascending, with commas; null: all
  "grant" TEXT,                    -- what the server let be read
  cursor TEXT,                     -- through which the server's log was applied; null before the first copy
  part TEXT,                       -- within the next set, which is huge: through which its rows are in userstore_parts
  seen INTEGER NOT NULL,           -- the end of the log here after the last transaction of the replica, with its nonce and epoch
  seen_nonce INTEGER NOT NULL,
  seen_epoch INTEGER NOT NULL,
  writing INTEGER NOT NULL         -- 1 only within a transaction of the replica: then the triggers below let writes through
) STRICT;

-- A copy in progress; at most one row.
CREATE TABLE userstore_copy (
  id INTEGER PRIMARY KEY,          -- random
  "grant" TEXT,
  position TEXT,                   -- through which staged users are those of the server; null before its first answer
  part TEXT,                       -- within the next set, which is huge: through which it was applied to staged users
  last INTEGER,                    -- the largest id that was staged; null before the first page
  is_staged INTEGER NOT NULL,      -- 1: the last page was staged
  target TEXT,                     -- the cursor of the newest page
  done INTEGER NOT NULL,           -- how many users were staged
  count INTEGER NOT NULL           -- how many users the server had when the copy began
) STRICT;

-- The server's users through `position`. A user exists if it has a name.
CREATE TABLE userstore_staged (
  user INTEGER NOT NULL,
  attribute TEXT NOT NULL,
  value ANY NOT NULL,
  UNIQUE (user, attribute)
) STRICT;

-- The rows of a huge set that arrived, until all have; then they are written as one set.
CREATE TABLE userstore_parts (
  id INTEGER PRIMARY KEY,
  op INTEGER NOT NULL,             -- as in changes
  user INTEGER,
  attribute TEXT,
  old ANY,
  new ANY
) STRICT;

-- Users whose values are to be removed from the log here when the copy is installed.
CREATE TABLE userstore_purges (user INTEGER PRIMARY KEY) STRICT;

CREATE TRIGGER userstore_replica_add BEFORE INSERT ON users WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

CREATE TRIGGER userstore_replica_update BEFORE UPDATE ON users WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

CREATE TRIGGER userstore_replica_remove BEFORE DELETE ON users WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

CREATE TRIGGER userstore_replica_set BEFORE INSERT ON attributes WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

CREATE TRIGGER userstore_replica_change BEFORE UPDATE ON attributes WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

CREATE TRIGGER userstore_replica_unset BEFORE DELETE ON attributes WHEN (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

-- Events belong to the server's log; a local purge (5) and the end of a set do not.
CREATE TRIGGER userstore_replica_post BEFORE INSERT ON changes WHEN NEW.op = 6 AND (SELECT writing FROM userstore_replica) IS NOT 1
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

-- The server has the unique attributes. Here, a set that is applied by its result may have a value for a moment twice.
CREATE TRIGGER userstore_replica_unique BEFORE INSERT ON userstore_unique
BEGIN
  SELECT RAISE(ABORT, 'this store is a replica: write to its server, whose address is in the table userstore_replica');
END;

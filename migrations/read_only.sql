-- The triggers of a replica to which the application does not write (`Replica.Writes.none`). `Replica` creates and drops them.

-- By this table the triggers are recognized.
CREATE TABLE userstore_read_only (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;

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

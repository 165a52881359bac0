-- What a server has decided about the sets that replicas have sent: part of the records, also in a backup and a restore. `SyncService`
-- (UserStoreSync) creates the tables, and the file's version is then 9.

CREATE TABLE userstore_decisions (
  nonce INTEGER PRIMARY KEY,       -- the identity of the set: the random number of its last row in the replica's log
  producer INTEGER NOT NULL,
  number INTEGER NOT NULL,
  result TEXT NOT NULL,            -- accepted, or why not
  detail TEXT,
  at INTEGER NOT NULL              -- in milliseconds since 1970
) STRICT;

-- Also finds whether a number is taken, and those that are to be forgotten.
CREATE INDEX userstore_decisions_number ON userstore_decisions (producer, number);

-- Through which number the decisions about a replica's sets were forgotten.
CREATE TABLE userstore_producers (
  producer INTEGER PRIMARY KEY,
  forgotten INTEGER NOT NULL
) STRICT;

-- Consumers of the change log that keep their position in the database.

CREATE TABLE consumers (
  name TEXT NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL,          -- with seq and nonce: the cursor of the last set that was acknowledged
  seq INTEGER NOT NULL,
  nonce INTEGER NOT NULL,
  holder INTEGER NOT NULL,         -- who has the name: drawn anew each time that it is taken
  at INTEGER NOT NULL              -- when it was last acknowledged or taken, in milliseconds since 1970
) STRICT, WITHOUT ROWID;

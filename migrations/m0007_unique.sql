-- Unique attributes: no two users have the same value. Each has a row here, an index, and two triggers, which refuse the second user
-- in whichever program it is written. Opening the file for writing creates a missing or changed one again.
--
-- The index is not UNIQUE. With one, REPLACE and UPDATE OR REPLACE would delete the other user's row past the log, and UPDATE OR
-- IGNORE would log a change that never happens.

CREATE TABLE userstore_unique (
  attribute TEXT NOT NULL PRIMARY KEY,
  ignores_case INTEGER NOT NULL    -- 1: the letters A to Z equal a to z
) STRICT, WITHOUT ROWID;

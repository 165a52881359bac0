-- The tables of a file whose users replicas follow. `SyncService` (UserStoreSync) creates them, and the file's version is then 8, so that
-- older libraries, whose purges and restores would leave them as they are, refuse it; other files do not have them.

CREATE TABLE userstore_server (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity INTEGER NOT NULL        -- random: which records these are; copied by a backup and a restore
) STRICT;

INSERT INTO userstore_server (id, identity) VALUES (1, random());

-- Users whose values were purged from the log: a replica that copies again may have missed the note of a purge.
CREATE TABLE userstore_purged (user INTEGER PRIMARY KEY) STRICT;

CREATE TRIGGER userstore_note_purged AFTER INSERT ON changes WHEN NEW.op = 5
BEGIN
  INSERT INTO userstore_purged (user) SELECT NEW.user WHERE NOT EXISTS (SELECT 1 FROM userstore_purged WHERE user = NEW.user);
END;

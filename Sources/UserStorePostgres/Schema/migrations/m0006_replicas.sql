-- The sixth layout: what a server of replicas keeps beside the records. A dump contains it.

SET LOCAL search_path = pg_catalog, pg_temp;

-- Which records these are: a replica does not copy others in their place.
CREATE TABLE userstore.server (
  id int PRIMARY KEY CHECK (id = 1),
  identity bigint NOT NULL           -- random
);
INSERT INTO userstore.server (id, identity) VALUES (1, userstore.random_number());

-- Users whose values were purged from the log: a replica that copies again may have missed the note of a purge.
CREATE TABLE userstore.purged (user_id bigint PRIMARY KEY);

CREATE OR REPLACE FUNCTION userstore.note_purged(id bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
BEGIN
  IF id IS NULL THEN RAISE EXCEPTION 'the user is null' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF EXISTS (SELECT FROM userstore.users u WHERE u.id = note_purged.id) THEN
    RAISE EXCEPTION 'user % still exists; only a removed user can be purged', note_purged.id USING ERRCODE = 'restrict_violation';
  END IF;
  INSERT INTO userstore.purged (user_id) VALUES (note_purged.id) ON CONFLICT DO NOTHING;
  PERFORM userstore.append_note(5::smallint, id, NULL, NULL, NULL, NULL, NULL, NULL);
END $$;

-- MARK: Rights

-- The roles that may read the log.
DO $$
DECLARE
  role text;
BEGIN
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.head()'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT SELECT ON userstore.server, userstore.purged TO %I', role);
  END LOOP;
END $$;

UPDATE userstore.meta SET layout = 6;

INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p
  WHERE p.part ~ '^function note_purged\(' OR p.part ~ '(^table| of) (server|purged)$' OR p.part ~ '^index (server|purged)_pkey$'
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

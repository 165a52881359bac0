-- The sixth layout: what a server of replicas keeps beside the records. A dump contains it.

SET LOCAL search_path = pg_catalog, pg_temp;

-- Which records these are: a replica does not copy others in their place. Empty until a server of replicas is started.
CREATE TABLE userstore.server (
  id int PRIMARY KEY CHECK (id = 1),
  identity bigint NOT NULL           -- random
);

-- Lets replicas follow from now on.
CREATE FUNCTION userstore.serve_replicas() RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp
BEGIN ATOMIC
  INSERT INTO userstore.server (id, identity) VALUES (1, userstore.random_number()) ON CONFLICT DO NOTHING;
END;

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

CREATE OR REPLACE FUNCTION userstore.set_rights(role text, rights text) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  readable constant text[] := ARRAY['milliseconds', 'row_bytes', 'log_rows', 'log_rows_backwards', 'own_rows', 'own_place', 'commit_of',
    'nonce_at', 'time_at', 'head', 'log_state', 'next_end', 'last_end', 'change_count', 'extent', 'scan', 'size_of', 'used_bytes',
    'changes_of', 'indexes', 'parts', 'findings', 'check'];
  writable constant text[] := ARRAY['begin_writing', 'end_set', 'next_base', 'place', 'save_extent', 'forget', 'blank', 'create_index',
    'drop_index', 'post', 'note_purged', 'create_unique', 'drop_unique', 'serve_replicas'];
  owner constant oid := (SELECT s.nspowner FROM pg_namespace s WHERE s.nspname = 'userstore');
BEGIN
  -- GRANT takes the name public for everybody, also in quotation marks.
  IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = role) THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('the role %s does not exist', role);
  END IF;
  IF owner = (SELECT r.oid FROM pg_roles r WHERE r.rolname = role) THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('%s owns the schema, and has all rights', role);
  END IF;
  IF rights IS NULL OR rights NOT IN ('none', 'read', 'write') THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'rights must be none, read or write';
  END IF;
  EXECUTE format('REVOKE ALL ON SCHEMA userstore FROM %I', role);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA userstore FROM %I', role);
  EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA userstore FROM %I', role);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA userstore FROM %I', role);
  IF rights = 'none' THEN RETURN; END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA userstore TO %I', role);
  -- Sequences too, so that a reader can make a dump.
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA userstore TO %I', role);
  EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA userstore TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', (SELECT string_agg('userstore.' || f, ', ') FROM unnest(readable) f), role);
  IF rights = 'read' THEN RETURN; END IF;
  EXECUTE format('GRANT INSERT, UPDATE, DELETE ON userstore.users, userstore.attributes, userstore.consumers TO %I', role);
  -- For foreign keys of the role's own tables.
  EXECUTE format('GRANT REFERENCES (id) ON userstore.users TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', (SELECT string_agg('userstore.' || f, ', ') FROM unnest(writable) f), role);
END $$;

REVOKE EXECUTE ON FUNCTION userstore.serve_replicas FROM PUBLIC;
-- The roles that set_rights() has made readers and writers.
DO $$
DECLARE
  role text;
BEGIN
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.head()'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT SELECT ON userstore.server, userstore.purged TO %I', role);
  END LOOP;
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.begin_writing(boolean)'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION userstore.serve_replicas TO %I', role);
  END LOOP;
END $$;

UPDATE userstore.meta SET layout = 6;

INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p
  WHERE p.part ~ '^function (note_purged|serve_replicas|set_rights)\(' OR p.part ~ '(^table| of) (server|purged)$'
    OR p.part ~ '^index (server|purged)_pkey$'
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

-- The seventh layout: what a server has decided about the sets that replicas have sent. A dump contains it, beside the records.

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE TABLE userstore.decisions (
  nonce bigint PRIMARY KEY,          -- the identity of the set: the random number of its last row in the replica's log
  producer bigint NOT NULL,
  number bigint NOT NULL,
  result text COLLATE "C" NOT NULL,  -- accepted, or why not
  detail text COLLATE "C",
  at bigint NOT NULL                 -- in milliseconds since 1970
);
-- Also finds whether a number is taken, and those that are to be forgotten.
CREATE INDEX decisions_number ON userstore.decisions (producer, number);

-- Through which number the decisions about a replica's sets were forgotten.
CREATE TABLE userstore.producers (
  producer bigint PRIMARY KEY,
  forgotten bigint NOT NULL
);

-- Stores decisions about sets of a replica: a list with [number, nonce, result, detail or null] for each.
CREATE FUNCTION userstore.store_decisions(producer bigint, decisions jsonb) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp
BEGIN ATOMIC
  INSERT INTO userstore.decisions (nonce, producer, number, result, detail, at)
    SELECT (d ->> 1)::bigint, store_decisions.producer, (d ->> 0)::bigint, d ->> 2, d ->> 3, userstore.milliseconds(clock_timestamp())
    FROM jsonb_array_elements(store_decisions.decisions) d;
END;

-- Forgets the first 1,000 decisions about a replica's sets with numbers from 1 through one, if they are older than a time in milliseconds
-- since 1970, and keeps the largest number. Copies of the replica's file may have the sets with smaller numbers, and send them later.
CREATE FUNCTION userstore.forget_decisions(producer bigint, through bigint, before bigint) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp
BEGIN ATOMIC
  WITH old AS (
    SELECT d.number FROM userstore.decisions d
    WHERE d.producer = forget_decisions.producer AND d.number BETWEEN 1 AND forget_decisions.through AND d.at < forget_decisions.before
    ORDER BY d.number LIMIT 1000
  ), noted AS (
    INSERT INTO userstore.producers AS p (producer, forgotten)
      SELECT forget_decisions.producer, max(o.number) FROM old o HAVING count(*) > 0
      ON CONFLICT (producer) DO UPDATE SET forgotten = greatest(p.forgotten, excluded.forgotten)
  )
  DELETE FROM userstore.decisions d
    WHERE d.producer = forget_decisions.producer AND d.number BETWEEN 1 AND (SELECT max(o.number) FROM old o);
END;

-- MARK: Notes

-- A set that a replica has sent has, before its end, a row with the operation 9 and the set's nonce as its old value, an integer.
CREATE FUNCTION userstore.note_pushed(nonce bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean;
BEGIN
  IF nonce IS NULL THEN RAISE EXCEPTION 'the nonce is null' USING ERRCODE = 'null_value_not_allowed'; END IF;
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  INSERT INTO userstore.changes (n, op, old_i, starts) VALUES (k + 1, 9, note_pushed.nonce, s);
END $$;

-- The form of these notes is checked, too.
CREATE OR REPLACE FUNCTION userstore.findings(is_deep boolean, longest interval)
  RETURNS TABLE (code text, message text, severity text, "user" bigint, attribute text)
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, userstore, pg_temp AS $$
#variable_conflict use_column
DECLARE
  schema oid := 'userstore'::regnamespace; owner oid; r record; bad text := 'problem'; none bigint;
BEGIN
  SELECT nspowner INTO owner FROM pg_namespace WHERE oid = schema;

  -- The engine.
  IF current_setting('server_version_num')::int < 150000 OR version() !~ '^PostgreSQL ' OR version() ~* 'cockroach|yugabyte|-YB-' THEN
    RETURN QUERY SELECT 'engine', format('this server is not PostgreSQL 15 or later: %s', version()), bad, none, '';
  END IF;

  -- The layout.
  RETURN QUERY SELECT 'schema', format('the %s %s', l.part, CASE WHEN p.part IS NULL THEN 'is missing' ELSE 'was changed' END), bad, none, ''
    FROM userstore.layout l LEFT JOIN userstore.parts() p ON p.part = l.part
    WHERE p.definition IS DISTINCT FROM l.definition ORDER BY l.part;
  IF NOT EXISTS (SELECT FROM userstore.layout) THEN
    RETURN QUERY SELECT 'schema', 'the list of the parts of the layout is empty', bad, none, '';
  END IF;
  -- Without a table or a column, the rest cannot be read.
  IF EXISTS (SELECT FROM userstore.layout l WHERE l.part ~ '^(table|column) ' AND l.part NOT IN (SELECT p.part FROM userstore.parts() p)) THEN RETURN; END IF;

  -- Triggers: kind is pg_trigger.tgtype (1 row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate).
  FOR r IN
    SELECT e.relation, e.name, e.kind, e.function, t.oid, t.tgenabled, t.tgtype, t.tgfoid, t.tgdeferrable, t.tginitdeferred,
      pg_get_triggerdef(t.oid) AS definition, e.condition
    FROM (VALUES
      ('users', 'A_userstore_added', 5, 'users_added', ''), ('users', 'A_userstore_updated', 17, 'users_updated', '(OLD.* *<> NEW.*)'),
      ('users', 'A_userstore_removed', 9, 'users_removed', ''), ('users', 'A_userstore_truncated', 34, 'refuse', ''),
      ('attributes', 'A_userstore_added', 5, 'attributes_added', ''),
      ('attributes', 'A_userstore_updated', 17, 'attributes_changed', '(OLD.* *<> NEW.*)'),
      ('attributes', 'A_userstore_removed', 9, 'attributes_changed', ''), ('attributes', 'A_userstore_truncated', 34, 'refuse', ''),
      ('changes', 'A_userstore_commit', 5, 'commit_log', 'new.starts'), ('changes', 'A_userstore_truncated', 34, 'refuse', ''),
      ('commits', 'A_userstore_truncated', 34, 'refuse', '')) e(relation, name, kind, function, condition)
    LEFT JOIN pg_trigger t ON t.tgrelid = to_regclass('userstore.' || e.relation) AND t.tgname = e.name AND NOT t.tgisinternal
  LOOP
    RETURN QUERY SELECT 'trigger', format('the trigger %s of %s %s', r.name, r.relation, w.what), bad, none, ''
      FROM (SELECT CASE
        WHEN r.oid IS NULL THEN 'is missing: changes are not logged'
        WHEN r.tgenabled = 'D' THEN 'is disabled: changes are not logged'
        WHEN r.tgenabled = 'O' THEN 'is not enabled ALWAYS: changes are not logged in sessions that apply changes of another server'
        WHEN r.tgenabled <> 'A' THEN 'is not enabled ALWAYS: changes are not logged in ordinary sessions'
        WHEN r.tgtype <> r.kind OR r.tgfoid <> coalesce(to_regproc('userstore.' || r.function)::oid, 0)
          OR lower(substring(r.definition FROM 'WHEN \((.*)\) EXECUTE')) IS DISTINCT FROM nullif(lower(r.condition), '')
          OR (r.name = 'A_userstore_commit') <> (r.tgdeferrable AND r.tginitdeferred)
          THEN format('was replaced: %s', r.definition) END) w(what)
      WHERE w.what IS NOT NULL;
  END LOOP;
  RETURN QUERY SELECT 'trigger', format('the foreign key %s is not checked: the triggers of PostgreSQL on %s are disabled', t.conname, g.tgrelid::regclass),
      bad, none, ''
    FROM pg_constraint t JOIN pg_trigger g ON g.tgconstraint = t.oid
    WHERE t.conrelid = to_regclass('userstore.attributes') AND t.contype = 'f' AND g.tgenabled NOT IN ('O', 'A') GROUP BY t.conname, g.tgrelid;
  RETURN QUERY SELECT 'trigger', format('the rule %I of %s may hide changes from the log', w.rulename, w.ev_class::regclass), bad, none, ''
    FROM pg_rewrite w WHERE w.ev_class IN (to_regclass('userstore.users'), to_regclass('userstore.attributes'),
      to_regclass('userstore.changes'), to_regclass('userstore.commits'));
  RETURN QUERY SELECT 'trigger',
      format('the trigger %I of %s may run before the log is written: if it changes rows that the same statement changes, the statement is refused or the log is out of order; a constraint trigger that is INITIALLY DEFERRED is safe',
        t.tgname, t.tgrelid::regclass), 'warning', none, ''
    FROM pg_trigger t
    WHERE t.tgrelid IN (to_regclass('userstore.users'), to_regclass('userstore.attributes')) AND NOT t.tgisinternal
      AND t.tgname NOT LIKE 'A\_userstore\_%' AND t.tgtype & 3 = 1 AND t.tgenabled <> 'D' AND NOT t.tginitdeferred
      AND (t.tgtype & 16 = 16 OR t.tgname::text COLLATE "C" < 'A_userstore');

  -- Owners and rights.
  RETURN QUERY SELECT 'permissions', format('%s belongs to %s, the schema to %s', c.oid::regclass, c.relowner::regrole, owner::regrole), bad, none, ''
    FROM pg_class c WHERE c.relnamespace = schema AND c.relkind IN ('r', 'v', 'S') AND c.relowner <> owner;
  RETURN QUERY SELECT 'permissions', format('%s belongs to %s, the schema to %s', p.oid::regprocedure, p.proowner::regrole, owner::regrole), bad, none, ''
    FROM pg_proc p WHERE p.pronamespace = schema AND p.proowner <> owner;
  RETURN QUERY SELECT 'permissions', format('everybody may execute %s', p.oid::regprocedure), bad, none, ''
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = schema AND a.grantee = 0 AND a.privilege_type = 'EXECUTE';
  RETURN QUERY SELECT 'permissions', format('%s may execute %s, which only the owner may', a.grantee::regrole, p.oid::regprocedure), bad, none, ''
    FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.pronamespace = schema AND a.grantee NOT IN (0, p.proowner)
      AND (p.prorettype = 'trigger'::regtype OR p.proname IN ('append_note', 'has_place', 'is_last', 'finish', 'place_before', 'renew', 'set_rights'));
  RETURN QUERY SELECT 'permissions', format('%s may %s on %s%s', CASE a.grantee WHEN 0 THEN 'everybody' ELSE a.grantee::regrole::text END,
      a.privilege_type, c.oid::regclass, CASE a.grantee WHEN 0 THEN '' ELSE ', which only the owner may' END), bad, none, ''
    FROM pg_class c, LATERAL (
      SELECT x.* FROM aclexplode(c.relacl) x
      UNION ALL SELECT x.* FROM pg_attribute t, aclexplode(t.attacl) x WHERE t.attrelid = c.oid AND NOT t.attisdropped) a
    WHERE c.relnamespace = schema AND a.grantee <> c.relowner AND (a.grantee = 0 OR a.privilege_type <> 'SELECT'
      AND (a.privilege_type NOT IN ('INSERT', 'UPDATE', 'DELETE', 'REFERENCES') OR c.relname NOT IN ('users', 'attributes', 'consumers')));
  RETURN QUERY SELECT 'permissions', format('%s may create objects in the schema userstore',
      CASE a.grantee WHEN 0 THEN 'everybody' ELSE a.grantee::regrole::text END), bad, none, ''
    FROM pg_namespace s, aclexplode(s.nspacl) a WHERE s.oid = schema AND a.privilege_type = 'CREATE' AND a.grantee <> s.nspowner;

  -- Without the rights of pg_read_all_stats, only transactions of the same role are seen.
  RETURN QUERY SELECT 'reader', format('process %s of %s has a transaction open since %s: until it ends, deleted rows keep their space', a.pid, a.usename, a.xact_start),
      'warning', none, ''
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
      AND a.xact_start < clock_timestamp() - longest;
  RETURN QUERY SELECT 'reader', format('the transaction %L of %s is prepared since %s, and holds its locks', p.gid, p.owner, p.prepared), 'warning', none, ''
    FROM pg_prepared_xacts p WHERE p.database = current_database() AND p.prepared < clock_timestamp() - longest;

  -- The log.
  IF (SELECT count(*) FROM userstore.meta) <> 1 THEN RETURN QUERY SELECT 'log', 'the log has no meta row', bad, none, ''; END IF;
  RETURN QUERY SELECT 'log', format('the log has a gap: a commit ends at %s, and the next one, through %s, begins after %s', g.before, g.last, g.base), bad, none, ''
    FROM (SELECT c.last, c.base, lag(c.last) OVER (ORDER BY c.last) AS before FROM userstore.commits c) g WHERE g.base <> g.before;
  RETURN QUERY SELECT 'log', format('the log begins after %s, but its oldest commit begins after %s', m.horizon, c.base), bad, none, ''
    FROM userstore.meta m, (SELECT * FROM userstore.commits ORDER BY last LIMIT 1) c WHERE c.base > m.horizon OR m.horizon < 0;
  RETURN QUERY SELECT 'log', format('the log begins after %s and ends at %s', m.horizon, h.seq), bad, none, ''
    FROM userstore.meta m, userstore.head() h WHERE m.horizon > h.seq;
  RETURN QUERY SELECT 'log', format('the log begins after %s, where no set ends with that nonce', m.horizon), bad, none, ''
    FROM userstore.meta m, userstore.nonce_at(m.horizon) a WHERE a.nonce IS DISTINCT FROM m.horizon_nonce;
  RETURN QUERY SELECT 'log', format('transaction %s of %s has %s places', c.xact, c.started, count(*)), bad, none, ''
    FROM userstore.commits c GROUP BY c.xact, c.started HAVING count(*) > 1;

  -- The records.
  RETURN QUERY SELECT 'value', format('the next user would receive the id %s, but there is a user %s', s.last_value + 1, u.id), bad, u.id, ''
    FROM userstore.users_id_seq s, (SELECT max(id) AS id FROM userstore.users) u WHERE u.id > s.last_value;
  RETURN QUERY SELECT 'value', 'no id is left for new users', bad, none, '' FROM userstore.users_id_seq s WHERE s.last_value = 9223372036854775807;
  RETURN QUERY SELECT 'orphan', format('the attribute %s belongs to user %s, who does not exist', a.name, a.user_id), bad, a.user_id, a.name
    FROM userstore.attributes a WHERE NOT EXISTS (SELECT FROM userstore.users u WHERE u.id = a.user_id);
  IF NOT is_deep THEN RETURN; END IF;

  RETURN QUERY SELECT 'value', format('the hair_color of user %s is not a color: %L', u.id, u.hair_color), bad, u.id, 'hair_color'
    FROM userstore.users u WHERE u.hair_color !~ '^#[0-9a-fA-F]{6}$' ORDER BY u.id;
  RETURN QUERY SELECT 'value', CASE
      WHEN a.name IN ('id', 'name', 'hair_color') THEN format('user %s has an attribute of the reserved name %s, which is never read', a.user_id, a.name)
      WHEN a.raw IS NOT NULL THEN format('the %s of user %s is not valid UTF-8', a.name, a.user_id)
      ELSE format('the %s of user %s is not one value', a.name, a.user_id) END, bad, a.user_id, a.name
    FROM userstore.attributes a
    WHERE a.name IN ('id', 'name', 'hair_color') OR num_nonnulls(a.integer, a.real, a.text, a.bytes, a.raw) <> 1 OR a.real = 'NaN'
      OR encode(a.raw, 'hex') !~ ('^(?:[0-7].|(?:c[2-9a-f]|d.)[89ab].|e0[ab].[89ab].|e[1-9a-cef][89ab].[89ab].|ed[89].[89ab].|'
        || 'f0[9ab].[89ab].[89ab].|f[123][89ab].[89ab].[89ab].|f48.[89ab].[89ab].)*$')
    ORDER BY a.user_id, a.name;
  RETURN QUERY SELECT 'log', format('%s rows of transaction %s of %s have no place in the log', count(*), h.xact, h.started), bad, none, ''
    FROM userstore.changes h LEFT JOIN userstore.commits c ON c.xact = h.xact AND c.started = h.started
    WHERE c.last IS NULL AND NOT (h.xact = coalesce(pg_current_xact_id_if_assigned(), '0') AND h.started = now())
    GROUP BY h.xact, h.started;
  RETURN QUERY SELECT 'log', format('the rows of the commit through %s are not numbered %s to %s, or do not end with an end', c.last, g.low, c.last - c.base), bad, none, ''
    FROM userstore.commits c
    LEFT JOIN (SELECT h.xact, h.started, count(*) AS rows, min(h.n) AS low, max(h.n) AS high,
        (max(h.n) FILTER (WHERE h.op = 0)) AS last_end, max(h.nth) AS sets
      FROM userstore.changes h GROUP BY h.xact, h.started) g ON g.xact = c.xact AND g.started = c.started, userstore.meta m
    WHERE g.rows IS NULL OR g.high <> c.last - c.base OR g.last_end IS DISTINCT FROM g.high OR g.rows <> g.high - g.low + 1
      OR g.sets IS DISTINCT FROM c.sets OR g.low <> 1 AND c.base + g.low - 1 > m.horizon;
  RETURN QUERY SELECT 'log', format('revision %s of the log was not written by the triggers', c.base + h.n), bad, h."user", coalesce(h.attribute, '')
    FROM userstore.changes h JOIN userstore.commits c USING (xact, started)
    WHERE h.op NOT BETWEEN 0 AND 6 AND h.op <> 9
      OR CASE WHEN h.op = 0 THEN num_nulls(h.nonce, h.first, h.nth, h.is_foreign) > 0 OR h.first NOT BETWEEN 1 AND h.n - 1
        ELSE num_nonnulls(h.nonce, h.first) > 0
          OR num_nonnulls(h.old_i, h.old_r, h.old_t, h.old_b, h.old_x) > 1 OR num_nonnulls(h.new_i, h.new_r, h.new_t, h.new_b, h.new_x) > 1
          OR CASE h.op
            WHEN 5 THEN h."user" IS NULL
              OR num_nonnulls(h.attribute, h.old_i, h.old_r, h.old_t, h.old_b, h.old_x, h.new_i, h.new_r, h.new_t, h.new_b, h.new_x) > 0
            WHEN 6 THEN h.attribute IS NOT NULL OR h.old_t IS NULL
            WHEN 9 THEN h.old_i IS NULL
              OR num_nonnulls(h."user", h.attribute, h.old_r, h.old_t, h.old_b, h.old_x, h.new_i, h.new_r, h.new_t, h.new_b, h.new_x) > 0
            ELSE num_nulls(h."user", h.attribute) > 0
              OR h.op = 4 AND (h.old_i, h.old_r, h.old_t, h.old_b, h.old_x) IS DISTINCT FROM (h.new_i, h.new_r, h.new_t, h.new_b, h.new_x) END END;
  RETURN QUERY SELECT 'log', format('the set that ends at %s begins at %s, and the one before it ends at %s', c.base + e.n, c.base + e.first, c.base + e.before), bad, none, ''
    FROM (SELECT h.*, lag(h.n) OVER (PARTITION BY h.xact, h.started ORDER BY h.n) AS before FROM userstore.changes h WHERE h.op = 0) e
    JOIN userstore.commits c USING (xact, started) WHERE e.first <> e.before + 1;
  -- The old value of each change is the new value of the one before, and the last one is in the tables: otherwise something was
  -- written past the log. Not for users whose values were removed by a purge. Hashes are sorted, not values.
  RETURN QUERY
    WITH told AS (
      SELECT h."user" AS u, h.attribute AS a, c.base + h.n AS seq,
        hash_record_extended(ROW(h.old_i, float8send(h.old_r), h.old_t, h.old_b, h.old_x), 0) AS old,
        hash_record_extended(ROW(h.new_i, float8send(h.new_r), h.new_t, h.new_b, h.new_x), 0) AS new
      FROM userstore.changes h JOIN userstore.commits c USING (xact, started), userstore.meta m
      WHERE h.op BETWEEN 1 AND 3 AND c.base + h.n > m.horizon
    ), chain AS (
      SELECT t.*, lag(t.seq) OVER w AS seq_before, lag(t.new) OVER w AS before, lead(t.seq) OVER w IS NULL AS is_last
      FROM told t WINDOW w AS (PARTITION BY t.u, t.a ORDER BY t.seq)
    ), present AS (
      SELECT v.u, v.a, hash_record_extended(ROW(v.i, float8send(v.r), v.t, v.b, v.x), 0) AS value
      FROM (SELECT u.id AS u, 'name' AS a, NULL::bigint AS i, NULL::float8 AS r, u.name AS t, NULL::bytea AS b, NULL::bytea AS x FROM userstore.users u
        UNION ALL SELECT u.id, 'hair_color', NULL, NULL, u.hair_color, NULL, NULL FROM userstore.users u WHERE u.hair_color IS NOT NULL
        UNION ALL SELECT a.user_id, a.name, a.integer, a.real, a.text, a.bytes, a.raw FROM userstore.attributes a) v
    ), wrong AS (
      SELECT c.u, c.a, c.seq, c.seq_before FROM chain c WHERE c.seq_before IS NOT NULL AND c.old <> c.before
      UNION ALL
      SELECT coalesce(l.u, p.u), coalesce(l.a, p.a), l.seq, NULL
      FROM (SELECT * FROM chain WHERE is_last) l FULL JOIN present p ON p.u = l.u AND p.a = l.a
      WHERE (l.u IS NOT NULL OR (SELECT m.horizon = 0 FROM userstore.meta m))
        AND l.new IS DISTINCT FROM coalesce(p.value,
          hash_record_extended(ROW(NULL::bigint, NULL::bytea, NULL::text, NULL::bytea, NULL::bytea), 0))
    )
    SELECT 'log', CASE
        WHEN w.seq_before IS NOT NULL THEN format('the %s of user %s has another value before revision %s than after revision %s', w.a, w.u, w.seq, w.seq_before)
        WHEN w.seq IS NULL THEN format('the %s of user %s is not in the log', w.a, w.u)
        ELSE format('the %s of user %s differs from its last value in the log, at revision %s', w.a, w.u, w.seq) END, bad, w.u, w.a
    FROM wrong w WHERE w.u NOT IN (SELECT h."user" FROM userstore.changes h WHERE h.is_blank AND h."user" IS NOT NULL) ORDER BY w.seq;
END $$;

-- MARK: Rights

CREATE OR REPLACE FUNCTION userstore.set_rights(role text, rights text) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  readable constant text[] := ARRAY['milliseconds', 'row_bytes', 'log_rows', 'log_rows_backwards', 'own_rows', 'own_place', 'commit_of',
    'nonce_at', 'time_at', 'head', 'log_state', 'next_end', 'last_end', 'change_count', 'extent', 'scan', 'size_of', 'used_bytes',
    'changes_of', 'indexes', 'parts', 'findings', 'check'];
  writable constant text[] := ARRAY['begin_writing', 'end_set', 'next_base', 'place', 'save_extent', 'forget', 'blank', 'create_index',
    'drop_index', 'post', 'note_purged', 'create_unique', 'drop_unique', 'serve_replicas', 'note_pushed', 'store_decisions',
    'forget_decisions'];
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

REVOKE EXECUTE ON FUNCTION userstore.note_pushed, userstore.store_decisions, userstore.forget_decisions FROM PUBLIC;
-- The roles that set_rights() has made readers and writers.
DO $$
DECLARE
  role text;
BEGIN
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.head()'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT SELECT ON userstore.decisions, userstore.producers TO %I', role);
  END LOOP;
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.begin_writing(boolean)'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION userstore.note_pushed, userstore.store_decisions, userstore.forget_decisions TO %I', role);
  END LOOP;
END $$;

UPDATE userstore.meta SET layout = 7;

INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p
  WHERE p.part ~ '^function (note_pushed|store_decisions|forget_decisions|findings|set_rights)\('
    OR p.part ~ '(^table| of) (decisions|producers)$' OR p.part ~ '^index (decisions_pkey|decisions_number|producers_pkey)$'
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

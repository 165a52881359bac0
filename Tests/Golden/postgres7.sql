--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: userstore; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA userstore;


--
-- Name: SCHEMA userstore; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON SCHEMA userstore IS 'UserStore: users, their attributes, and the log of all changes. Written by any program; the log is kept by triggers.';


--
-- Name: log_row; Type: TYPE; Schema: userstore; Owner: -
--

CREATE TYPE userstore.log_row AS (
	seq bigint,
	op smallint,
	"user" bigint,
	attribute text,
	old_i bigint,
	old_r double precision,
	old_t text,
	old_b bytea,
	old_x bytea,
	new_i bigint,
	new_r double precision,
	new_t text,
	new_b bytea,
	new_x bytea,
	nonce bigint,
	at bigint,
	is_foreign boolean,
	first bigint,
	is_blank boolean
);


--
-- Name: append_note(smallint, bigint, text, bigint, double precision, text, bytea, bytea); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.append_note(kind smallint, about bigint, name text, i bigint, r double precision, t text, b bytea, raw bytea) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean;
BEGIN
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  INSERT INTO userstore.changes (n, op, "user", old_t, new_i, new_r, new_t, new_b, new_x, starts)
    VALUES (k + 1, kind, about, name, i, r, t, b, raw, s);
END $$;


--
-- Name: attributes_added(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.attributes_added() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean; one bigint; attribute text; rows int;
BEGIN
  IF NEW.name IN ('id', 'name', 'hair_color') OR NEW.real = 'NaN' OR num_nonnulls(NEW.integer, NEW.real, NEW.text, NEW.bytes, NEW.raw) <> 1 THEN
    PERFORM userstore.refuse_attribute(NEW);
  END IF;
  -- As for users.
  IF current_setting('session_replication_role') = 'replica' THEN
    BEGIN
      PERFORM FROM new_rows LIMIT 1;
    EXCEPTION WHEN undefined_table THEN
      rows := 1;
    END;
  END IF;
  IF rows IS NULL THEN
    SELECT w.user_id, w.name INTO one, attribute FROM new_rows w LIMIT 1;
    IF NEW.user_id <> one OR NEW.name <> attribute THEN RETURN NULL; END IF;
    SELECT count(*) INTO rows FROM (SELECT FROM new_rows LIMIT 2) t;
  END IF;
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  IF rows = 1 THEN
    INSERT INTO userstore.changes (n, op, "user", attribute, new_i, new_r, new_t, new_b, new_x, starts)
      VALUES (k + 1, 2, NEW.user_id, NEW.name, NEW.integer, NEW.real, NEW.text, NEW.bytes, NEW.raw, s);
  ELSE
    INSERT INTO userstore.changes (n, op, "user", attribute, new_i, new_r, new_t, new_b, new_x, starts)
      SELECT k + place, 2, user_id, name, integer, real, text, bytes, raw, s AND place = 1
      FROM (SELECT *, row_number() OVER (ORDER BY user_id, name)::int AS place FROM new_rows) w ORDER BY place;
  END IF;
  RETURN NULL;
END $$;


--
-- Name: attributes_changed(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.attributes_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean; kind smallint := 2;
BEGIN
  IF OLD.user_id <> NEW.user_id OR OLD.name <> NEW.name THEN
    RAISE EXCEPTION 'the key of an attribute never changes' USING ERRCODE = 'restrict_violation';
  END IF;
  -- In a DELETE, NEW is null.
  IF NEW.real = 'NaN' OR TG_OP = 'UPDATE' AND num_nonnulls(NEW.integer, NEW.real, NEW.text, NEW.bytes, NEW.raw) <> 1 THEN
    PERFORM userstore.refuse_attribute(NEW);
  END IF;
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  IF k > 0 THEN
    IF TG_OP = 'UPDATE' THEN
      -- As for users.
      IF EXISTS (SELECT FROM userstore.attributes a WHERE a.user_id = NEW.user_id AND a.name = NEW.name AND a *<> NEW) THEN
        RAISE EXCEPTION 'the % of user % was changed again within the statement that changes it', NEW.name, NEW.user_id
          USING ERRCODE = 'triggered_data_change_violation';
      END IF;
    ELSE
      -- Removed together with its user, if this transaction has logged that the user was removed; otherwise alone. The log
      -- decides, not the table: a statement can delete the attribute first and then its user, and an attribute without a user (its
      -- user was deleted with session_replication_role = replica) can be deleted while another transaction adds a user with that
      -- id. IS NOT DISTINCT FROM: no other index can be used, whatever the planner expects. It would read all rows of the
      -- transaction.
      SELECT h.op INTO kind FROM userstore.changes h
        WHERE h."user" = OLD.user_id AND h.attribute = 'name' AND h.op IN (1, 3)
          AND h.xact IS NOT DISTINCT FROM pg_current_xact_id() AND h.started IS NOT DISTINCT FROM now()
        ORDER BY h.xact DESC, h.n DESC LIMIT 1;
      IF kind IS DISTINCT FROM 3 THEN kind := 2; END IF;
    END IF;
  END IF;
  INSERT INTO userstore.changes (n, op, "user", attribute,
      old_i, old_r, old_t, old_b, old_x, new_i, new_r, new_t, new_b, new_x, starts)
    VALUES (k + 1, kind, OLD.user_id, OLD.name, OLD.integer, OLD.real, OLD.text, OLD.bytes, OLD.raw,
      NEW.integer, NEW.real, NEW.text, NEW.bytes, NEW.raw, s);
  RETURN NULL;
END $$;


--
-- Name: begin_writing(boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.begin_writing(is_waiting boolean, OUT epoch bigint, OUT seq bigint, OUT nonce bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
BEGIN
  IF is_waiting THEN
    LOCK TABLE userstore.writers IN SHARE UPDATE EXCLUSIVE MODE;
  ELSE
    LOCK TABLE userstore.writers IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
  END IF;
  SELECT * INTO epoch, seq, nonce FROM userstore.head();
END $$;


--
-- Name: blank(bigint, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.blank(place bigint, id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM userstore.users u WHERE u.id = blank.id) THEN
    RAISE EXCEPTION 'user % still exists; only a removed user can be purged', blank.id USING ERRCODE = 'restrict_violation';
  END IF;
  UPDATE userstore.changes h SET old_i = NULL, old_r = NULL, old_t = CASE h.op WHEN 6 THEN h.old_t END, old_b = NULL, old_x = NULL,
      new_i = NULL, new_r = NULL, new_t = NULL, new_b = NULL, new_x = NULL, is_blank = true
    FROM userstore.commit_of(place) c
    WHERE h.xact = c.xact AND h.started = c.started AND h.n = place - c.base AND h."user" = blank.id AND h.op NOT IN (0, 5);
  RETURN FOUND;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: commits; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.commits (
    last bigint NOT NULL,
    base bigint NOT NULL,
    sets integer NOT NULL,
    xact xid8 NOT NULL,
    started timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT commits_check CHECK ((last > base))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='5000');


--
-- Name: commit_of(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.commit_of(place bigint) RETURNS SETOF userstore.commits
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT c.last,
     c.base,
     c.sets,
     c.xact,
     c.started,
     c.at
    FROM ( SELECT commits.last,
             commits.base,
             commits.sets,
             commits.xact,
             commits.started,
             commits.at
            FROM userstore.commits
           WHERE (commits.last >= commit_of.place)
           ORDER BY commits.last
          LIMIT 1) c
   WHERE (c.base < commit_of.place);
END;


--
-- Name: changes; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.changes (
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    started timestamp with time zone DEFAULT now() NOT NULL,
    "user" bigint,
    n integer NOT NULL,
    op smallint NOT NULL,
    starts boolean NOT NULL,
    attribute text COLLATE pg_catalog."C",
    old_i bigint,
    old_r double precision,
    old_t text COLLATE pg_catalog."C",
    old_b bytea,
    old_x bytea,
    new_i bigint,
    new_r double precision,
    new_t text COLLATE pg_catalog."C",
    new_b bytea,
    new_x bytea,
    nonce bigint,
    first integer,
    nth integer,
    is_foreign boolean,
    is_blank boolean
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05', autovacuum_analyze_threshold='5000');
ALTER TABLE ONLY userstore.changes ALTER COLUMN xact SET (n_distinct=-0.3);
ALTER TABLE ONLY userstore.changes ALTER COLUMN started SET (n_distinct=-0.3);
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_i SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_r SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_t SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_t SET STORAGE EXTERNAL;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_b SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_b SET STORAGE EXTERNAL;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_x SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN old_x SET STORAGE EXTERNAL;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_i SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_r SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_t SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_t SET STORAGE EXTERNAL;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_b SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_b SET STORAGE EXTERNAL;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_x SET STATISTICS 0;
ALTER TABLE ONLY userstore.changes ALTER COLUMN new_x SET STORAGE EXTERNAL;


--
-- Name: change_count(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.change_count(after bigint) RETURNS bigint
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT ((COALESCE(( SELECT sum(((c.last - c.base) - c.sets)) AS sum
            FROM userstore.commits c
           WHERE ((c.last > change_count.after) AND (c.base >= change_count.after))), (0)::numeric))::bigint + ( SELECT count(*) AS count
            FROM (userstore.commit_of(change_count.after) c(last, base, sets, xact, started, at)
              JOIN userstore.changes h ON (((h.xact = c.xact) AND (h.started = c.started) AND (h.n > (change_count.after - c.base)) AND (h.op <> 0))))
           WHERE (c.last > change_count.after)));
END;


--
-- Name: row_bytes(userstore.changes); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.row_bytes(h userstore.changes) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN (((64)::bigint + CASE WHEN (((h).op = 0) OR ((h).old_i IS NOT NULL) OR ((h).old_r IS NOT NULL)) THEN 8 ELSE COALESCE(octet_length((h).old_t), octet_length((h).old_b), octet_length((h).old_x), 0) END) + CASE WHEN (((h).new_i IS NOT NULL) OR ((h).new_r IS NOT NULL)) THEN 8 ELSE COALESCE(octet_length((h).new_t), octet_length((h).new_b), octet_length((h).new_x), 0) END);


--
-- Name: changes_of(bigint, bigint, bigint, integer); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.changes_of(id bigint, after bigint, through bigint, max_rows integer) RETURNS TABLE(seq bigint, bytes bigint, is_blank boolean)
    LANGUAGE sql STABLE ROWS 100
    BEGIN ATOMIC
 SELECT (c.base + h.n),
     (userstore.row_bytes(h.*) -
         CASE h.op
             WHEN 6 THEN octet_length(h.old_t)
             ELSE 0
         END),
     COALESCE(h.is_blank, ((h.op = 6) AND (num_nonnulls(h.new_i, h.new_r, h.new_t, h.new_b, h.new_x) = 0))) AS "coalesce"
    FROM (userstore.changes h
      JOIN userstore.commits c ON (((c.xact = h.xact) AND (c.started = h.started))))
   WHERE ((h."user" = changes_of.id) AND (h.op <> ALL (ARRAY[0, 5])) AND (c.last > changes_of.after) AND ((c.base + h.n) > changes_of.after) AND ((c.base + h.n) <= changes_of.through))
   ORDER BY (c.base + h.n)
  LIMIT changes_of.max_rows;
END;


--
-- Name: findings(boolean, interval); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.findings(is_deep boolean, longest interval) RETURNS TABLE(code text, message text, severity text, "user" bigint, attribute text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $_$
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
END $_$;


--
-- Name: check(boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore."check"(is_deep boolean DEFAULT false) RETURNS TABLE(code text, message text, severity text, "user" bigint, attribute text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    BEGIN ATOMIC
 WITH f AS (
          SELECT f_1.code,
             f_1.message,
             f_1.severity,
             f_1."user",
             f_1.attribute,
             f_1.ordinality,
             row_number() OVER (PARTITION BY f_1.code ORDER BY f_1.ordinality) AS nth,
             count(*) OVER (PARTITION BY f_1.code) AS count
            FROM userstore.findings("check".is_deep, '00:10:00'::interval) WITH ORDINALITY f_1(code, message, severity, "user", attribute, ordinality)
         )
  SELECT f.code,
         CASE f.nth
             WHEN 21 THEN format('and %s more of this kind'::text, (f.count - 20))
             ELSE f.message
         END AS message,
     f.severity,
         CASE
             WHEN (f.nth < 21) THEN f."user"
             ELSE NULL::bigint
         END AS "case",
         CASE
             WHEN (f.nth < 21) THEN NULLIF(f.attribute, ''::text)
             ELSE NULL::text
         END AS "case"
    FROM f
   WHERE (f.nth <= 21)
   ORDER BY f.ordinality;
END;


--
-- Name: commit_log(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.commit_log() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  place bigint;
BEGIN
  IF NEW.xact <> pg_current_xact_id() OR NEW.started <> now() THEN
    RAISE EXCEPTION 'the log cannot be loaded into existing tables: restore the whole schema userstore'
      USING ERRCODE = 'restrict_violation';
  END IF;
  place := userstore.finish(NEW.xact, userstore.random_number(), NULL, true, true);
  RETURN NULL;
END $$;


--
-- Name: create_index(text); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.create_index(attribute text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $_$
DECLARE
  mark text := 'userstore: the values of ' || attribute; kind text; name text; source text;
BEGIN
  IF attribute IS NULL OR attribute = 'id' OR length(attribute) NOT BETWEEN 1 AND 200 THEN
    RAISE EXCEPTION 'there is no index for the attribute %', coalesce(quote_literal(attribute), 'null') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM userstore.indexes() i WHERE i.attribute = create_index.attribute) THEN RETURN false; END IF;
  IF (SELECT count(*) FROM userstore.indexes()) >= 64 THEN
    RAISE EXCEPTION 'there are indexes for 64 attributes already' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  FOREACH kind IN ARRAY CASE WHEN attribute IN ('name', 'hair_color') THEN ARRAY['users'] ELSE ARRAY['integer', 'real', 'text'] END LOOP
    name := format('attribute_%s_%s', md5(attribute), kind);
    source := CASE kind
      WHEN 'users' THEN format('users (%1$I, id) WHERE %1$I IS NOT NULL', attribute)
      ELSE format('attributes (%1$I, user_id) WHERE name = %2$L AND %1$I IS NOT NULL', kind, attribute) END;
    EXECUTE format('CREATE INDEX %I ON userstore.%s', name, source);
    EXECUTE format('COMMENT ON INDEX userstore.%I IS %L', name, mark);
  END LOOP;
  RETURN true;
END $_$;


--
-- Name: create_unique(text, boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.create_unique(attribute text, ignores_case boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  mark text := format('userstore: unique values%s of %s', CASE WHEN ignores_case THEN ', ignoring case,' ELSE '' END, attribute);
  marks text[];
  name text := format('unique_%s_%s', left(regexp_replace(lower(attribute COLLATE "C"), '[^a-z0-9]+', '_', 'g'), 40), left(md5(attribute), 8));
BEGIN
  IF attribute IS NULL OR ignores_case IS NULL OR attribute = 'id' OR length(attribute) NOT BETWEEN 1 AND 200 THEN
    RAISE EXCEPTION 'the attribute % cannot be unique', coalesce(quote_literal(attribute), 'null') USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  SELECT array_agg(d.description) INTO marks FROM pg_index i
    JOIN pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
    WHERE i.indrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass)
      AND starts_with(d.description, 'userstore: unique values');
  IF mark = ANY (marks) THEN RETURN false; END IF;
  IF NOT userstore.drop_unique(attribute) AND cardinality(marks) >= 16 THEN
    RAISE EXCEPTION '16 attributes are unique already' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  EXECUTE format('CREATE UNIQUE INDEX %I ON userstore.%s', name, CASE WHEN attribute IN ('name', 'hair_color')
    THEN format('users ((%s)) WHERE %I IS NOT NULL', userstore.unique_key(attribute, ignores_case), attribute)
    ELSE format('attributes ((%s)) WHERE name = %L', userstore.unique_key(attribute, ignores_case), attribute) END);
  EXECUTE format('COMMENT ON INDEX userstore.%I IS %L', name, mark);
  RETURN true;
END $$;


--
-- Name: drop_index(text); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.drop_index(attribute text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  name regclass; found_one boolean := false;
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  FOR name IN
    SELECT i.indexrelid::regclass FROM pg_index i
      JOIN pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
    WHERE i.indrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass)
      AND d.description = 'userstore: the values of ' || drop_index.attribute
  LOOP
    EXECUTE format('DROP INDEX %s', name);
    found_one := true;
  END LOOP;
  RETURN found_one;
END $$;


--
-- Name: drop_unique(text); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.drop_unique(attribute text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  name regclass;
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  SELECT i.indexrelid::regclass INTO name FROM pg_index i
    JOIN pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
    WHERE i.indrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass)
      AND d.description IN ('userstore: unique values of ' || attribute, 'userstore: unique values, ignoring case, of ' || attribute);
  IF name IS NULL THEN RETURN false; END IF;
  EXECUTE format('DROP INDEX %s', name);
  RETURN true;
END $$;


--
-- Name: end_set(bigint, text, boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.end_set(nonce bigint, origin text, takes_place boolean DEFAULT false) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id_if_assigned();
BEGIN
  IF nonce IS NULL THEN RAISE EXCEPTION 'the nonce of a set is null' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF octet_length(origin) > 10000 THEN
    RAISE EXCEPTION 'the origin of a set has more than 10,000 bytes' USING ERRCODE = 'program_limit_exceeded';
  END IF;
  IF x IS NULL THEN RETURN NULL; END IF;
  RETURN userstore.finish(x, nonce, origin, false, takes_place);
END $$;


--
-- Name: consumers; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.consumers (
    name text NOT NULL COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    seq bigint NOT NULL,
    nonce bigint NOT NULL,
    holder bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='50');


--
-- Name: meta; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.meta (
    id integer NOT NULL,
    layout integer NOT NULL,
    min_client integer NOT NULL,
    epoch bigint NOT NULL,
    horizon bigint DEFAULT 0 NOT NULL,
    horizon_nonce bigint DEFAULT 0 NOT NULL,
    measured bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    searched bigint DEFAULT 0 NOT NULL,
    sized bigint DEFAULT 0 NOT NULL,
    size bigint DEFAULT 0 NOT NULL,
    CONSTRAINT meta_id_check CHECK ((id = 1))
)
WITH (fillfactor='50');


--
-- Name: extent(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.extent(assumed bigint) RETURNS TABLE(epoch bigint, horizon bigint, horizon_nonce bigint, measured bigint, bytes bigint, first bigint, last bigint, consumer bigint, searched bigint, sized bigint, size bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT m.epoch,
     m.horizon,
     m.horizon_nonce,
     m.measured,
     m.bytes,
     ( SELECT (c.base + ( SELECT h.n
                    FROM userstore.changes h
                   WHERE ((h.xact = c.xact) AND (h.started = c.started))
                   ORDER BY h.n
                  LIMIT 1))
            FROM ( SELECT commits.last,
                     commits.base,
                     commits.sets,
                     commits.xact,
                     commits.started,
                     commits.at
                    FROM userstore.commits
                   ORDER BY commits.last
                  LIMIT 1) c),
     ( SELECT max(c.last) AS max
            FROM userstore.commits c) AS max,
     ( SELECT min(s.seq) AS min
            FROM userstore.consumers s
           WHERE ((s.epoch = m.epoch) AND (s.seq >= GREATEST(m.horizon, extent.assumed)))) AS min,
     m.searched,
     m.sized,
     m.size
    FROM userstore.meta m
   WHERE (m.id = 1);
END;


--
-- Name: finish(xid8, bigint, text, boolean, boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.finish(x xid8, new_nonce bigint, origin text, is_foreign boolean, takes_place boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  k int; kind smallint; m int; start int := 0; through bigint; b bigint; is_own boolean; ignored text;
BEGIN
  SELECT c.n, c.op, c.nth INTO k, kind, m FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF kind <> 0 THEN
    -- The end before, which cannot be there if this is the first row.
    IF k > 1 THEN
      SELECT c.n, c.nth INTO start, m FROM userstore.changes c
        WHERE c.xact = x AND c.started = now() AND c.op = 0 ORDER BY c.n DESC LIMIT 1;
    END IF;
    k := k + 1;
    m := coalesce(m, 0) + 1;
    INSERT INTO userstore.changes (xact, started, n, op, starts, attribute, nonce, first, nth, is_foreign)
      VALUES (x, now(), k, 0, false, origin, new_nonce, coalesce(start, 0) + 1, m, is_foreign);
    IF NOT takes_place THEN RETURN k; END IF;
  ELSIF k IS NULL OR NOT takes_place THEN
    RETURN NULL;
  END IF;
  LOCK TABLE userstore.line IN SHARE UPDATE EXCLUSIVE MODE;
  -- The newest place that this transaction can see; its own, if it has one.
  SELECT c.last, c.base, c.xact = x AND c.started = now() INTO through, b, is_own FROM userstore.commits c ORDER BY c.last DESC LIMIT 1;
  IF is_own THEN
    IF through = b + k THEN RETURN through; END IF;
    UPDATE userstore.commits c SET last = b + k, sets = m WHERE c.last = through;
    through := setval('userstore.placed', b + k, true);
  ELSE
    b := through;
    IF b IS NULL THEN SELECT g.horizon INTO b FROM userstore.meta g; END IF;
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
      -- Under READ COMMITTED every statement sees what was committed before it, so that b is right. Here, the snapshot is older.
      b := userstore.place_before(b, x);
    END IF;
    b := setval('userstore.placed_before', b);
    through := setval('userstore.placed', b + k, false);
    INSERT INTO userstore.commits (last, base, sets, xact, started, at) VALUES (through, b, m, x, now(), clock_timestamp());
  END IF;
  ignored := pg_notify('userstore', through::text);
  RETURN through;
END $$;


--
-- Name: forget(bigint, integer); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.forget(through bigint, max_rows integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  c userstore.commits; top bigint; oldest bigint; deleted bigint := 0; d bigint;
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  SELECT e.first, least(forget.through, e.horizon, e.last - 1) INTO oldest, top FROM userstore.extent(0) e;
  top := least(top, oldest + max_rows - 1);
  IF top IS NULL OR top < oldest THEN RETURN 0; END IF;
  FOR c IN SELECT * FROM userstore.commits t WHERE t.last <= coalesce(
      (SELECT u.last FROM userstore.commits u WHERE u.last >= top ORDER BY u.last LIMIT 1), top) ORDER BY t.last
  LOOP
    DELETE FROM userstore.changes h WHERE h.xact = c.xact AND h.started = c.started AND h.n <= top - c.base;
    GET DIAGNOSTICS d = ROW_COUNT;
    deleted := deleted + d;
    IF c.last <= top THEN DELETE FROM userstore.commits t WHERE t.last = c.last; END IF;
  END LOOP;
  RETURN deleted;
END $$;


--
-- Name: decisions; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.decisions (
    nonce bigint NOT NULL,
    producer bigint NOT NULL,
    number bigint NOT NULL,
    result text NOT NULL COLLATE pg_catalog."C",
    detail text COLLATE pg_catalog."C",
    at bigint NOT NULL
);


--
-- Name: producers; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.producers (
    producer bigint NOT NULL,
    forgotten bigint NOT NULL
);


--
-- Name: forget_decisions(bigint, bigint, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.forget_decisions(producer bigint, through bigint, before bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    BEGIN ATOMIC
 WITH old AS (
          SELECT d_1.number
            FROM userstore.decisions d_1
           WHERE ((d_1.producer = forget_decisions.producer) AND ((d_1.number >= 1) AND (d_1.number <= forget_decisions.through)) AND (d_1.at < forget_decisions.before))
           ORDER BY d_1.number
          LIMIT 1000
         ), noted AS (
          INSERT INTO userstore.producers AS p (producer, forgotten)  SELECT forget_decisions.producer AS producer,
                     max(o.number) AS max
                    FROM old o
                  HAVING (count(*) > 0) ON CONFLICT(producer) DO UPDATE SET forgotten = GREATEST(p.forgotten, excluded.forgotten)
         )
  DELETE FROM userstore.decisions d
   WHERE ((d.producer = forget_decisions.producer) AND ((d.number >= 1) AND (d.number <= ( SELECT max(o.number) AS max
            FROM old o))));
END;


--
-- Name: has_place(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.has_place() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  RETURN coalesce((SELECT c.xact = pg_current_xact_id() AND c.started = now() FROM userstore.commits c ORDER BY c.last DESC LIMIT 1), false);
END $$;


--
-- Name: head(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.head() RETURNS TABLE(epoch bigint, seq bigint, nonce bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT m.epoch,
     COALESCE(h.last, m.horizon) AS "coalesce",
     COALESCE(h.nonce, m.horizon_nonce) AS "coalesce"
    FROM (userstore.meta m
      LEFT JOIN LATERAL ( SELECT c.last,
             t.nonce
            FROM (( SELECT commits.last,
                     commits.base,
                     commits.sets,
                     commits.xact,
                     commits.started,
                     commits.at
                    FROM userstore.commits
                   ORDER BY commits.last DESC
                  LIMIT 1) c
              JOIN userstore.changes t ON (((t.xact = c.xact) AND (t.started = c.started) AND (t.n = (c.last - c.base)))))) h ON (true))
   WHERE (m.id = 1);
END;


--
-- Name: attributes; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.attributes (
    user_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    "integer" bigint,
    "real" double precision,
    text text COLLATE pg_catalog."C",
    bytes bytea,
    raw bytea
)
WITH (fillfactor='90');


--
-- Name: users; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.users (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    hair_color text COLLATE pg_catalog."C"
)
WITH (fillfactor='90');


--
-- Name: indexes(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.indexes() RETURNS TABLE(attribute text)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT DISTINCT (substr(d.description, 26) COLLATE "C") AS substr
    FROM (pg_index i
      JOIN pg_description d ON (((d.objoid = i.indexrelid) AND (d.classoid = ('pg_class'::regclass)::oid) AND (d.objsubid = 0))))
   WHERE ((i.indrelid = ANY (ARRAY[('userstore.users'::regclass)::oid, ('userstore.attributes'::regclass)::oid])) AND starts_with(d.description, 'userstore: the values of '::text))
   ORDER BY (substr(d.description, 26) COLLATE "C");
END;


--
-- Name: is_last(bigint, xid8); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.is_last(place bigint, x xid8) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO userstore.commits (last, base, sets, xact, started, at) VALUES (place, place - 1, 0, x, now(), now());
  RAISE EXCEPTION 'not there' USING ERRCODE = 'UN000';  -- undoes the insertion
EXCEPTION
  WHEN unique_violation THEN RETURN true;
  WHEN SQLSTATE 'UN000' THEN RETURN false;
END $$;


--
-- Name: last_end(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.last_end(after bigint) RETURNS TABLE(seq bigint, first bigint, nonce bigint, origin text, is_foreign boolean)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT c.last,
     (c.base + h.first),
     h.nonce,
     h.attribute,
     h.is_foreign
    FROM (( SELECT commits.last,
             commits.base,
             commits.sets,
             commits.xact,
             commits.started,
             commits.at
            FROM userstore.commits
           WHERE (commits.last > last_end.after)
           ORDER BY commits.last DESC
          LIMIT 1) c
      JOIN userstore.changes h ON (((h.xact = c.xact) AND (h.started = c.started) AND (h.n = (c.last - c.base)))));
END;


--
-- Name: milliseconds(timestamp with time zone); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.milliseconds(t timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN ((date_part('epoch'::text, t) * (1000)::double precision))::bigint;


--
-- Name: log_rows(bigint, bigint, integer, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.log_rows(after bigint, through bigint, max_rows integer, max_bytes bigint DEFAULT 1048576) RETURNS SETOF userstore.log_row
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT p.seq,
     p.op,
     p."user",
     p.attribute,
     p.old_i,
     p.old_r,
     p.old_t,
     p.old_b,
     p.old_x,
     p.new_i,
     p.new_r,
     p.new_t,
     p.new_b,
     p.new_x,
     p.nonce,
     p.at,
     p.is_foreign,
     p.first,
     p.is_blank
    FROM ( SELECT c.last,
             h.n,
             (c.base + h.n) AS seq,
             h.op,
             h."user",
             h.attribute,
             h.old_i,
             h.old_r,
             h.old_t,
             h.old_b,
             h.old_x,
             h.new_i,
             h.new_r,
             h.new_t,
             h.new_b,
             h.new_x,
             h.nonce,
             userstore.milliseconds(c.at) AS at,
             COALESCE(h.is_foreign, false) AS is_foreign,
             (c.base + h.first) AS first,
             COALESCE(h.is_blank, false) AS is_blank,
             sum(h.bytes) OVER (ORDER BY c.last, h.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
            FROM (userstore.commits c
              CROSS JOIN LATERAL ( SELECT t.xact,
                     t.started,
                     t."user",
                     t.n,
                     t.op,
                     t.starts,
                     t.attribute,
                     t.old_i,
                     t.old_r,
                     t.old_t,
                     t.old_b,
                     t.old_x,
                     t.new_i,
                     t.new_r,
                     t.new_t,
                     t.new_b,
                     t.new_x,
                     t.nonce,
                     t.first,
                     t.nth,
                     t.is_foreign,
                     t.is_blank,
                     userstore.row_bytes(t.*) AS bytes
                    FROM userstore.changes t
                   WHERE ((t.xact = c.xact) AND (t.started = c.started) AND (t.n > (log_rows.after - c.base)) AND (t.n <= (log_rows.through - c.base)))
                   ORDER BY t.n
                  LIMIT log_rows.max_rows) h)
           WHERE ((c.last > log_rows.after) AND (c.last <=
                 CASE log_rows.through
                     WHEN '9223372036854775807'::bigint THEN '9223372036854775807'::bigint
                     ELSE COALESCE(( SELECT d.last
                        FROM userstore.commits d
                       WHERE (d.last >= log_rows.through)
                       ORDER BY d.last
                      LIMIT 1), '9223372036854775807'::bigint)
                 END))
           ORDER BY c.last, h.n
          LIMIT log_rows.max_rows) p
   WHERE (COALESCE(p.bytes_before, (0)::numeric) < (log_rows.max_bytes)::numeric)
   ORDER BY p.last, p.n;
END;


--
-- Name: log_rows_backwards(bigint, bigint, integer, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.log_rows_backwards("from" bigint, before bigint, max_rows integer, max_bytes bigint DEFAULT 1048576) RETURNS SETOF userstore.log_row
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT p.seq,
     p.op,
     p."user",
     p.attribute,
     p.old_i,
     p.old_r,
     p.old_t,
     p.old_b,
     p.old_x,
     p.new_i,
     p.new_r,
     p.new_t,
     p.new_b,
     p.new_x,
     p.nonce,
     userstore.milliseconds(p.at) AS milliseconds,
     COALESCE(p.is_foreign, false) AS "coalesce",
     p.first,
     COALESCE(p.is_blank, false) AS "coalesce"
    FROM ( SELECT r.seq,
             r.first,
             r.op,
             r."user",
             r.attribute,
             r.old_i,
             r.old_r,
             r.old_t,
             r.old_b,
             r.old_x,
             r.new_i,
             r.new_r,
             r.new_t,
             r.new_b,
             r.new_x,
             r.nonce,
             r.at,
             r.is_foreign,
             r.is_blank,
             r.bytes,
             sum(r.bytes) OVER (ORDER BY r.seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
            FROM ( SELECT (c.base + h.n) AS seq,
                     (c.base + h.first) AS first,
                     h.op,
                     h."user",
                     h.attribute,
                     h.old_i,
                     h.old_r,
                     h.old_t,
                     h.old_b,
                     h.old_x,
                     h.new_i,
                     h.new_r,
                     h.new_t,
                     h.new_b,
                     h.new_x,
                     h.nonce,
                     c.at,
                     h.is_foreign,
                     h.is_blank,
                     h.bytes
                    FROM (userstore.commits c
                      CROSS JOIN LATERAL ( SELECT t.xact,
                             t.started,
                             t."user",
                             t.n,
                             t.op,
                             t.starts,
                             t.attribute,
                             t.old_i,
                             t.old_r,
                             t.old_t,
                             t.old_b,
                             t.old_x,
                             t.new_i,
                             t.new_r,
                             t.new_t,
                             t.new_b,
                             t.new_x,
                             t.nonce,
                             t.first,
                             t.nth,
                             t.is_foreign,
                             t.is_blank,
                             userstore.row_bytes(t.*) AS bytes
                            FROM userstore.changes t
                           WHERE ((t.xact = c.xact) AND (t.started = c.started) AND (t.n >= (log_rows_backwards."from" - c.base)) AND (t.n < (log_rows_backwards.before - c.base)))
                           ORDER BY t.n DESC
                          LIMIT log_rows_backwards.max_rows) h)
                   WHERE ((c.last >= log_rows_backwards."from") AND (c.last <= COALESCE(( SELECT d.last
                            FROM userstore.commits d
                           WHERE (d.last >= (log_rows_backwards.before - 1))
                           ORDER BY d.last
                          LIMIT 1), '9223372036854775807'::bigint)))
                   ORDER BY c.last DESC, h.n DESC
                  LIMIT log_rows_backwards.max_rows) r) p
   WHERE (COALESCE(p.bytes_before, (0)::numeric) < (log_rows_backwards.max_bytes)::numeric)
   ORDER BY p.seq DESC;
END;


--
-- Name: nonce_at(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.nonce_at(place bigint) RETURNS TABLE(nonce bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT h.nonce
    FROM (userstore.commit_of(nonce_at.place) c(last, base, sets, xact, started, at)
      JOIN userstore.changes h ON (((h.xact = c.xact) AND (h.started = c.started) AND (h.n = ((nonce_at.place - c.base))::integer))));
END;


--
-- Name: log_state(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.log_state(place bigint) RETURNS TABLE(epoch bigint, horizon bigint, horizon_nonce bigint, last bigint, nonce bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT m.epoch,
     m.horizon,
     m.horizon_nonce,
     ( SELECT max(c.last) AS max
            FROM userstore.commits c) AS max,
     ( SELECT a.nonce
            FROM userstore.nonce_at(log_state.place) a(nonce)) AS nonce
    FROM userstore.meta m
   WHERE (m.id = 1);
END;


--
-- Name: next_base(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.next_base() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
BEGIN
  LOCK TABLE userstore.line IN SHARE UPDATE EXCLUSIVE MODE;
  RETURN coalesce((SELECT p.base FROM userstore.own_place() p), (SELECT max(c.last) FROM userstore.commits c),
    (SELECT m.horizon FROM userstore.meta m));
END $$;


--
-- Name: next_end(bigint, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.next_end(after bigint, through bigint) RETURNS TABLE(seq bigint, first bigint, nonce bigint, origin text, is_foreign boolean)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 WITH RECURSIVE e AS (
          SELECT c.base,
             c.xact,
             c.started,
             h.n,
             h.first,
             h.nonce,
             h.attribute,
             h.is_foreign
            FROM (( SELECT commits.last,
                     commits.base,
                     commits.sets,
                     commits.xact,
                     commits.started,
                     commits.at
                    FROM userstore.commits
                   WHERE (commits.last > next_end.after)
                   ORDER BY commits.last
                  LIMIT 1) c
              JOIN userstore.changes h ON (((h.xact = c.xact) AND (h.started = c.started) AND (h.n = ((c.last - c.base))::integer))))
         UNION ALL
          SELECT e_1.base,
             e_1.xact,
             e_1.started,
             h.n,
             h.first,
             h.nonce,
             h.attribute,
             h.is_foreign
            FROM (e e_1
              CROSS JOIN LATERAL ( SELECT t.xact,
                     t.started,
                     t."user",
                     t.n,
                     t.op,
                     t.starts,
                     t.attribute,
                     t.old_i,
                     t.old_r,
                     t.old_t,
                     t.old_b,
                     t.old_x,
                     t.new_i,
                     t.new_r,
                     t.new_t,
                     t.new_b,
                     t.new_x,
                     t.nonce,
                     t.first,
                     t.nth,
                     t.is_foreign,
                     t.is_blank
                    FROM userstore.changes t
                   WHERE ((t.xact = e_1.xact) AND (t.started = e_1.started) AND (t.n = (e_1.first - 1)))
                  LIMIT 1) h)
           WHERE (((e_1.base + e_1.first) - 1) > next_end.after)
         )
  SELECT (e.base + e.n),
     (e.base + e.first),
     e.nonce,
     e.attribute,
     e.is_foreign
    FROM e
   WHERE ((e.base + e.n) <= next_end.through)
   ORDER BY e.n
  LIMIT 1;
END;


--
-- Name: note_purged(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.note_purged(id bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
BEGIN
  IF id IS NULL THEN RAISE EXCEPTION 'the user is null' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF EXISTS (SELECT FROM userstore.users u WHERE u.id = note_purged.id) THEN
    RAISE EXCEPTION 'user % still exists; only a removed user can be purged', note_purged.id USING ERRCODE = 'restrict_violation';
  END IF;
  INSERT INTO userstore.purged (user_id) VALUES (note_purged.id) ON CONFLICT DO NOTHING;
  PERFORM userstore.append_note(5::smallint, id, NULL, NULL, NULL, NULL, NULL, NULL);
END $$;


--
-- Name: note_pushed(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.note_pushed(nonce bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
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


--
-- Name: own_place(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.own_place() RETURNS TABLE(base bigint, last bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT c.base,
     c.last
    FROM ( SELECT commits.last,
             commits.base,
             commits.sets,
             commits.xact,
             commits.started,
             commits.at
            FROM userstore.commits
           ORDER BY commits.last DESC
          LIMIT 1) c
   WHERE ((c.xact = pg_current_xact_id_if_assigned()) AND (c.started = now()));
END;


--
-- Name: own_rows(integer, integer, integer, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.own_rows(after integer, through integer, max_rows integer, max_bytes bigint DEFAULT 1048576) RETURNS SETOF userstore.log_row
    LANGUAGE sql STABLE ROWS 100
    BEGIN ATOMIC
 SELECT (p.n)::bigint AS n,
     p.op,
     p."user",
     p.attribute,
     p.old_i,
     p.old_r,
     p.old_t,
     p.old_b,
     p.old_x,
     p.new_i,
     p.new_r,
     p.new_t,
     p.new_b,
     p.new_x,
     p.nonce,
     userstore.milliseconds(p.started) AS milliseconds,
     COALESCE(p.is_foreign, false) AS "coalesce",
     (p.first)::bigint AS first,
     COALESCE(p.is_blank, false) AS "coalesce"
    FROM ( SELECT r.xact,
             r.started,
             r."user",
             r.n,
             r.op,
             r.starts,
             r.attribute,
             r.old_i,
             r.old_r,
             r.old_t,
             r.old_b,
             r.old_x,
             r.new_i,
             r.new_r,
             r.new_t,
             r.new_b,
             r.new_x,
             r.nonce,
             r.first,
             r.nth,
             r.is_foreign,
             r.is_blank,
             r.bytes,
             sum(r.bytes) OVER (ORDER BY r.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
            FROM ( SELECT t.xact,
                     t.started,
                     t."user",
                     t.n,
                     t.op,
                     t.starts,
                     t.attribute,
                     t.old_i,
                     t.old_r,
                     t.old_t,
                     t.old_b,
                     t.old_x,
                     t.new_i,
                     t.new_r,
                     t.new_t,
                     t.new_b,
                     t.new_x,
                     t.nonce,
                     t.first,
                     t.nth,
                     t.is_foreign,
                     t.is_blank,
                     userstore.row_bytes(t.*) AS bytes
                    FROM userstore.changes t
                   WHERE ((t.xact = pg_current_xact_id_if_assigned()) AND (t.started = now()) AND (t.n > own_rows.after) AND (t.n <= own_rows.through))
                   ORDER BY t.n
                  LIMIT own_rows.max_rows) r) p
   WHERE (COALESCE(p.bytes_before, (0)::numeric) < (own_rows.max_bytes)::numeric)
   ORDER BY p.n;
END;


--
-- Name: parts(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.parts() RETURNS TABLE(part text, definition text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT format('table %s'::text, c.relname) AS format,
     concat_ws(' '::text, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, ( SELECT count(*) AS count
            FROM pg_inherits i
           WHERE ((i.inhparent = c.oid) OR (i.inhrelid = c.oid)))) AS concat_ws
    FROM pg_class c
   WHERE ((c.relnamespace = ('userstore'::regnamespace)::oid) AND (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char", 'S'::"char", 'm'::"char", 'f'::"char"])))
 UNION ALL
  SELECT format('column %s of %s'::text, a.attname, c.relname) AS format,
     concat_ws(' '::text, format_type(a.atttypid, a.atttypmod), l.collname, a.attnotnull, a.attidentity, a.attgenerated, a.atthasdef) AS concat_ws
    FROM ((pg_class c
      JOIN pg_attribute a ON ((a.attrelid = c.oid)))
      LEFT JOIN pg_collation l ON ((l.oid = a.attcollation)))
   WHERE ((c.relnamespace = ('userstore'::regnamespace)::oid) AND (c.relkind = ANY (ARRAY['r'::"char", 'p'::"char", 'v'::"char"])) AND (a.attnum > 0) AND (NOT a.attisdropped))
 UNION ALL
  SELECT format('constraint %s of %s'::text, t.conname, c.relname) AS format,
     concat_ws(' '::text, t.contype, t.convalidated, t.condeferrable, t.confdeltype, ( SELECT string_agg((a.attname)::text, ','::text ORDER BY ((a.attname)::text)) AS string_agg
            FROM pg_attribute a
           WHERE ((a.attrelid = t.conrelid) AND (a.attnum = ANY (t.conkey))))) AS concat_ws
    FROM (pg_constraint t
      JOIN pg_class c ON ((c.oid = t.conrelid)))
   WHERE ((t.connamespace = ('userstore'::regnamespace)::oid) AND (t.contype = ANY (ARRAY['p'::"char", 'u'::"char", 'f'::"char", 'c'::"char", 'x'::"char"])))
 UNION ALL
  SELECT format('index %s'::text, c.relname) AS format,
     concat_ws(' '::text, i.indisvalid, i.indisunique, (i.indpred IS NOT NULL), ( SELECT string_agg(pg_get_indexdef(i.indexrelid, k.k, false), ','::text ORDER BY k.k) AS string_agg
            FROM generate_series(1, (i.indnatts)::integer) k(k))) AS concat_ws
    FROM (pg_index i
      JOIN pg_class c ON ((c.oid = i.indexrelid)))
   WHERE (c.relnamespace = ('userstore'::regnamespace)::oid)
 UNION ALL
  SELECT format('function %s(%s)'::text, p.proname, pg_get_function_identity_arguments(p.oid)) AS format,
     concat_ws(' '::text, p.prosecdef, p.provolatile, p.proconfig, md5(p.prosrc)) AS concat_ws
    FROM pg_proc p
   WHERE (p.pronamespace = ('userstore'::regnamespace)::oid);
END;


--
-- Name: place(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.place() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id_if_assigned();
BEGIN
  IF x IS NULL THEN RETURN NULL; END IF;
  RETURN userstore.finish(x, userstore.random_number(), NULL, true, true);
END $$;


--
-- Name: place_before(bigint, xid8); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.place_before(seen bigint, x xid8) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  candidate bigint; is_extended boolean; before bigint; is_known boolean; tries int := 0;
BEGIN
  SELECT last_value, is_called INTO candidate, is_extended FROM userstore.placed;
  SELECT last_value, NOT is_called INTO before, is_known FROM userstore.placed_before;
  -- A snapshot that is newer than the last transaction that gave up sees every place.
  IF is_known AND pg_visible_in_snapshot((SELECT r.last_value::text::xid8 FROM userstore.refused r), pg_current_snapshot()) THEN
    RETURN seen;
  END IF;
  -- Usually the first candidate is right. If not, that transaction was rolled back, or its last extension was.
  WHILE candidate > greatest(before, seen) LOOP
    IF userstore.is_last(candidate, x) THEN RETURN candidate; END IF;
    EXIT WHEN NOT is_extended;
    candidate := candidate - 1;
    tries := tries + 1;
    -- The line is held meanwhile: a large extension that is rolled back again and again would stop everybody.
    IF tries = 1000 THEN
      PERFORM setval('userstore.refused', x::text::bigint), setval('userstore.placed_before', before, false);
      RAISE EXCEPTION 'the place of this transaction in the log is unknown, because its snapshot is too old: try again'
        USING ERRCODE = 'serialization_failure';
    END IF;
  END LOOP;
  -- If even the place before does not exist, the sequences are from a dump, which reads them later than the tables; then
  -- nothing was committed since the restore.
  IF before > seen AND userstore.is_last(before, x) THEN RETURN before; END IF;
  RETURN seen;
END $$;


--
-- Name: post(text, text, bigint, bigint, double precision, bytea, bytea); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.post(name text, payload text DEFAULT NULL::text, about bigint DEFAULT NULL::bigint, payload_integer bigint DEFAULT NULL::bigint, payload_real double precision DEFAULT NULL::double precision, payload_bytes bytea DEFAULT NULL::bytea, payload_raw bytea DEFAULT NULL::bytea) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  size int := greatest(octet_length(payload), octet_length(payload_bytes), octet_length(payload_raw));
BEGIN
  IF name IS NULL THEN RAISE EXCEPTION 'the name of an event is null' USING ERRCODE = 'null_value_not_allowed'; END IF;
  IF length(name) NOT BETWEEN 1 AND 200 THEN
    RAISE EXCEPTION 'the name of an event has 1 to 200 characters, not %', length(name) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- E: the same pattern whatever standard_conforming_strings is in the session.
  IF name COLLATE "C" ~ E'[\\u0001-\\u001f\\u007f-\\u009f]' THEN
    RAISE EXCEPTION 'the name of an event cannot contain control characters' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF num_nonnulls(payload, payload_integer, payload_real, payload_bytes, payload_raw) > 1 OR payload_real = 'NaN' THEN
    RAISE EXCEPTION 'the payload of an event is one value or none, and not NaN' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF size > 16777216 THEN
    RAISE EXCEPTION 'the payload of an event can have at most 16777216 bytes, not %', size USING ERRCODE = 'program_limit_exceeded';
  END IF;
  IF about IS NOT NULL THEN
    PERFORM FROM userstore.users u WHERE u.id = about FOR KEY SHARE;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no user %', about USING ERRCODE = 'foreign_key_violation'; END IF;
  END IF;
  PERFORM userstore.append_note(6::smallint, about, name, payload_integer, payload_real, payload, payload_bytes, payload_raw);
END $$;


--
-- Name: random_number(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.random_number() RETURNS bigint
    LANGUAGE sql
    RETURN uuid_hash_extended(gen_random_uuid(), (0)::bigint);


--
-- Name: refuse(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;


--
-- Name: refuse_attribute(userstore.attributes); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.refuse_attribute(a userstore.attributes) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'check_violation', SCHEMA = 'userstore', TABLE = 'attributes', MESSAGE = CASE
    WHEN a.name IN ('id', 'name', 'hair_color') THEN format('an attribute cannot have the name "%s": users has a column of that name', a.name)
    WHEN a.real = 'NaN' THEN format('the %s of user %s would be NaN, which is not a value', a.name, a.user_id)
    ELSE format('the %s of user %s would have %s values: exactly one of integer, real, text, bytes and raw must be set',
      a.name, a.user_id, num_nonnulls(a.integer, a.real, a.text, a.bytes, a.raw)) END;
END $$;


--
-- Name: renew(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.renew() RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  e bigint := userstore.random_number();
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  LOCK TABLE userstore.line IN EXCLUSIVE MODE;
  UPDATE userstore.meta m SET epoch = e, horizon = h.seq, horizon_nonce = h.nonce, measured = h.seq, bytes = 0,
    searched = h.seq, sized = h.seq, size = 0 FROM userstore.head() h WHERE m.id = 1;
  PERFORM pg_notify('userstore', '');
  RETURN e;
END $$;


--
-- Name: save_extent(bigint, bigint, bigint, bigint, bigint, bigint, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.save_extent(horizon bigint, horizon_nonce bigint, measured bigint, bytes bigint, searched bigint, sized bigint, size bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
#variable_conflict use_variable
DECLARE
  m userstore.meta;
BEGIN
  LOCK TABLE userstore.writers IN EXCLUSIVE MODE;
  SELECT * INTO m FROM userstore.meta t WHERE t.id = 1;
  IF horizon < m.horizon OR horizon = m.horizon AND horizon_nonce <> m.horizon_nonce
    OR horizon > m.horizon AND (SELECT a.nonce FROM userstore.nonce_at(horizon) a) IS DISTINCT FROM horizon_nonce
  THEN
    RAISE EXCEPTION 'the log cannot start after %: no change set ends there', horizon USING ERRCODE = 'restrict_violation';
  END IF;
  UPDATE userstore.meta AS t SET horizon = save_extent.horizon, horizon_nonce = save_extent.horizon_nonce,
    measured = save_extent.measured, bytes = save_extent.bytes, searched = save_extent.searched, sized = save_extent.sized,
    size = save_extent.size
    WHERE t.id = 1;
END $$;


--
-- Name: scan(bigint, bigint, integer); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.scan(after bigint, through bigint, max_rows integer) RETURNS TABLE(seq bigint, is_end boolean, first bigint, nonce bigint, is_foreign boolean, bytes bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT (c.base + h.n),
     (h.op = 0),
     (c.base + h.first),
     h.nonce,
     COALESCE(h.is_foreign, false) AS "coalesce",
     h.bytes
    FROM (userstore.commits c
      CROSS JOIN LATERAL ( SELECT t.n,
             t.op,
             t.first,
             t.nonce,
             t.is_foreign,
             userstore.row_bytes(t.*) AS bytes
            FROM userstore.changes t
           WHERE ((t.xact = c.xact) AND (t.started = c.started) AND (t.n > (scan.after - c.base)) AND (t.n <= (scan.through - c.base)))
           ORDER BY t.n
          LIMIT scan.max_rows) h)
   WHERE ((c.last > scan.after) AND (c.last <= COALESCE(( SELECT d.last
            FROM userstore.commits d
           WHERE (d.last >= scan.through)
           ORDER BY d.last
          LIMIT 1), '9223372036854775807'::bigint)))
   ORDER BY c.last, h.n
  LIMIT scan.max_rows;
END;


--
-- Name: server; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.server (
    id integer NOT NULL,
    identity bigint NOT NULL,
    CONSTRAINT server_id_check CHECK ((id = 1))
);


--
-- Name: serve_replicas(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.serve_replicas() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO userstore.server (id, identity)
   VALUES (1, userstore.random_number()) ON CONFLICT DO NOTHING;
END;


--
-- Name: set_rights(text, text); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.set_rights(role text, rights text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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


--
-- Name: size_of(bigint, bigint, integer, bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.size_of(after bigint, through bigint, max_rows integer, max_bytes bigint DEFAULT 1048576) RETURNS TABLE(last bigint, bytes bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT COALESCE(max(r.seq), size_of.after) AS "coalesce",
     (COALESCE(sum(r.bytes), (0)::numeric))::bigint AS "coalesce"
    FROM ( SELECT s.seq,
             s.bytes,
             sum(s.bytes) OVER (ORDER BY s.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
            FROM userstore.scan(size_of.after, size_of.through, size_of.max_rows) s(seq, is_end, first, nonce, is_foreign, bytes)) r
   WHERE (COALESCE(r.bytes_before, (0)::numeric) < (size_of.max_bytes)::numeric);
END;


--
-- Name: store_decisions(bigint, jsonb); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.store_decisions(producer bigint, decisions jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO userstore.decisions (nonce, producer, number, result, detail, at)  SELECT ((d.value ->> 1))::bigint AS int8,
             store_decisions.producer AS producer,
             ((d.value ->> 0))::bigint AS int8,
             (d.value ->> 2),
             (d.value ->> 3),
             userstore.milliseconds(clock_timestamp()) AS milliseconds
            FROM jsonb_array_elements(store_decisions.decisions) d(value);
END;


--
-- Name: time_at(bigint); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.time_at(place bigint) RETURNS TABLE(at bigint)
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 SELECT userstore.milliseconds(c.at) AS milliseconds
    FROM (userstore.commit_of(time_at.place) c(last, base, sets, xact, started, at)
      JOIN userstore.changes h ON (((h.xact = c.xact) AND (h.started = c.started) AND (h.n = ((time_at.place - c.base))::integer))));
END;


--
-- Name: unique_key(text, boolean); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.unique_key(attribute text, ignores_case boolean) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (attribute = ANY (ARRAY['name'::text, 'hair_color'::text])) THEN format('CASE WHEN octet_length(%1$s) > 1000 THEN ''m'' || md5(%2$s) ELSE ''t'' || %2$s END'::text, attribute,
             CASE
                 WHEN ignores_case THEN format('lower(%s)'::text, attribute)
                 ELSE attribute
             END)
             ELSE format('CASE WHEN text IS NOT NULL THEN CASE WHEN octet_length(text) > 1000 THEN ''m'' || md5(%1$s) ELSE ''t'' || %1$s END
      WHEN integer IS NOT NULL THEN ''n'' || integer::text
      WHEN real IS NOT NULL THEN CASE WHEN real = trunc(real) AND real >= ''-9223372036854775808''::float8 AND real < ''9223372036854775808''::float8
        THEN ''n'' || real::int8::text ELSE ''f'' || encode(float8send(real), ''hex'') END
      WHEN bytes IS NOT NULL THEN CASE WHEN octet_length(bytes) > 1000 THEN ''c'' || md5(bytes) ELSE ''b'' || encode(bytes, ''hex'') END
      ELSE ''r'' || %2$s END'::text,
             CASE
                 WHEN ignores_case THEN 'lower(text)'::text
                 ELSE 'text'::text
             END,
             CASE
                 WHEN ignores_case THEN 'md5(lower(encode(raw, ''escape'') COLLATE "C"))'::text
                 ELSE 'md5(raw)'::text
             END)
         END AS format;
END;


--
-- Name: used_bytes(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.used_bytes() RETURNS bigint
    LANGUAGE sql STABLE
    RETURN (pg_total_relation_size('userstore.changes'::regclass) + pg_total_relation_size('userstore.commits'::regclass));


--
-- Name: users_added(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.users_added() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean; one bigint; rows int; top bigint := NEW.id; given bigint;
BEGIN
  -- Logical replication applies changes in this mode, row by row, and without the table new_rows.
  IF current_setting('session_replication_role') = 'replica' THEN
    BEGIN
      PERFORM FROM new_rows LIMIT 1;
    EXCEPTION WHEN undefined_table THEN
      rows := 1;
    END;
  END IF;
  IF rows IS NULL THEN
    SELECT w.id INTO one FROM new_rows w LIMIT 1;
    IF NEW.id <> one THEN RETURN NULL; END IF;
    SELECT count(*) INTO rows FROM (SELECT FROM new_rows LIMIT 2) t;
  END IF;
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  IF rows = 1 THEN
    INSERT INTO userstore.changes (n, op, "user", attribute, new_t, starts) VALUES
      (k + 1, 1, NEW.id, 'name', NEW.name, s), (k + 2, 1, NEW.id, 'hair_color', NEW.hair_color, false);
  ELSE
    INSERT INTO userstore.changes (n, op, "user", attribute, new_t, starts)
      SELECT k + 2 * place - 1 + part, 1, id, CASE part WHEN 0 THEN 'name' ELSE 'hair_color' END,
        CASE part WHEN 0 THEN name ELSE hair_color END, s AND place = 1 AND part = 0
      FROM (SELECT *, row_number() OVER (ORDER BY id)::int AS place FROM new_rows) w, (VALUES (0), (1)) p(part)
      ORDER BY place, part;
    SELECT max(id) INTO top FROM new_rows;
  END IF;
  -- Ids that another program chose are not given again. nextval is atomic; setval could set back a sequence that others have
  -- advanced meanwhile. Only across a large distance, which others cannot cover between two statements, is it used.
  -- A sequence from which nothing was taken has the value 1, too.
  SELECT last_value - (NOT is_called)::int INTO given FROM userstore.users_id_seq;
  IF top > given THEN
    IF top > 4611686018427387904 THEN
      RAISE EXCEPTION 'the id of a new user is at most 4611686018427387904' USING ERRCODE = 'check_violation';
    END IF;
    BEGIN
      LOCK TABLE userstore.ids IN SHARE UPDATE EXCLUSIVE MODE;
      SELECT last_value - (NOT is_called)::int INTO given FROM userstore.users_id_seq;
      IF top - given > 1000000 THEN
        PERFORM setval('userstore.users_id_seq', top);
      ELSE
        WHILE given < top LOOP given := nextval('userstore.users_id_seq'); END LOOP;
      END IF;
      -- Releases the lock, which otherwise would be held until the transaction ends. The sequence stays as it is.
      RAISE EXCEPTION 'advanced' USING ERRCODE = 'UN000';
    EXCEPTION WHEN SQLSTATE 'UN000' THEN NULL;
    END;
  END IF;
  RETURN NULL;
END $$;


--
-- Name: users_removed(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.users_removed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean;
BEGIN
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  INSERT INTO userstore.changes (n, op, "user", attribute, old_t, starts) VALUES
    (k + 1, 3, OLD.id, 'name', OLD.name, s), (k + 2, 3, OLD.id, 'hair_color', OLD.hair_color, false);
  RETURN NULL;
END $$;


--
-- Name: users_updated(); Type: FUNCTION; Schema: userstore; Owner: -
--

CREATE FUNCTION userstore.users_updated() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'userstore', 'pg_temp'
    AS $$
DECLARE
  x xid8 := pg_current_xact_id(); k int; s boolean;
BEGIN
  IF OLD.id <> NEW.id THEN
    RAISE EXCEPTION 'the id of a user never changes' USING ERRCODE = 'restrict_violation';
  END IF;
  SELECT c.n, c.op = 0 INTO k, s FROM userstore.changes c WHERE c.xact = x AND c.started = now() ORDER BY c.n DESC LIMIT 1;
  IF k IS NULL THEN
    k := 0; s := true;
  ELSIF s THEN
    s := userstore.has_place();
  END IF;
  IF k > 0 THEN
    -- A function or a trigger that the statement called has changed the row again, and that is in the log already. Without any
    -- row in the log, nothing can have done that.
    IF EXISTS (SELECT FROM userstore.users u WHERE u.id = NEW.id AND u *<> NEW) THEN
      RAISE EXCEPTION 'user % was changed again within the statement that changes it', NEW.id USING ERRCODE = 'triggered_data_change_violation';
    END IF;
  END IF;
  IF OLD.name <> NEW.name AND OLD.hair_color IS DISTINCT FROM NEW.hair_color THEN
    -- In one statement: after SET CONSTRAINTS ALL IMMEDIATE, each statement ends its set.
    INSERT INTO userstore.changes (n, op, "user", attribute, old_t, new_t, starts) VALUES
      (k + 1, 2, NEW.id, 'name', OLD.name, NEW.name, s), (k + 2, 2, NEW.id, 'hair_color', OLD.hair_color, NEW.hair_color, false);
  ELSIF OLD.name <> NEW.name THEN
    INSERT INTO userstore.changes (n, op, "user", attribute, old_t, new_t, starts)
      VALUES (k + 1, 2, NEW.id, 'name', OLD.name, NEW.name, s);
  ELSIF OLD.hair_color IS DISTINCT FROM NEW.hair_color THEN
    INSERT INTO userstore.changes (n, op, "user", attribute, old_t, new_t, starts)
      VALUES (k + 1, 2, NEW.id, 'hair_color', OLD.hair_color, NEW.hair_color, s);
  END IF;
  RETURN NULL;
END $$;


--
-- Name: ids; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.ids (
);


--
-- Name: layout; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.layout (
    part text NOT NULL,
    definition text NOT NULL
);


--
-- Name: line; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.line (
);


--
-- Name: log; Type: VIEW; Schema: userstore; Owner: -
--

CREATE VIEW userstore.log AS
 SELECT (c.base + h.n) AS seq,
    h.op,
    h."user",
    h.attribute,
    h.old_i,
    h.old_r,
    h.old_t,
    h.old_b,
    h.old_x,
    h.new_i,
    h.new_r,
    h.new_t,
    h.new_b,
    h.new_x,
    h.nonce,
    c.at,
    COALESCE(h.is_foreign, false) AS is_foreign,
    (c.base + h.first) AS first,
    COALESCE(h.is_blank, false) AS is_blank
   FROM (userstore.commits c
     JOIN userstore.changes h USING (xact, started));


--
-- Name: migrations; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    fingerprint text NOT NULL
);


--
-- Name: placed; Type: SEQUENCE; Schema: userstore; Owner: -
--

CREATE SEQUENCE userstore.placed
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;


--
-- Name: placed_before; Type: SEQUENCE; Schema: userstore; Owner: -
--

CREATE SEQUENCE userstore.placed_before
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;


--
-- Name: purged; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.purged (
    user_id bigint NOT NULL
);


--
-- Name: refused; Type: SEQUENCE; Schema: userstore; Owner: -
--

CREATE SEQUENCE userstore.refused
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;


--
-- Name: users_id_seq; Type: SEQUENCE; Schema: userstore; Owner: -
--

ALTER TABLE userstore.users ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME userstore.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: writers; Type: TABLE; Schema: userstore; Owner: -
--

CREATE TABLE userstore.writers (
);


--
-- Data for Name: attributes; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.attributes (user_id, name, "integer", "real", text, bytes, raw) FROM stdin;
1	ratio	\N	0.5	\N	\N	\N
1	größe	\N	\N	1.0	\N	\N
1	photo	\N	\N	\N	\\x00ff	\N
1	ключ	\N	\N	1	\N	\N
1	age	37	\N	\N	\N	\N
1	note	\N	\N		\N	\N
\.


--
-- Data for Name: changes; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.changes (xact, started, "user", n, op, starts, attribute, old_i, old_r, old_t, old_b, old_x, new_i, new_r, new_t, new_b, new_x, nonce, first, nth, is_foreign, is_blank) FROM stdin;
726	2026-11-29 09:27:53.019193+00	1	1	1	t	name	\N	\N	\N	\N	\N	\N	\N	NIX	\N	\N	\N	\N	\N	\N	\N
726	2026-11-29 09:27:53.019193+00	1	2	1	f	hair_color	\N	\N	\N	\N	\N	\N	\N	#a52a2a	\N	\N	\N	\N	\N	\N	\N
726	2026-11-29 09:27:53.019193+00	\N	3	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	3097621716537032347	1	1	f	\N
727	2026-11-29 09:27:53.107051+00	2	1	1	t	name	\N	\N	\N	\N	\N	\N	\N	Zoë	\N	\N	\N	\N	\N	\N	\N
727	2026-11-29 09:27:53.107051+00	2	2	1	f	hair_color	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
727	2026-11-29 09:27:53.107051+00	\N	3	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-8832658959101810262	1	1	f	\N
728	2026-11-29 09:27:53.211786+00	\N	3	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-1107123866789808876	1	1	f	\N
729	2026-11-29 09:27:53.316867+00	1	1	2	t	age	\N	\N	\N	\N	\N	36	\N	\N	\N	\N	\N	\N	\N	\N	\N
729	2026-11-29 09:27:53.316867+00	1	2	2	f	ratio	\N	\N	\N	\N	\N	\N	0.5	\N	\N	\N	\N	\N	\N	\N	\N
729	2026-11-29 09:27:53.316867+00	1	3	2	f	note	\N	\N	\N	\N	\N	\N	\N	Grüße	\N	\N	\N	\N	\N	\N	\N
729	2026-11-29 09:27:53.316867+00	1	4	2	f	größe	\N	\N	\N	\N	\N	\N	\N	1.0	\N	\N	\N	\N	\N	\N	\N
729	2026-11-29 09:27:53.316867+00	\N	5	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-5869371282227727646	1	1	f	\N
730	2026-11-29 09:27:53.354581+00	1	1	2	t	photo	\N	\N	\N	\N	\N	\N	\N	\N	\\x00ff	\N	\N	\N	\N	\N	\N
730	2026-11-29 09:27:53.354581+00	1	2	2	f	ключ	\N	\N	\N	\N	\N	\N	\N	1	\N	\N	\N	\N	\N	\N	\N
730	2026-11-29 09:27:53.354581+00	1	4	2	f	age	36	\N	\N	\N	\N	\N	\N	36	\N	\N	\N	\N	\N	\N	\N
730	2026-11-29 09:27:53.354581+00	\N	5	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	3822316282840145545	1	1	t	\N
731	2026-11-29 09:27:53.377403+00	\N	2	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-4905176602850607914	1	1	t	\N
732	2026-11-29 09:27:53.432111+00	\N	4	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-1629961089714445404	1	1	f	\N
733	2026-11-29 09:27:53.885211+00	2	1	2	t	name	\N	\N	Zoë	\N	\N	\N	\N	佐江	\N	\N	\N	\N	\N	\N	\N
733	2026-11-29 09:27:53.885211+00	\N	2	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	4753617215426272180	1	1	f	\N
734	2026-11-29 09:27:54.038754+00	1	1	2	t	age	\N	\N	36	\N	\N	37	\N	\N	\N	\N	\N	\N	\N	\N	\N
734	2026-11-29 09:27:54.038754+00	1	2	2	f	note	\N	\N	Grüße	\N	\N	\N	\N		\N	\N	\N	\N	\N	\N	\N
734	2026-11-29 09:27:54.038754+00	\N	3	0	f	usertool	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-1789985103009029763	1	1	f	\N
735	2026-11-29 09:27:54.062689+00	2	1	2	t	hair_color	\N	\N	\N	\N	\N	\N	\N	#000000	\N	\N	\N	\N	\N	\N	\N
735	2026-11-29 09:27:54.062689+00	4	2	1	f	name	\N	\N	\N	\N	\N	\N	\N	Été	\N	\N	\N	\N	\N	\N	\N
735	2026-11-29 09:27:54.062689+00	4	3	1	f	hair_color	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
735	2026-11-29 09:27:54.062689+00	\N	4	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	1105896740327940692	1	1	t	\N
736	2026-11-29 09:27:54.076499+00	4	1	6	t	\N	\N	\N	invited	\N	\N	\N	\N	{"by":2}	\N	\N	\N	\N	\N	\N	\N
736	2026-11-29 09:27:54.076499+00	\N	2	6	f	\N	\N	\N	closed	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
736	2026-11-29 09:27:54.076499+00	\N	3	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	-4772102482118511807	1	1	t	\N
728	2026-11-29 09:27:53.211786+00	3	1	1	t	name	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
728	2026-11-29 09:27:53.211786+00	3	2	1	f	hair_color	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
730	2026-11-29 09:27:53.354581+00	3	3	2	f	age	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
731	2026-11-29 09:27:53.377403+00	3	1	6	t	\N	\N	\N	seen	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
732	2026-11-29 09:27:53.432111+00	3	1	3	t	name	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
732	2026-11-29 09:27:53.432111+00	3	2	3	f	hair_color	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
732	2026-11-29 09:27:53.432111+00	3	3	3	f	age	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	t
738	2026-11-29 09:27:54.625626+00	3	1	5	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
738	2026-11-29 09:27:54.625626+00	\N	2	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	6103579259775852500	1	1	f	\N
742	2026-11-29 09:27:54.743601+00	\N	1	9	t	\N	10	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
742	2026-11-29 09:27:54.743601+00	\N	2	0	f	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	4909805677789135803	1	1	t	\N
\.


--
-- Data for Name: commits; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.commits (last, base, sets, xact, started, at) FROM stdin;
3	0	1	726	2026-11-29 09:27:53.019193+00	2026-11-29 09:27:53.028306+00
6	3	1	727	2026-11-29 09:27:53.107051+00	2026-11-29 09:27:53.115522+00
9	6	1	728	2026-11-29 09:27:53.211786+00	2026-11-29 09:27:53.219269+00
14	9	1	729	2026-11-29 09:27:53.316867+00	2026-11-29 09:27:53.328026+00
19	14	1	730	2026-11-29 09:27:53.354581+00	2026-11-29 09:27:53.361754+00
21	19	1	731	2026-11-29 09:27:53.377403+00	2026-11-29 09:27:53.381696+00
25	21	1	732	2026-11-29 09:27:53.432111+00	2026-11-29 09:27:53.441614+00
27	25	1	733	2026-11-29 09:27:53.885211+00	2026-11-29 09:27:53.895012+00
30	27	1	734	2026-11-29 09:27:54.038754+00	2026-11-29 09:27:54.048188+00
34	30	1	735	2026-11-29 09:27:54.062689+00	2026-11-29 09:27:54.067397+00
37	34	1	736	2026-11-29 09:27:54.076499+00	2026-11-29 09:27:54.083196+00
39	37	1	738	2026-11-29 09:27:54.625626+00	2026-11-29 09:27:54.636866+00
41	39	1	742	2026-11-29 09:27:54.743601+00	2026-11-29 09:27:54.747801+00
\.


--
-- Data for Name: consumers; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.consumers (name, epoch, seq, nonce, holder, at) FROM stdin;
counter	6682384383562313696	37	-4772102482118511807	9023967418096658132	2026-11-29 09:27:54.211311+00
\.


--
-- Data for Name: decisions; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.decisions (nonce, producer, number, result, detail, at) FROM stdin;
20	5	2	conflict	é	1795944474733
\.


--
-- Data for Name: ids; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.ids  FROM stdin;
\.


--
-- Data for Name: layout; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.layout (part, definition) FROM stdin;
table migrations	r p f f 0
table meta	r p f f 0
table users_id_seq	S p f f 0
table users	r p f f 0
table attributes	r p f f 0
table placed	S p f f 0
table placed_before	S p f f 0
table refused	S p f f 0
table line	r p f f 0
table writers	r p f f 0
table ids	r p f f 0
table consumers	r p f f 0
table changes	r p f f 0
table commits	r p f f 0
table log	v p f f 0
table layout	r p f f 0
column number of migrations	integer t   f
column op of log	smallint f   f
column user of log	bigint f   f
column old_i of log	bigint f   f
column old_r of log	double precision f   f
column old_b of log	bytea f   f
column old_x of log	bytea f   f
column new_i of log	bigint f   f
column new_r of log	double precision f   f
column new_b of log	bytea f   f
column new_x of log	bytea f   f
column nonce of log	bigint f   f
column at of log	timestamp with time zone f   f
column is_foreign of log	boolean f   f
column first of log	bigint f   f
column is_blank of log	boolean f   f
column id of meta	integer t   f
column layout of meta	integer t   f
column min_client of meta	integer t   f
column epoch of meta	bigint t   f
column horizon of meta	bigint t   t
column horizon_nonce of meta	bigint t   t
column measured of meta	bigint t   t
column bytes of meta	bigint t   t
column searched of meta	bigint t   t
column sized of meta	bigint t   t
column size of meta	bigint t   t
column id of users	bigint t d  f
column user_id of attributes	bigint t   f
column integer of attributes	bigint f   f
column real of attributes	double precision f   f
column bytes of attributes	bytea f   f
column raw of attributes	bytea f   f
column epoch of consumers	bigint t   f
column seq of consumers	bigint t   f
column nonce of consumers	bigint t   f
column holder of consumers	bigint t   f
column at of consumers	timestamp with time zone t   t
column xact of changes	xid8 t   t
column started of changes	timestamp with time zone t   t
column user of changes	bigint f   f
column n of changes	integer t   f
column op of changes	smallint t   f
column starts of changes	boolean t   f
column old_i of changes	bigint f   f
column old_r of changes	double precision f   f
column old_b of changes	bytea f   f
column old_x of changes	bytea f   f
column new_i of changes	bigint f   f
column new_r of changes	double precision f   f
column new_b of changes	bytea f   f
column new_x of changes	bytea f   f
column nonce of changes	bigint f   f
column first of changes	integer f   f
column nth of changes	integer f   f
column is_foreign of changes	boolean f   f
column is_blank of changes	boolean f   f
column last of commits	bigint t   f
column base of commits	bigint t   f
column sets of commits	integer t   f
column xact of commits	xid8 t   f
column started of commits	timestamp with time zone t   f
column at of commits	timestamp with time zone t   f
column seq of log	bigint f   f
column fingerprint of migrations	text default t   f
column definition of layout	text default t   f
column part of layout	text default t   f
column name of migrations	text default t   f
column new_t of changes	text C f   f
column text of attributes	text C f   f
column old_t of changes	text C f   f
column attribute of log	text C f   f
column name of consumers	text C t   f
column new_t of log	text C f   f
column old_t of log	text C f   f
column name of users	text C t   f
column hair_color of users	text C f   f
column attribute of changes	text C f   f
column name of attributes	text C t   f
constraint migrations_pkey of migrations	p t f   number
constraint meta_id_check of meta	c t f   id
constraint meta_pkey of meta	p t f   id
constraint users_pkey of users	p t f   id
constraint attributes_pkey of attributes	p t f   name,user_id
constraint attributes_user_id_fkey of attributes	f t f c user_id
constraint changes_pkey of changes	p t f   n,started,xact
constraint commits_check of commits	c t f   base,last
constraint commits_pkey of commits	p t f   last
constraint consumers_pkey of consumers	p t f   name
constraint layout_pkey of layout	p t f   part
index migrations_pkey	t t f number
index meta_pkey	t t f id
index users_pkey	t t f id
index attributes_pkey	t t f user_id,name
index changes_pkey	t t f xact,started,n
index changes_users	t f t "user",xact,n
index commits_pkey	t t f last
index consumers_pkey	t t f name
index layout_pkey	t t f part
function indexes()	f s d41d8cd98f00b204e9800998ecf8427e
function log_rows_backwards("from" bigint, before bigint, max_rows integer, max_bytes bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function own_rows(after integer, through integer, max_rows integer, max_bytes bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function has_place()	f v 384c052470d43a067dee66efa3c86e9e
function users_removed()	t v {"search_path=pg_catalog, userstore, pg_temp"} 2d4288b97d11eb5198a2ea1f5b218b81
function refuse()	f v e158988a2b85aae1b0ee8e406aaa9570
function nonce_at(place bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function time_at(place bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function finish(x xid8, new_nonce bigint, origin text, is_foreign boolean, takes_place boolean)	f v 8f85479776e9fdb065d78b22286201ed
function renew()	f v 94f0a7dff4ec48ccf7b6ecb52785bb2b
function parts()	f s {"search_path=pg_catalog, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
function random_number()	f v d41d8cd98f00b204e9800998ecf8427e
function refuse_attribute(a userstore.attributes)	f v 2bb849189252afa41c0a810f465a8fdc
function users_added()	t v {"search_path=pg_catalog, userstore, pg_temp"} a29424464482c3c3d64cf1ea7a193fe1
function users_updated()	t v {"search_path=pg_catalog, userstore, pg_temp"} 113c5b641649a3b21f6e7ec664f05dd8
function attributes_added()	t v {"search_path=pg_catalog, userstore, pg_temp"} 6a49609d48694c44446a16c92665a241
function attributes_changed()	t v {"search_path=pg_catalog, userstore, pg_temp"} d28415a730843971609e4a7aabca6282
function is_last(place bigint, x xid8)	f v aeb36a603204fc559ad305f209995441
function place_before(seen bigint, x xid8)	f v ee4f63da51d91781894ef12b8913fa62
function commit_log()	t v {"search_path=pg_catalog, userstore, pg_temp"} 32d1d00af4b3d420ea3c8e3244484b0d
function milliseconds(t timestamp with time zone)	f s d41d8cd98f00b204e9800998ecf8427e
function row_bytes(h userstore.changes)	f s d41d8cd98f00b204e9800998ecf8427e
function log_rows(after bigint, through bigint, max_rows integer, max_bytes bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function own_place()	f s d41d8cd98f00b204e9800998ecf8427e
function commit_of(place bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function head()	f s d41d8cd98f00b204e9800998ecf8427e
function log_state(place bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function next_end(after bigint, through bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function last_end(after bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function change_count(after bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function extent(assumed bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function scan(after bigint, through bigint, max_rows integer)	f s d41d8cd98f00b204e9800998ecf8427e
function size_of(after bigint, through bigint, max_rows integer, max_bytes bigint)	f s d41d8cd98f00b204e9800998ecf8427e
function used_bytes()	f s d41d8cd98f00b204e9800998ecf8427e
function begin_writing(is_waiting boolean, OUT epoch bigint, OUT seq bigint, OUT nonce bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} 2eb07605350cb73d596bba6b01e55fa1
function end_set(nonce bigint, origin text, takes_place boolean)	t v {"search_path=pg_catalog, userstore, pg_temp"} 04d047478f843e346f93b397f571e176
function next_base()	t v {"search_path=pg_catalog, userstore, pg_temp"} c401b2d1355451b18e6b32bd38e8e783
function place()	t v {"search_path=pg_catalog, userstore, pg_temp"} 911292b137b2f553da65690da8c0ac21
function save_extent(horizon bigint, horizon_nonce bigint, measured bigint, bytes bigint, searched bigint, sized bigint, size bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} 2e8d6e2e28075e27d888510bbcf1d3ee
function forget(through bigint, max_rows integer)	t v {"search_path=pg_catalog, userstore, pg_temp"} 6e59824d7fb461cc2d53fdf4b294369c
function create_index(attribute text)	t v {"search_path=pg_catalog, userstore, pg_temp"} 5dafa9025bfec6eb89cd94608ce8a7e6
function drop_index(attribute text)	t v {"search_path=pg_catalog, userstore, pg_temp"} 46fcb7e8de2e946b2c140fcde58848a3
function check(is_deep boolean)	f s {"search_path=pg_catalog, userstore, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
function changes_of(id bigint, after bigint, through bigint, max_rows integer)	f s d41d8cd98f00b204e9800998ecf8427e
function blank(place bigint, id bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} 2ca7a776ceaf94c27041891d516f34d6
function append_note(kind smallint, about bigint, name text, i bigint, r double precision, t text, b bytea, raw bytea)	f v d160086918f38fc2237e864f028f3e7b
function post(name text, payload text, about bigint, payload_integer bigint, payload_real double precision, payload_bytes bytea, payload_raw bytea)	t v {"search_path=pg_catalog, userstore, pg_temp"} 86985466243d614ea332cdd47c6581de
function unique_key(attribute text, ignores_case boolean)	f i {"search_path=pg_catalog, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
function create_unique(attribute text, ignores_case boolean)	t v {"search_path=pg_catalog, userstore, pg_temp"} 44f8fd5fbb2f5e6723977ac7bb92a4f4
function drop_unique(attribute text)	t v {"search_path=pg_catalog, userstore, pg_temp"} e3a69a26e357315ae18894c809cd4b11
table server	r p f f 0
table purged	r p f f 0
column user_id of purged	bigint t   f
column id of server	integer t   f
column identity of server	bigint t   f
constraint server_id_check of server	c t f   id
constraint server_pkey of server	p t f   id
constraint purged_pkey of purged	p t f   user_id
index server_pkey	t t f id
index purged_pkey	t t f user_id
function note_purged(id bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} 1cfb8776d56f48851ab91b8470d7aa16
function serve_replicas()	t v {"search_path=pg_catalog, userstore, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
table decisions	r p f f 0
table producers	r p f f 0
column nonce of decisions	bigint t   f
column producer of decisions	bigint t   f
column number of decisions	bigint t   f
column at of decisions	bigint t   f
column producer of producers	bigint t   f
column forgotten of producers	bigint t   f
column result of decisions	text C t   f
column detail of decisions	text C f   f
constraint decisions_pkey of decisions	p t f   nonce
constraint producers_pkey of producers	p t f   producer
index decisions_pkey	t t f nonce
index decisions_number	t f f producer,number
index producers_pkey	t t f producer
function store_decisions(producer bigint, decisions jsonb)	t v {"search_path=pg_catalog, userstore, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
function forget_decisions(producer bigint, through bigint, before bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} d41d8cd98f00b204e9800998ecf8427e
function findings(is_deep boolean, longest interval)	f s {"search_path=pg_catalog, userstore, pg_temp"} d10a5523ce4e93725c3c09c18fe0e6d5
function set_rights(role text, rights text)	f v {"search_path=pg_catalog, pg_temp"} ce976c304052ca2dc0cd0e0be259e933
function note_pushed(nonce bigint)	t v {"search_path=pg_catalog, userstore, pg_temp"} 131f252285d1b57c4a8f67ccb27b35da
\.


--
-- Data for Name: line; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.line  FROM stdin;
\.


--
-- Data for Name: meta; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.meta (id, layout, min_client, epoch, horizon, horizon_nonce, measured, bytes, searched, sized, size) FROM stdin;
1	7	1	6682384383562313696	0	0	0	0	0	0	0
\.


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.migrations (number, name, fingerprint) FROM stdin;
3	users_and_changes	80fa8f113a548729
4	notes	3a2479aef002472b
5	unique	cd3328418c69a3e9
6	replicas	e985b810f2a0c4b4
7	decisions	94719047af5ce28
\.


--
-- Data for Name: producers; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.producers (producer, forgotten) FROM stdin;
5	1
\.


--
-- Data for Name: purged; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.purged (user_id) FROM stdin;
3
\.


--
-- Data for Name: server; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.server (id, identity) FROM stdin;
1	-8129418253949686643
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.users (id, name, hair_color) FROM stdin;
1	NIX	#a52a2a
2	佐江	#000000
4	Été	\N
\.


--
-- Data for Name: writers; Type: TABLE DATA; Schema: userstore; Owner: -
--

COPY userstore.writers  FROM stdin;
\.


--
-- Name: placed; Type: SEQUENCE SET; Schema: userstore; Owner: -
--

SELECT pg_catalog.setval('userstore.placed', 41, false);


--
-- Name: placed_before; Type: SEQUENCE SET; Schema: userstore; Owner: -
--

SELECT pg_catalog.setval('userstore.placed_before', 39, true);


--
-- Name: refused; Type: SEQUENCE SET; Schema: userstore; Owner: -
--

SELECT pg_catalog.setval('userstore.refused', 0, false);


--
-- Name: users_id_seq; Type: SEQUENCE SET; Schema: userstore; Owner: -
--

SELECT pg_catalog.setval('userstore.users_id_seq', 4, true);


--
-- Name: attributes attributes_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.attributes
    ADD CONSTRAINT attributes_pkey PRIMARY KEY (user_id, name);


--
-- Name: changes changes_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (xact, started, n);


--
-- Name: commits commits_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.commits
    ADD CONSTRAINT commits_pkey PRIMARY KEY (last);


--
-- Name: consumers consumers_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.consumers
    ADD CONSTRAINT consumers_pkey PRIMARY KEY (name);


--
-- Name: decisions decisions_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (nonce);


--
-- Name: layout layout_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.layout
    ADD CONSTRAINT layout_pkey PRIMARY KEY (part);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (id);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);


--
-- Name: producers producers_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.producers
    ADD CONSTRAINT producers_pkey PRIMARY KEY (producer);


--
-- Name: purged purged_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.purged
    ADD CONSTRAINT purged_pkey PRIMARY KEY (user_id);


--
-- Name: server server_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.server
    ADD CONSTRAINT server_pkey PRIMARY KEY (id);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: changes_users; Type: INDEX; Schema: userstore; Owner: -
--

CREATE INDEX changes_users ON userstore.changes USING btree ("user", xact DESC, n DESC) WHERE ((attribute = 'name'::text) AND (op = ANY (ARRAY[1, 3])));


--
-- Name: decisions_number; Type: INDEX; Schema: userstore; Owner: -
--

CREATE INDEX decisions_number ON userstore.decisions USING btree (producer, number);


--
-- Name: unique_note_aad653ca; Type: INDEX; Schema: userstore; Owner: -
--

CREATE UNIQUE INDEX unique_note_aad653ca ON userstore.attributes USING btree ((
CASE
    WHEN (text IS NOT NULL) THEN
    CASE
        WHEN (octet_length(text) > 1000) THEN ('m'::text || md5(lower(text)))
        ELSE ('t'::text || lower(text))
    END
    WHEN ("integer" IS NOT NULL) THEN ('n'::text || ("integer")::text)
    WHEN ("real" IS NOT NULL) THEN
    CASE
        WHEN (("real" = trunc("real")) AND ("real" >= '-9.223372036854776e+18'::double precision) AND ("real" < '9.223372036854776e+18'::double precision)) THEN ('n'::text || (("real")::bigint)::text)
        ELSE ('f'::text || encode(float8send("real"), 'hex'::text))
    END
    WHEN (bytes IS NOT NULL) THEN
    CASE
        WHEN (octet_length(bytes) > 1000) THEN ('c'::text || md5(bytes))
        ELSE ('b'::text || encode(bytes, 'hex'::text))
    END
    ELSE ('r'::text || md5(lower((encode(raw, 'escape'::text) COLLATE "C"))))
END)) WHERE (name = 'note'::text);


--
-- Name: INDEX unique_note_aad653ca; Type: COMMENT; Schema: userstore; Owner: -
--

COMMENT ON INDEX userstore.unique_note_aad653ca IS 'userstore: unique values, ignoring case, of note';


--
-- Name: attributes A_userstore_added; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_added" AFTER INSERT ON userstore.attributes REFERENCING NEW TABLE AS new_rows FOR EACH ROW EXECUTE FUNCTION userstore.attributes_added();

ALTER TABLE userstore.attributes ENABLE ALWAYS TRIGGER "A_userstore_added";


--
-- Name: users A_userstore_added; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_added" AFTER INSERT ON userstore.users REFERENCING NEW TABLE AS new_rows FOR EACH ROW EXECUTE FUNCTION userstore.users_added();

ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_added";


--
-- Name: changes A_userstore_commit; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE CONSTRAINT TRIGGER "A_userstore_commit" AFTER INSERT ON userstore.changes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.starts) EXECUTE FUNCTION userstore.commit_log();

ALTER TABLE userstore.changes ENABLE ALWAYS TRIGGER "A_userstore_commit";


--
-- Name: attributes A_userstore_removed; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_removed" AFTER DELETE ON userstore.attributes FOR EACH ROW EXECUTE FUNCTION userstore.attributes_changed();

ALTER TABLE userstore.attributes ENABLE ALWAYS TRIGGER "A_userstore_removed";


--
-- Name: users A_userstore_removed; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_removed" AFTER DELETE ON userstore.users FOR EACH ROW EXECUTE FUNCTION userstore.users_removed();

ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_removed";


--
-- Name: attributes A_userstore_truncated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_truncated" BEFORE TRUNCATE ON userstore.attributes FOR EACH STATEMENT EXECUTE FUNCTION userstore.refuse('attributes are removed with DELETE: TRUNCATE is not logged');

ALTER TABLE userstore.attributes ENABLE ALWAYS TRIGGER "A_userstore_truncated";


--
-- Name: changes A_userstore_truncated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_truncated" BEFORE TRUNCATE ON userstore.changes FOR EACH STATEMENT EXECUTE FUNCTION userstore.refuse('the newest change stays in the log');

ALTER TABLE userstore.changes ENABLE ALWAYS TRIGGER "A_userstore_truncated";


--
-- Name: commits A_userstore_truncated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_truncated" BEFORE TRUNCATE ON userstore.commits FOR EACH STATEMENT EXECUTE FUNCTION userstore.refuse('the newest change stays in the log');

ALTER TABLE userstore.commits ENABLE ALWAYS TRIGGER "A_userstore_truncated";


--
-- Name: users A_userstore_truncated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_truncated" BEFORE TRUNCATE ON userstore.users FOR EACH STATEMENT EXECUTE FUNCTION userstore.refuse('users are removed with DELETE: TRUNCATE is not logged');

ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_truncated";


--
-- Name: attributes A_userstore_updated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_updated" AFTER UPDATE ON userstore.attributes FOR EACH ROW WHEN ((old.* *<> new.*)) EXECUTE FUNCTION userstore.attributes_changed();

ALTER TABLE userstore.attributes ENABLE ALWAYS TRIGGER "A_userstore_updated";


--
-- Name: users A_userstore_updated; Type: TRIGGER; Schema: userstore; Owner: -
--

CREATE TRIGGER "A_userstore_updated" AFTER UPDATE ON userstore.users FOR EACH ROW WHEN ((old.* *<> new.*)) EXECUTE FUNCTION userstore.users_updated();

ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_updated";


--
-- Name: attributes attributes_user_id_fkey; Type: FK CONSTRAINT; Schema: userstore; Owner: -
--

ALTER TABLE ONLY userstore.attributes
    ADD CONSTRAINT attributes_user_id_fkey FOREIGN KEY (user_id) REFERENCES userstore.users(id) ON DELETE CASCADE;


--
-- Name: FUNCTION append_note(kind smallint, about bigint, name text, i bigint, r double precision, t text, b bytea, raw bytea); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.append_note(kind smallint, about bigint, name text, i bigint, r double precision, t text, b bytea, raw bytea) FROM PUBLIC;


--
-- Name: FUNCTION attributes_added(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.attributes_added() FROM PUBLIC;


--
-- Name: FUNCTION attributes_changed(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.attributes_changed() FROM PUBLIC;


--
-- Name: FUNCTION begin_writing(is_waiting boolean, OUT epoch bigint, OUT seq bigint, OUT nonce bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.begin_writing(is_waiting boolean, OUT epoch bigint, OUT seq bigint, OUT nonce bigint) FROM PUBLIC;


--
-- Name: FUNCTION blank(place bigint, id bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.blank(place bigint, id bigint) FROM PUBLIC;


--
-- Name: FUNCTION commit_of(place bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.commit_of(place bigint) FROM PUBLIC;


--
-- Name: FUNCTION change_count(after bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.change_count(after bigint) FROM PUBLIC;


--
-- Name: FUNCTION row_bytes(h userstore.changes); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.row_bytes(h userstore.changes) FROM PUBLIC;


--
-- Name: FUNCTION changes_of(id bigint, after bigint, through bigint, max_rows integer); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.changes_of(id bigint, after bigint, through bigint, max_rows integer) FROM PUBLIC;


--
-- Name: FUNCTION findings(is_deep boolean, longest interval); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.findings(is_deep boolean, longest interval) FROM PUBLIC;


--
-- Name: FUNCTION "check"(is_deep boolean); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore."check"(is_deep boolean) FROM PUBLIC;


--
-- Name: FUNCTION commit_log(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.commit_log() FROM PUBLIC;


--
-- Name: FUNCTION create_index(attribute text); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.create_index(attribute text) FROM PUBLIC;


--
-- Name: FUNCTION create_unique(attribute text, ignores_case boolean); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.create_unique(attribute text, ignores_case boolean) FROM PUBLIC;


--
-- Name: FUNCTION drop_index(attribute text); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.drop_index(attribute text) FROM PUBLIC;


--
-- Name: FUNCTION drop_unique(attribute text); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.drop_unique(attribute text) FROM PUBLIC;


--
-- Name: FUNCTION end_set(nonce bigint, origin text, takes_place boolean); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.end_set(nonce bigint, origin text, takes_place boolean) FROM PUBLIC;


--
-- Name: FUNCTION extent(assumed bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.extent(assumed bigint) FROM PUBLIC;


--
-- Name: FUNCTION finish(x xid8, new_nonce bigint, origin text, is_foreign boolean, takes_place boolean); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.finish(x xid8, new_nonce bigint, origin text, is_foreign boolean, takes_place boolean) FROM PUBLIC;


--
-- Name: FUNCTION forget(through bigint, max_rows integer); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.forget(through bigint, max_rows integer) FROM PUBLIC;


--
-- Name: FUNCTION forget_decisions(producer bigint, through bigint, before bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.forget_decisions(producer bigint, through bigint, before bigint) FROM PUBLIC;


--
-- Name: FUNCTION has_place(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.has_place() FROM PUBLIC;


--
-- Name: FUNCTION head(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.head() FROM PUBLIC;


--
-- Name: FUNCTION indexes(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.indexes() FROM PUBLIC;


--
-- Name: FUNCTION is_last(place bigint, x xid8); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.is_last(place bigint, x xid8) FROM PUBLIC;


--
-- Name: FUNCTION last_end(after bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.last_end(after bigint) FROM PUBLIC;


--
-- Name: FUNCTION milliseconds(t timestamp with time zone); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.milliseconds(t timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION log_rows(after bigint, through bigint, max_rows integer, max_bytes bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.log_rows(after bigint, through bigint, max_rows integer, max_bytes bigint) FROM PUBLIC;


--
-- Name: FUNCTION log_rows_backwards("from" bigint, before bigint, max_rows integer, max_bytes bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.log_rows_backwards("from" bigint, before bigint, max_rows integer, max_bytes bigint) FROM PUBLIC;


--
-- Name: FUNCTION nonce_at(place bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.nonce_at(place bigint) FROM PUBLIC;


--
-- Name: FUNCTION log_state(place bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.log_state(place bigint) FROM PUBLIC;


--
-- Name: FUNCTION next_base(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.next_base() FROM PUBLIC;


--
-- Name: FUNCTION next_end(after bigint, through bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.next_end(after bigint, through bigint) FROM PUBLIC;


--
-- Name: FUNCTION note_purged(id bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.note_purged(id bigint) FROM PUBLIC;


--
-- Name: FUNCTION note_pushed(nonce bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.note_pushed(nonce bigint) FROM PUBLIC;


--
-- Name: FUNCTION own_place(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.own_place() FROM PUBLIC;


--
-- Name: FUNCTION own_rows(after integer, through integer, max_rows integer, max_bytes bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.own_rows(after integer, through integer, max_rows integer, max_bytes bigint) FROM PUBLIC;


--
-- Name: FUNCTION parts(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.parts() FROM PUBLIC;


--
-- Name: FUNCTION place(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.place() FROM PUBLIC;


--
-- Name: FUNCTION place_before(seen bigint, x xid8); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.place_before(seen bigint, x xid8) FROM PUBLIC;


--
-- Name: FUNCTION post(name text, payload text, about bigint, payload_integer bigint, payload_real double precision, payload_bytes bytea, payload_raw bytea); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.post(name text, payload text, about bigint, payload_integer bigint, payload_real double precision, payload_bytes bytea, payload_raw bytea) FROM PUBLIC;


--
-- Name: FUNCTION random_number(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.random_number() FROM PUBLIC;


--
-- Name: FUNCTION refuse(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.refuse() FROM PUBLIC;


--
-- Name: FUNCTION refuse_attribute(a userstore.attributes); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.refuse_attribute(a userstore.attributes) FROM PUBLIC;


--
-- Name: FUNCTION renew(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.renew() FROM PUBLIC;


--
-- Name: FUNCTION save_extent(horizon bigint, horizon_nonce bigint, measured bigint, bytes bigint, searched bigint, sized bigint, size bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.save_extent(horizon bigint, horizon_nonce bigint, measured bigint, bytes bigint, searched bigint, sized bigint, size bigint) FROM PUBLIC;


--
-- Name: FUNCTION scan(after bigint, through bigint, max_rows integer); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.scan(after bigint, through bigint, max_rows integer) FROM PUBLIC;


--
-- Name: FUNCTION serve_replicas(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.serve_replicas() FROM PUBLIC;


--
-- Name: FUNCTION set_rights(role text, rights text); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.set_rights(role text, rights text) FROM PUBLIC;


--
-- Name: FUNCTION size_of(after bigint, through bigint, max_rows integer, max_bytes bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.size_of(after bigint, through bigint, max_rows integer, max_bytes bigint) FROM PUBLIC;


--
-- Name: FUNCTION store_decisions(producer bigint, decisions jsonb); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.store_decisions(producer bigint, decisions jsonb) FROM PUBLIC;


--
-- Name: FUNCTION time_at(place bigint); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.time_at(place bigint) FROM PUBLIC;


--
-- Name: FUNCTION unique_key(attribute text, ignores_case boolean); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.unique_key(attribute text, ignores_case boolean) FROM PUBLIC;


--
-- Name: FUNCTION used_bytes(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.used_bytes() FROM PUBLIC;


--
-- Name: FUNCTION users_added(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.users_added() FROM PUBLIC;


--
-- Name: FUNCTION users_removed(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.users_removed() FROM PUBLIC;


--
-- Name: FUNCTION users_updated(); Type: ACL; Schema: userstore; Owner: -
--

REVOKE ALL ON FUNCTION userstore.users_updated() FROM PUBLIC;


--
-- PostgreSQL database dump complete
--



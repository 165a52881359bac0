-- The second layout: a change costs the server less. Tables, the meaning of rows, and the functions that clients call are the same,
-- so that a client that knows only the first layout can use this one.
--
-- Instructions of the server for an UPDATE of one row by another program (Proof/Postgres/instructions, 100 connections allowed):
-- 721,000 with the first layout, 630,000 with this one, 107,000 without a log. With 900 connections allowed, the first needs 827,000.

SET LOCAL search_path = pg_catalog, pg_temp;

-- MARK: Attributes

-- PostgreSQL parses the stored text of a CHECK again in each statement: about 20,000 instructions each. The triggers, which are
-- called in any case, refuse the same values. The CHECK of commits stays: of all tables that other programs use, a migration locks
-- only one, because two would deadlock with transactions that use them in another order.
ALTER TABLE userstore.attributes DROP CONSTRAINT IF EXISTS attributes_name_check, DROP CONSTRAINT IF EXISTS attributes_real_check,
  DROP CONSTRAINT IF EXISTS attributes_check;

CREATE FUNCTION userstore.refuse_attribute(a userstore.attributes) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'check_violation', SCHEMA = 'userstore', TABLE = 'attributes', MESSAGE = CASE
    WHEN a.name IN ('id', 'name', 'hair_color') THEN format('an attribute cannot have the name "%s": users has a column of that name', a.name)
    WHEN a.real = 'NaN' THEN format('the %s of user %s would be NaN, which is not a value', a.name, a.user_id)
    ELSE format('the %s of user %s would have %s values: exactly one of integer, real, text, bytes and raw must be set',
      a.name, a.user_id, num_nonnulls(a.integer, a.real, a.text, a.bytes, a.raw)) END;
END $$;
REVOKE EXECUTE ON FUNCTION userstore.refuse_attribute FROM PUBLIC;

-- MARK: Writing the log

-- Each of these functions looks for the last row of this transaction itself, which saves the call of last_row(). Only if that row ends
-- a set can the transaction have its place already, because taking the place ends the set. Otherwise the set has an earlier row
-- with `starts`, which extends the place at the commit; so has_place() is asked once for each set, not for each change.

CREATE OR REPLACE FUNCTION userstore.users_added() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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
  SELECT last_value INTO given FROM userstore.users_id_seq;
  IF top > given THEN
    IF top > 4611686018427387904 THEN
      RAISE EXCEPTION 'the id of a new user is at most 4611686018427387904' USING ERRCODE = 'check_violation';
    END IF;
    BEGIN
      LOCK TABLE userstore.ids IN SHARE UPDATE EXCLUSIVE MODE;
      SELECT last_value INTO given FROM userstore.users_id_seq;
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

CREATE OR REPLACE FUNCTION userstore.users_updated() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

CREATE OR REPLACE FUNCTION userstore.users_removed() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

CREATE OR REPLACE FUNCTION userstore.attributes_added() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

CREATE OR REPLACE FUNCTION userstore.attributes_changed() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

-- last_row() is not used any more, but it stays for triggers that began before this migration.

-- MARK: Locks

-- SHARE UPDATE EXCLUSIVE excludes itself, as EXCLUSIVE does, and only the owner can take either. For EXCLUSIVE, PostgreSQL checks
-- for each connection that the server allows whether it holds a weaker lock of the table (“fast path” in
-- src/backend/storage/lmgr/README): 17,000 instructions with 100 connections, 122,000 with 900.

CREATE OR REPLACE FUNCTION userstore.finish(x xid8, new_nonce bigint, origin text, is_foreign boolean, takes_place boolean) RETURNS bigint
  LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION userstore.begin_writing(is_waiting boolean, OUT epoch bigint, OUT seq bigint, OUT nonce bigint)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
BEGIN
  IF is_waiting THEN
    LOCK TABLE userstore.writers IN SHARE UPDATE EXCLUSIVE MODE;
  ELSE
    LOCK TABLE userstore.writers IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
  END IF;
  SELECT * INTO epoch, seq, nonce FROM userstore.head();
END $$;

CREATE OR REPLACE FUNCTION userstore.next_base() RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
BEGIN
  LOCK TABLE userstore.line IN SHARE UPDATE EXCLUSIVE MODE;
  RETURN coalesce((SELECT p.base FROM userstore.own_place() p), (SELECT max(c.last) FROM userstore.commits c),
    (SELECT m.horizon FROM userstore.meta m));
END $$;

UPDATE userstore.meta SET layout = 2;

-- The parts that this migration has changed. The others stay in the list as they were made: the database may have additions, and
-- damage that check() must still find.
DELETE FROM userstore.layout l WHERE l.part IN ('constraint attributes_name_check of attributes',
  'constraint attributes_real_check of attributes', 'constraint attributes_check of attributes');
INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p
  WHERE p.part ~ '^function (refuse_attribute|users_added|users_updated|users_removed|attributes_added|attributes_changed|finish|begin_writing|next_base)\('
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

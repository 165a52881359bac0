-- The third layout: if the first id of a database is chosen and is 1, it is not given again either. Tables, the meaning of rows, and
-- the functions that clients call are the same, so that a client that knows only an earlier layout can use this one.

SET LOCAL search_path = pg_catalog, pg_temp;

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

-- The id 1 may have been chosen already, and perhaps removed.
SELECT nextval('userstore.users_id_seq') FROM userstore.users_id_seq s
  WHERE NOT s.is_called AND EXISTS (SELECT FROM userstore.commits);

UPDATE userstore.meta SET layout = 3;

INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p WHERE p.part LIKE 'function users\_added(%'
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

-- The fifth layout: unique attributes. Each has a unique index, which refuses a value that another user has, whichever program writes it.
-- The index is the rule: there is no other record of it.

SET LOCAL search_path = pg_catalog, pg_temp;

-- The expression of the index of a unique attribute: equal for equal values. A letter stands for the class; an integral real number
-- is written as the integer. Of long values it has a hash, because an entry of an index has at most 2,700 bytes. The library's
-- queries contain the same expression (PostgresUniqueKey.swift), so that they use the index.
CREATE FUNCTION userstore.unique_key(attribute text, ignores_case boolean) RETURNS text
  LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT CASE WHEN attribute IN ('name', 'hair_color') THEN format($$CASE WHEN octet_length(%1$s) > 1000 THEN 'm' || md5(%2$s) ELSE 't' || %2$s END$$,
      attribute, CASE WHEN ignores_case THEN format('lower(%s)', attribute) ELSE attribute END)
    ELSE format($$CASE WHEN text IS NOT NULL THEN CASE WHEN octet_length(text) > 1000 THEN 'm' || md5(%1$s) ELSE 't' || %1$s END
      WHEN integer IS NOT NULL THEN 'n' || integer::text
      WHEN real IS NOT NULL THEN CASE WHEN real = trunc(real) AND real >= '-9223372036854775808'::float8 AND real < '9223372036854775808'::float8
        THEN 'n' || real::int8::text ELSE 'f' || encode(float8send(real), 'hex') END
      WHEN bytes IS NOT NULL THEN CASE WHEN octet_length(bytes) > 1000 THEN 'c' || md5(bytes) ELSE 'b' || encode(bytes, 'hex') END
      ELSE 'r' || %2$s END$$,
      CASE WHEN ignores_case THEN 'lower(text)' ELSE 'text' END,
      CASE WHEN ignores_case THEN $$md5(lower(encode(raw, 'escape') COLLATE "C"))$$ ELSE 'md5(raw)' END) END;
END;

-- Makes an attribute unique, and returns whether it was not. With ignores_case, the letters A to Z equal a to z. Writers wait until the
-- transaction ends. At most 16 attributes are unique. If several users have the same value, the statement fails (23505).
CREATE FUNCTION userstore.create_unique(attribute text, ignores_case boolean DEFAULT false) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

-- Makes an attribute not unique, and returns whether it was. Readers, too, wait until the transaction ends.
CREATE FUNCTION userstore.drop_unique(attribute text) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS $$
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

-- MARK: Rights

CREATE OR REPLACE FUNCTION userstore.set_rights(role text, rights text) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  readable constant text[] := ARRAY['milliseconds', 'row_bytes', 'log_rows', 'log_rows_backwards', 'own_rows', 'own_place', 'commit_of',
    'nonce_at', 'time_at', 'head', 'log_state', 'next_end', 'last_end', 'change_count', 'extent', 'scan', 'size_of', 'used_bytes',
    'changes_of', 'indexes', 'parts', 'findings', 'check'];
  writable constant text[] := ARRAY['begin_writing', 'end_set', 'next_base', 'place', 'save_extent', 'forget', 'blank', 'create_index',
    'drop_index', 'post', 'note_purged', 'create_unique', 'drop_unique'];
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

REVOKE EXECUTE ON FUNCTION userstore.unique_key, userstore.create_unique, userstore.drop_unique FROM PUBLIC;
-- The roles that set_rights() has made writers.
DO $$
DECLARE
  role text;
BEGIN
  FOR role IN SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = 'userstore.begin_writing(boolean)'::regprocedure AND a.grantee NOT IN (0, p.proowner)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION userstore.create_unique, userstore.drop_unique TO %I', role);
    EXECUTE format('GRANT REFERENCES (id) ON userstore.users TO %I', role);
  END LOOP;
END $$;

UPDATE userstore.meta SET layout = 5;

INSERT INTO userstore.layout SELECT p.* FROM userstore.parts() p
  WHERE p.part ~ '^function (unique_key|create_unique|drop_unique|set_rights)\('
  ON CONFLICT (part) DO UPDATE SET definition = excluded.definition;

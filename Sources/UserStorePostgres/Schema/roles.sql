-- Rights for the two kinds of programs. The roles must exist (CREATE ROLE userstore_reader NOLOGIN, …); grant them to the roles
-- that log in. Run as the owner of the schema. Running it twice does no harm.

GRANT USAGE ON SCHEMA userstore TO userstore_reader, userstore_writer;
-- Sequences too, so that a reader can make a dump.
GRANT SELECT ON ALL TABLES IN SCHEMA userstore TO userstore_reader, userstore_writer;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA userstore TO userstore_reader, userstore_writer;
GRANT EXECUTE ON FUNCTION
  userstore.milliseconds, userstore.row_bytes, userstore.log_rows, userstore.log_rows_backwards, userstore.own_rows,
  userstore.own_place, userstore.commit_of, userstore.nonce_at, userstore.time_at, userstore.head, userstore.log_state,
  userstore.next_end, userstore.last_end, userstore.change_count, userstore.extent, userstore.scan, userstore.size_of,
  userstore.used_bytes, userstore.changes_of, userstore.indexes, userstore.parts, userstore.findings, userstore.check
  TO userstore_reader, userstore_writer;

-- A writer changes the records and the positions of consumers. It has no right on the log: triggers write it, with the rights of
-- the owner. What it can do to others nevertheless is in Proof/Postgres/README.md. Useful with it: no temporary functions
-- (REVOKE TEMPORARY ON DATABASE … FROM PUBLIC), max_prepared_transactions = 0.
GRANT INSERT, UPDATE, DELETE ON userstore.users, userstore.attributes, userstore.consumers TO userstore_writer;
GRANT EXECUTE ON FUNCTION
  userstore.begin_writing, userstore.end_set, userstore.next_base, userstore.place, userstore.save_extent, userstore.forget, userstore.blank,
  userstore.create_index, userstore.drop_index
  TO userstore_writer;

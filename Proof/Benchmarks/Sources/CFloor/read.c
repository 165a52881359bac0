#include <string.h>

#include "private.h"

static int64_t read_rows(floor_db *db, sqlite3_stmt *statement) {
  int64_t rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    floor_copy_row(db, statement);
    rows++;
  }
  sqlite3_reset(statement);
  return rows;
}

static int64_t read_all(floor_db *db, statement_index index) { return read_rows(db, floor_statement(db, index)); }

int64_t floor_query(floor_db *db, const char *sql, int64_t value) {
  if (!db->query || strcmp(sqlite3_sql(db->query), sql) != 0) {
    sqlite3_finalize(db->query);
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &db->query, 0) != SQLITE_OK) return -1;
  }
  if (sqlite3_bind_parameter_count(db->query) > 0) sqlite3_bind_int64(db->query, 1, value);
  return read_rows(db, db->query);
}

int64_t floor_read_user(floor_db *db, int64_t user) {
  sqlite3_bind_int64(floor_statement(db, USER), 1, user);
  return read_all(db, USER);
}

int64_t floor_list(floor_db *db) { return read_all(db, USERS); }

int64_t floor_replay(floor_db *db, int64_t start) {
  sqlite3_bind_int64(floor_statement(db, REPLAY), 1, start);
  return read_all(db, REPLAY);
}

const char *floor_name(floor_db *db, int64_t user) {
  sqlite3_stmt *statement = floor_statement(db, NAME);
  sqlite3_bind_int64(statement, 1, user);
  const char *name = 0;
  if (sqlite3_step(statement) == SQLITE_ROW) {
    // Truncated to the size of the buffer.
    name = sqlite3_snprintf(sizeof db->buffer, db->buffer, "%s", sqlite3_column_text(statement, 0));
  }
  sqlite3_reset(statement);
  return name;
}

int64_t floor_data_version(floor_db *db) {
  sqlite3_stmt *statement = floor_statement(db, VERSION);
  int64_t version = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_reset(statement);
  return version;
}

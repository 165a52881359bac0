#include <stdlib.h>
#include <string.h>

#include "private.h"

// Identical to the library's statements, if it has them.
static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [BEGIN_READING] = "BEGIN",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [UPDATE] = "UPDATE users SET name = ?2 WHERE id = ?1 AND name IS NOT ?2",
    [COLOR] = "UPDATE users SET hair_color = ?2 WHERE id = ?1 AND hair_color IS NOT ?2",
    [LAST] = "SELECT max(seq) FROM changes",
    [MARK] = "INSERT INTO changes (op, attribute, old, nonce) VALUES (0, ?1, ?2, ?3)",
    [VERSION] = "PRAGMA data_version",
    [ROWS] = "SELECT seq, op, user, attribute, old, new, nonce, at FROM changes "
             "WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT 1001",
    [USER] = "SELECT users.id, users.name, users.hair_color, attributes.name, attributes.value "
             "FROM users LEFT JOIN attributes ON attributes.user_id = users.id WHERE users.id = ?1",
    [USERS] = "SELECT users.id, users.name, users.hair_color, attributes.name, attributes.value "
              "FROM users LEFT JOIN attributes ON attributes.user_id = users.id ORDER BY users.id",
    [NAME] = "SELECT name FROM users WHERE id = ?1",
    [REPLAY] = "SELECT seq, op, user, attribute, old, new, nonce, at FROM changes WHERE seq > ?1 ORDER BY seq",
};

sqlite3_stmt *floor_statement(floor_db *db, statement_index index) {
  if (!db->statements[index]) {
    sqlite3_prepare_v3(db->handle, sql[index], -1, SQLITE_PREPARE_PERSISTENT, &db->statements[index], 0);
  }
  return db->statements[index];
}

int floor_run(floor_db *db, statement_index index) {
  sqlite3_stmt *statement = floor_statement(db, index);
  while (sqlite3_step(statement) == SQLITE_ROW) {
  }
  return sqlite3_reset(statement);
}

int64_t floor_copy_row(floor_db *db, sqlite3_stmt *row) {
  int64_t used = 0;
  for (int column = 0; column < sqlite3_column_count(row); column++) {
    int64_t integer = 0;
    const void *start = &integer;
    int size = sizeof integer;
    switch (sqlite3_column_type(row, column)) {
      case SQLITE_INTEGER: integer = sqlite3_column_int64(row, column); break;
      case SQLITE_NULL: continue;
      default:
        start = sqlite3_column_text(row, column);
        size = sqlite3_column_bytes(row, column);
    }
    if (size > (int)sizeof db->buffer) size = sizeof db->buffer;
    memcpy(db->buffer, start, size);
    used += size;
  }
  return used;
}

static int note_pages(void *context, sqlite3 *handle, const char *name, int pages) {
  ((floor_db *)context)->wal_pages = pages;
  return SQLITE_OK;
}

static void note_row(void *context, int operation, const char *database, const char *table, sqlite3_int64 row) {
  if (table[0] == 'c' && table[1] == 'h') ((floor_db *)context)->logged = row;
}

static int open_handle(const char *path, sqlite3 **handle) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;
  int code = sqlite3_open_v2(path, handle, flags, 0);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(*handle, 5000);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(*handle, "PRAGMA recursive_triggers=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY", 0, 0, 0);
  }
  // Reads the file's header, because a connection detects the -wal file only when it reads.
  return code == SQLITE_OK ? sqlite3_exec(*handle, "PRAGMA schema_version", 0, 0, 0) : code;
}

floor_db *floor_open(const char *path, int full, floor_plan plan) {
  floor_db *db = calloc(1, sizeof *db);
  db->plan = plan;
  db->wal_path = sqlite3_mprintf("%s-wal", path);
  if (open_handle(path, &db->handle) || open_handle(path, &db->checkpointer) ||
      sqlite3_exec(db->handle, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", 0, 0, 0)) {
    floor_close(db);
    return 0;
  }
  sqlite3_wal_hook(db->handle, note_pages, db);
  if (plan != FLOOR_PLAIN) sqlite3_update_hook(db->handle, note_row, db);
  return db;
}

void floor_close(floor_db *db) {
  for (int index = 0; index < STATEMENTS; index++) sqlite3_finalize(db->statements[index]);
  sqlite3_finalize(db->query);
  sqlite3_close(db->checkpointer);
  sqlite3_close(db->handle);
  sqlite3_free(db->wal_path);
  free(db);
}

int floor_execute(const char *path, const char *sql) {
  sqlite3 *handle = 0;
  int code = open_handle(path, &handle);
  if (code == SQLITE_OK) code = sqlite3_exec(handle, sql, 0, 0, 0);
  sqlite3_close(handle);
  return code;
}

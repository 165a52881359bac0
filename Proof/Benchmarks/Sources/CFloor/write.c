#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"

static int has_moved(floor_db *db) {
  int moved = 0;
  sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved;
}

static int update(floor_db *db, statement_index index, int64_t user, const char *text) {
  sqlite3_stmt *statement = floor_statement(db, index);
  sqlite3_bind_int64(statement, 1, user);
  sqlite3_bind_text(statement, 2, text, text ? (int)strlen(text) : 0, SQLITE_TRANSIENT);
  int code = floor_run(db, index);
  sqlite3_clear_bindings(statement);
  return code;
}

/// Writes the row that ends the set, if anything was logged.
static int mark(floor_db *db) {
  if (db->logged <= db->head) return SQLITE_OK;
  sqlite3_stmt *statement = floor_statement(db, MARK);
  int64_t nonce;
  sqlite3_randomness(sizeof nonce, &nonce);
  sqlite3_bind_null(statement, 1);
  sqlite3_bind_int64(statement, 2, db->head + 1);
  sqlite3_bind_int64(statement, 3, nonce);
  return floor_run(db, MARK);
}

static void read_rows(floor_db *db, int64_t end) {
  sqlite3_stmt *statement = floor_statement(db, ROWS);
  sqlite3_bind_int64(statement, 1, db->head);
  sqlite3_bind_int64(statement, 2, end);
  while (sqlite3_step(statement) == SQLITE_ROW) floor_copy_row(db, statement);
  sqlite3_reset(statement);
}

static void checkpoint_if_due(floor_db *db) {
  if (db->wal_pages < 1000) return;
  if (floor_run(db, BEGIN) == SQLITE_OK) {
    sqlite3_wal_checkpoint_v2(db->checkpointer, "main", SQLITE_CHECKPOINT_PASSIVE, 0, 0);
    floor_run(db, ROLLBACK);
  }
}

static int write_users(floor_db *db, statement_index index, int64_t first, int64_t count, const char *text) {
  int watches = db->plan == FLOOR_SAME_PLAN;
  if (watches && has_moved(db)) return SQLITE_IOERR;
  int code = floor_run(db, BEGIN);
  unsigned version;
  if (watches && code == SQLITE_OK) sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  for (int64_t user = first; code == SQLITE_OK && user < first + count; user++) {
    code = update(db, index, user, text);
  }
  if (db->plan != FLOOR_PLAIN && code == SQLITE_OK) {
    code = mark(db);
    int64_t end = sqlite3_last_insert_rowid(db->handle);
    if (watches) read_rows(db, end);
    db->head = end;
  }
  if (code == SQLITE_OK) code = floor_run(db, COMMIT);
  if (watches && code == SQLITE_OK) {
    if (has_moved(db)) return SQLITE_IOERR;
    int descriptor = open(db->wal_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor >= 0) close(descriptor);
  }
  if (code == SQLITE_OK) checkpoint_if_due(db);
  return code;
}

int floor_rename(floor_db *db, int64_t first, int64_t count, const char *name) {
  return write_users(db, UPDATE, first, count, name);
}

int floor_set_color(floor_db *db, int64_t user, const char *color) { return write_users(db, COLOR, user, 1, color); }

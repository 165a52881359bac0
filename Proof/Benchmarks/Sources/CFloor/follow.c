#include "private.h"

#ifdef __linux__
#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

static int64_t log_end(floor_db *db) {
  sqlite3_stmt *last = floor_statement(db, LAST);
  int64_t end = sqlite3_step(last) == SQLITE_ROW ? sqlite3_column_int64(last, 0) : 0;
  sqlite3_reset(last);
  return end;
}

int floor_watch(floor_db *db) {
  int events = inotify_init1(IN_CLOEXEC);
  if (events >= 0 && inotify_add_watch(events, db->wal_path, IN_CLOSE_NOWRITE) < 0) {
    close(events);
    return -1;
  }
  db->head = log_end(db);
  return events;
}

static void wait_for_event(int events) {
  struct pollfd poller = {.fd = events, .events = POLLIN};
  while (poll(&poller, 1, -1) < 0 && errno == EINTR) {
  }
  char buffer[4096];
  if (read(events, buffer, sizeof buffer) < 0) return;
}

const char *floor_wait_for_value(floor_db *db, int events) {
  const char *value = 0;
  while (!value) {
    wait_for_event(events);
    int moved = 0;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved) return 0;
    floor_data_version(db);
    if (floor_run(db, BEGIN_READING) != SQLITE_OK) return 0;
    int64_t end = log_end(db);
    sqlite3_stmt *rows = floor_statement(db, ROWS);
    sqlite3_bind_int64(rows, 1, db->head);
    sqlite3_bind_int64(rows, 2, end);
    while (sqlite3_step(rows) == SQLITE_ROW) {
      // The row that ends a set has no new value.
      if (sqlite3_column_type(rows, 5) == SQLITE_NULL) continue;
      value = sqlite3_snprintf(sizeof db->buffer, db->buffer, "%s", sqlite3_column_text(rows, 5));
    }
    sqlite3_reset(rows);
    floor_run(db, ROLLBACK);
    db->head = end;
  }
  return value;
}
#else
int floor_watch(floor_db *db) { return -1; }
const char *floor_wait_for_value(floor_db *db, int events) { return 0; }
#endif

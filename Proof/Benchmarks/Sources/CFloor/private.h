#ifndef USERSTORE_BENCH_FLOOR_PRIVATE_H
#define USERSTORE_BENCH_FLOOR_PRIVATE_H

#include <sqlite3.h>

#include "floor.h"

typedef enum {
  BEGIN,
  BEGIN_READING,
  COMMIT,
  ROLLBACK,
  UPDATE,
  COLOR,
  LAST,
  MARK,
  VERSION,
  ROWS,
  USER,
  USERS,
  NAME,
  REPLAY,
  STATEMENTS
} statement_index;

struct floor_db {
  sqlite3 *handle;
  /// The connection for checkpoints, which run while `handle` holds the write lock.
  sqlite3 *checkpointer;
  sqlite3_stmt *statements[STATEMENTS];
  /// The statement of the last call of `floor_query`.
  sqlite3_stmt *query;
  floor_plan plan;
  int wal_pages;
  int64_t head;
  /// The last row that was appended to the log.
  int64_t logged;
  char *wal_path;
  char buffer[4096];
};

/// A statement, which is prepared once.
sqlite3_stmt *floor_statement(floor_db *db, statement_index index);
/// Steps a statement to its end and resets it.
int floor_run(floor_db *db, statement_index index);
/// Copies the columns of the current row, as a caller that keeps them would. Returns the number of bytes.
int64_t floor_copy_row(floor_db *db, sqlite3_stmt *row);

#endif

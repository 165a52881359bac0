#ifndef USERSTORE_BENCH_FLOOR_H
#define USERSTORE_BENCH_FLOOR_H

#include <stdint.h>

// What SQLite itself costs: the library's statements on a file of the library's, without the library.
// Functions that can fail return SQLite's code, 0 for success.

typedef struct floor_db floor_db;

typedef enum {
  /// BEGIN IMMEDIATE, UPDATE, COMMIT.
  FLOOR_PLAIN,
  /// The same with the row that ends the set: on a file with triggers, the log is written too.
  FLOOR_LOG,
  /// All that the library asks of SQLite and the system for a write: the log is read before COMMIT, the file is looked for,
  /// the -wal file is opened and closed.
  FLOOR_SAME_PLAN
} floor_plan;

/// Opens a file that is there; null when it cannot.
floor_db *floor_open(const char *path, int full, floor_plan plan);
void floor_close(floor_db *db);

/// Renames `count` users from `first` on, in one transaction.
int floor_rename(floor_db *db, int64_t first, int64_t count, const char *name);

/// Reads a user with all attributes; how many rows.
int64_t floor_read_user(floor_db *db, int64_t user);
/// Reads all users; how many.
int64_t floor_list(floor_db *db);
/// Reads the log after `start`, every column; how many rows.
int64_t floor_replay(floor_db *db, int64_t start);
/// The name of a user, until the next call; null without one.
const char *floor_name(floor_db *db, int64_t user);
/// Another number after a commit by others.
int64_t floor_data_version(floor_db *db);

/// Runs SQL on a file by a connection of its own.
int floor_execute(const char *path, const char *sql);

/// Runs a program to its end, its output thrown away: exit status, or negative. Arguments end with null.
int floor_spawn(char *const *arguments);

/// Bytes that are allocated from the heap now.
int64_t floor_heap_bytes(void);

/// Calls `body(context)`: the one function whose instructions callgrind counts (--toggle-collect).
void floor_counted(void (*body)(void *), void *context);

#endif

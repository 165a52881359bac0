#ifndef USERSTORE_BENCH_FLOOR_H
#define USERSTORE_BENCH_FLOOR_H

#include <stdint.h>

// The cost of SQLite itself: the library's statements on the library's files, without the library.
// Functions that can fail return SQLite's code, which is 0 for success.

typedef struct floor_db floor_db;

typedef enum {
  /// BEGIN IMMEDIATE, UPDATE, COMMIT.
  FLOOR_PLAIN,
  /// The same, with the row that ends the set. On a file with triggers, this writes the log too.
  FLOOR_LOG,
  /// Every call of SQLite and of the system that the library makes for a write: it reads the log before COMMIT, checks
  /// whether the file was moved, and opens and closes the -wal file.
  FLOOR_SAME_PLAN
} floor_plan;

/// Opens an existing file. Returns null if this fails.
floor_db *floor_open(const char *path, int full, floor_plan plan);
void floor_close(floor_db *db);

/// Renames `count` users, starting with `first`, in one transaction.
int floor_rename(floor_db *db, int64_t first, int64_t count, const char *name);
/// Sets the hair color of a user in a transaction; null unsets it.
int floor_set_color(floor_db *db, int64_t user, const char *color);

/// Reads a user with all attributes. Returns the number of rows.
int64_t floor_read_user(floor_db *db, int64_t user);
/// Reads all users. Returns the number of rows.
int64_t floor_list(floor_db *db);
/// Reads every column of the log after `start`. Returns the number of rows.
int64_t floor_replay(floor_db *db, int64_t start);
/// Reads every row of a statement, which is prepared only if the last call had another one. Returns the number of rows, or -1 if
/// it cannot be prepared. `value` is bound to the first parameter, if there is one.
int64_t floor_query(floor_db *db, const char *sql, int64_t value);
/// The name of a user, valid until the next call, or null if there is no such user.
const char *floor_name(floor_db *db, int64_t user);
/// A number that changes when another connection commits.
int64_t floor_data_version(floor_db *db);

/// Watches the -wal file for the library's signal, from the end of the log. Returns a descriptor, or -1; only on Linux.
int floor_watch(floor_db *db);
/// Waits for a signal, and reads the log as the library does. Returns the last new value, valid until the next call, or null if
/// reading fails.
const char *floor_wait_for_value(floor_db *db, int events);

/// Runs SQL on a file with a connection of its own.
int floor_execute(const char *path, const char *sql);

/// Runs a program without its output. Returns its exit status, or a negative number. The arguments end with null.
int floor_spawn(char *const *arguments);

/// The bytes currently allocated from the heap.
int64_t floor_heap_bytes(void);

/// Calls `body(context)`. callgrind counts only the instructions in this function (--toggle-collect).
void floor_counted(void (*body)(void *), void *context);

#endif

#ifndef USERSTORE_CSQLITE_SHIM_H
#define USERSTORE_CSQLITE_SHIM_H

#include <sqlite3.h>

// Only what Swift cannot import.

// sqlite3_db_config is variadic.
static inline int userstore_db_config_flag(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

// SQLITE_TRANSIENT is a cast of -1 to a function pointer.
static inline int userstore_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int userstore_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

#endif

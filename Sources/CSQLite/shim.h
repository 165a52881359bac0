#ifndef USERSTORE_CSQLITE_SHIM_H
#define USERSTORE_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <string.h>

// Only what Swift cannot import.

// sqlite3_db_config is variadic.
static inline int userstore_db_config_flag(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

static inline int userstore_db_config_value(sqlite3 *db, int option) {
  int value = -1;
  sqlite3_db_config(db, option, -1, &value);
  return value;
}

// SQLITE_TRANSIENT is a cast of -1 to a function pointer.
static inline int userstore_bind_text(sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int userstore_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

// Returns how many pages of the -wal file are not in the database yet, or -1 if that is unknown. No function of SQLite returns
// this on a connection that only reads. The connection must be reading a database in WAL mode: then SQLite has the file's
// index mapped (sqlite.org/walformat.html, 2.1), and this opens and locks nothing.
static inline int userstore_uncopied_pages(sqlite3 *db) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || !file || !file->pMethods || file->pMethods->iVersion < 2) return -1;
  void volatile *index = 0;
  // The code is not checked: with SQLITE_READONLY the index is mapped too.
  file->pMethods->xShmMap(file, 0, 32768, 0, &index);
  if (!index) return -1;
  unsigned words[25];
  memcpy(words, (const void *)index, sizeof words);
  // The index has two copies of its header, which differ while it is being written.
  if (words[0] != 3007000 || memcmp(words, words + 12, 48) != 0) return -1;
  unsigned pages = words[4], copied = words[24];
  return copied <= pages ? (int)(pages - copied) : -1;
}

#endif

#ifndef USERSTORE_FUZZ_SQLITE_SHIM_H
#define USERSTORE_FUZZ_SQLITE_SHIM_H

#include <sqlite3.h>

// sqlite3_db_config is variadic. Turns triggers off.
static inline int sqlite3_db_config_trigger(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
}

#endif

// Makes only SQLite's allocations fail, because Swift ends the program when it gets no memory.
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdlib.h>

#include "plan.h"

// Weak, so that a program without SQLite starts too.
extern int sqlite3_config(int, ...) __attribute__((weak));

static sqlite3_mem_methods system_methods;

static void *allocate(int size) { return plan_refuses_memory() ? 0 : system_methods.xMalloc(size); }

static void *reallocate(void *memory, int size) {
  return plan_refuses_memory() ? 0 : system_methods.xRealloc(memory, size);
}

__attribute__((constructor(104))) static void replace_methods(void) {
  if (!sqlite3_config || !getenv("FAULTS_TALLY")) return;
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_methods) != SQLITE_OK) return;
  sqlite3_mem_methods methods = system_methods;
  methods.xMalloc = allocate;
  methods.xRealloc = reallocate;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

// What is to go wrong, and when.
#ifndef FAULTS_PLAN_H
#define FAULTS_PLAN_H

#include <stdbool.h>

#include "operations.h"

// What an operation has to do.
enum verdict {
  GO_ON,
  FAIL,         // errno is set
  DIE_AFTER,    // do it, then call plan_die
  DO_HALF,
  LIE,
};

// Counts an operation on a watched path; may not return.
enum verdict plan_next(enum operation operation, const char *path);
void plan_die(void);

// Whether the next allocation of SQLite is to fail.
bool plan_refuses_memory(void);

// The number in a variable, or `otherwise`.
long plan_number(const char *variable, long otherwise);

#endif

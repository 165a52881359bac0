// The fault to inject.
#ifndef FAULTS_PLAN_H
#define FAULTS_PLAN_H

#include <stdbool.h>

#include "operations.h"

// What an operation must do.
enum verdict {
  GO_ON,
  FAIL,         // errno is set
  DIE_AFTER,    // do it, then call plan_die
  DO_HALF,
  LIE,
};

// Counts an operation on a watched path. It may not return.
enum verdict plan_next(enum operation operation, const char *path);
void plan_die(void);

// Whether SQLite's next allocation must fail.
bool plan_refuses_memory(void);

// The number in an environment variable, or `otherwise`.
long plan_number(const char *variable, long otherwise);

#endif

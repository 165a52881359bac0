#define _GNU_SOURCE
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tally.h"

static struct tally local;
struct tally *tally = &local;

static struct {
  uint64_t at, times, memory_at, memory_times;
  int error;
  const char *action, *operations;
} plan;

long plan_number(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  return text && *text ? atol(text) : otherwise;
}

// Bypasses our own wrappers, because these operations must not be counted.
static void map_tally(const char *path) {
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (syscall(SYS_ftruncate, file, sizeof(struct tally)) == 0) {
    void *memory = mmap(0, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) tally = memory;
  }
  syscall(SYS_close, file);
}

__attribute__((constructor(101))) static void read_plan(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  plan.at = (uint64_t)plan_number("FAULTS_AT", 0);
  plan.times = (uint64_t)plan_number("FAULTS_TIMES", 1);
  plan.memory_at = (uint64_t)plan_number("FAULTS_MEMORY_AT", 0);
  plan.memory_times = (uint64_t)plan_number("FAULTS_MEMORY_TIMES", 1);
  plan.error = (int)plan_number("FAULTS_ERRNO", EIO);
  plan.action = getenv("FAULTS_DO");
  if (!plan.action) plan.action = "fail";
  plan.operations = getenv("FAULTS_OPS");
  const char *path = getenv("FAULTS_TALLY");
  if (path) map_tally(path);
}

static bool is_due(uint64_t count, uint64_t at, uint64_t times) {
  return at && count >= at && (times == 0 || count < at + times);
}

static bool does(const char *action) { return strcmp(plan.action, action) == 0; }

static void note(enum operation operation, const char *path) {
  if (__atomic_fetch_add(&tally->faults, 1, __ATOMIC_RELAXED) == 0)
    snprintf(tally->hit, sizeof tally->hit, "%c %s", (char)operation, path);
}

void plan_die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static enum verdict act(enum operation operation) {
  if (does("kill-before")) plan_die();
  if (does("kill-after")) return DIE_AFTER;
  if (does("stop")) {
    raise(SIGSTOP);
    return GO_ON;
  }
  if (does("short") && operation == OP_WRITE) return DO_HALF;
  if (does("lie") && (operation == OP_SYNC || operation == OP_FOLDER_SYNC)) return LIE;
  errno = plan.error;
  return FAIL;
}

enum verdict plan_next(enum operation operation, const char *path) {
  if (plan.operations && !strchr(plan.operations, operation)) return GO_ON;
  uint64_t count = __atomic_add_fetch(&tally->operations, 1, __ATOMIC_RELAXED);
  if (!is_due(count, plan.at, plan.times)) return GO_ON;
  note(operation, path);
  return act(operation);
}

bool plan_refuses_memory(void) {
  uint64_t count = __atomic_add_fetch(&tally->allocations, 1, __ATOMIC_RELAXED);
  if (!is_due(count, plan.memory_at, plan.memory_times)) return false;
  __atomic_fetch_add(&tally->faults, 1, __ATOMIC_RELAXED);
  return true;
}

#ifndef USERSTORE_CLIBPQ_SHIM_H
#define USERSTORE_CLIBPQ_SHIM_H

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Only what Swift cannot import, and what is shorter in C.

// Waits for a socket and for a wake-up descriptor, at most for the time (-1: no limit).
// Returns bit 1 if the socket is readable or broken, 2 if it is writable, 4 for a wake-up; 0 after the time, or a signal.
static inline int userstore_pq_wait(int socket, int reads, int writes, int wake, int milliseconds) {
  struct pollfd ends[2] = {
      {.fd = socket, .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))}, {.fd = wake, .events = POLLIN}};
  if (poll(ends, 2, milliseconds) <= 0) return 0;
  int broken = ends[0].revents & (POLLERR | POLLHUP | POLLNVAL);
  return ((ends[0].revents & POLLIN) || broken ? 1 : 0) | ((ends[0].revents & POLLOUT) || broken ? 2 : 0) |
         (ends[1].revents ? 4 : 0);
}

// Notes the warning that a COMMIT did not wait for a synchronous standby: the server may translate its text, but not the name of
// its function. libpq prints other notices to standard error, unless there is a receiver.
static inline void userstore_pq_note_notice(void *is_unreplicated, const PGresult *notice) {
  const char *function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (function && strcmp(function, "SyncRepWaitForLSN") == 0) *(int *)is_unreplicated = 1;
}
static inline void userstore_pq_note_notices(PGconn *connection, int *is_unreplicated) {
  PQsetNoticeReceiver(connection, userstore_pq_note_notice, is_unreplicated);
}

struct userstore_pq_cancellation {
  PGcancel *cancel;
  int done;
};

static inline void *userstore_pq_run_cancellation(void *argument) {
  struct userstore_pq_cancellation *cancellation = (struct userstore_pq_cancellation *)argument;
  char message[256];
  PQcancel(cancellation->cancel, message, sizeof message);
  PQfreeCancel(cancellation->cancel);
  close(cancellation->done);
  free(cancellation);
  return 0;
}

// Asks the server to cancel the running statement, and waits at most for the time until it has received that.
// PQcancel blocks, without limit if the server does not answer; so it runs on a thread of its own.
static inline void userstore_pq_cancel(PGconn *connection, int milliseconds) {
  int ends[2];
  struct userstore_pq_cancellation *cancellation = (struct userstore_pq_cancellation *)malloc(sizeof *cancellation);
  if (!cancellation) return;
  cancellation->cancel = PQgetCancel(connection);
  if (!cancellation->cancel || pipe(ends) != 0) {
    PQfreeCancel(cancellation->cancel);
    free(cancellation);
    return;
  }
  cancellation->done = ends[1];
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  sigfillset(&all);
  // The thread must not receive the signals of the program.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int code = pthread_create(&thread, &attributes, userstore_pq_run_cancellation, cancellation);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, 0);
  if (code == 0) {
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    poll(&end, 1, milliseconds);
  } else {
    PQfreeCancel(cancellation->cancel);
    free(cancellation);
    close(ends[1]);
  }
  close(ends[0]);
}

// The fields of an error: macros with characters, which Swift imports as other types on other systems.
enum {
  USERSTORE_PQ_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED,
  USERSTORE_PQ_SQLSTATE = PG_DIAG_SQLSTATE,
  USERSTORE_PQ_MESSAGE = PG_DIAG_MESSAGE_PRIMARY,
  USERSTORE_PQ_DETAIL = PG_DIAG_MESSAGE_DETAIL,
  USERSTORE_PQ_HINT = PG_DIAG_MESSAGE_HINT,
  USERSTORE_PQ_FUNCTION = PG_DIAG_SOURCE_FUNCTION,
  USERSTORE_PQ_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME,
};

#endif

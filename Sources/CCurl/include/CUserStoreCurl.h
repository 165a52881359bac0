#pragma once

#include <stdbool.h>
#include <stddef.h>

// Requests of HTTP with libcurl, one after the other; compiled only for Linux. Its functions with variable arguments cannot be called
// from Swift.

// Connections that are kept between requests. One thread at a time uses it.
typedef struct curl_line curl_line;

// Who waits for an answer.
typedef struct {
  void *context;
  // The status is there, and the time of Retry-After in seconds, -1 without; then each piece of the body. False ends the request.
  bool (*begin)(void *context, long status, long long retry_after);
  bool (*receive)(void *context, const void *bytes, size_t count);
  // Asked once a second, and after curl_line_wake.
  bool (*is_canceled)(void *context);
} curl_receiver;

// Returns NULL without memory.
curl_line *curl_line_create(void);
void curl_line_free(curl_line *line);

// Lets a request that waits ask whether it is canceled; any thread may call it while the line exists.
void curl_line_wake(curl_line *line);

// Sends a request, GET without a body and POST with one, and waits for the end of the answer. `headers` are lines, with \n between them.
// Returns NULL if the answer is whole, otherwise the reason, which is valid until the next request of the line. After `silence` seconds
// without a byte, the request ends.
const char *curl_line_perform(
  curl_line *line, const char *url, const char *headers, const void *body, size_t body_count, bool has_body, long silence, curl_receiver receiver);

#if defined(__linux__)

#define _GNU_SOURCE
#include "CUserStoreCurl.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct curl_line {
  CURLM *multi;
  CURL *easy;
  char message[CURL_ERROR_SIZE];
};

// A request under way.
struct running {
  curl_line *line;
  curl_receiver receiver;
  bool has_begun;
};

static void initialize(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

curl_line *curl_line_create(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
  curl_line *line = calloc(1, sizeof *line);
  if (!line) return NULL;
  line->multi = curl_multi_init();
  line->easy = curl_easy_init();
  if (line->multi && line->easy) return line;
  curl_line_free(line);
  return NULL;
}

void curl_line_free(curl_line *line) {
  if (line->easy) curl_easy_cleanup(line->easy);
  if (line->multi) curl_multi_cleanup(line->multi);
  free(line);
}

void curl_line_wake(curl_line *line) { curl_multi_wakeup(line->multi); }

static bool begin(struct running *running) {
  if (running->has_begun) return true;
  running->has_begun = true;
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(running->line->easy, CURLINFO_RESPONSE_CODE, &status);
  // 0 without, and for a time that is over.
  curl_easy_getinfo(running->line->easy, CURLINFO_RETRY_AFTER, &retry_after);
  return running->receiver.begin(running->receiver.context, status, retry_after > 0 ? (long long)retry_after : -1);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
  struct running *running = context;
  if (!begin(running) || !running->receiver.receive(running->receiver.context, bytes, size * count)) return 0;
  return size * count;
}

const char *curl_line_perform(
  curl_line *line, const char *url, const char *headers, const void *body, size_t body_count, bool has_body, long silence, curl_receiver receiver
) {
  struct running running = { line, receiver, false };
  struct curl_slist *list = NULL;
  char *lines = strdup(headers), *rest_of_lines = NULL;
  bool has_memory = lines != NULL;
  for (char *header = lines ? strtok_r(lines, "\r\n", &rest_of_lines) : NULL; header && has_memory;
       header = strtok_r(NULL, "\r\n", &rest_of_lines)) {
    struct curl_slist *longer = curl_slist_append(list, header);
    has_memory = longer != NULL;
    if (longer) list = longer;
  }
  free(lines);
  CURL *easy = line->easy;
  // Keeps the connections.
  curl_easy_reset(easy);
  line->message[0] = 0;
  CURLcode code = has_memory ? curl_easy_setopt(easy, CURLOPT_URL, url) : CURLE_OUT_OF_MEMORY;
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, line->message);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  // All that this curl knows.
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &running);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, silence);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, silence);
  // So that a machine that is gone is noticed while the answer is awaited.
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 10L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
  if (has_body && code == CURLE_OK) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_count);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
  }
  bool is_canceled = false;
  if (code == CURLE_OK) {
    CURLMcode multi = curl_multi_add_handle(line->multi, easy);
    int left = multi == CURLM_OK;
    while (left > 0 && multi == CURLM_OK) {
      multi = curl_multi_perform(line->multi, &left);
      if (left == 0 || multi != CURLM_OK) break;
      if ((is_canceled = receiver.is_canceled(receiver.context))) break;
      multi = curl_multi_poll(line->multi, NULL, 0, 1000, NULL);
    }
    code = multi == CURLM_OK ? CURLE_OK : CURLE_OUT_OF_MEMORY;
    CURLMsg *message;
    int rest;
    while ((message = curl_multi_info_read(line->multi, &rest))) {
      if (message->msg == CURLMSG_DONE && code == CURLE_OK) code = message->data.result;
    }
    curl_multi_remove_handle(line->multi, easy);
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
  curl_slist_free_all(list);
  if (is_canceled) return "canceled";
  // An answer without a body.
  if (code == CURLE_OK && begin(&running)) return NULL;
  return line->message[0] ? line->message : curl_easy_strerror(code);
}

#else

// An empty file is no C.
typedef int curl_is_not_used_here;

#endif

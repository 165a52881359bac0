#include "floor.h"

#ifdef __APPLE__
#include <malloc/malloc.h>

int64_t floor_heap_bytes(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(0, &statistics);
  return (int64_t)statistics.size_in_use;
}
#else
#include <malloc.h>

int64_t floor_heap_bytes(void) {
  struct mallinfo2 information = mallinfo2();
  return (int64_t)(information.uordblks + information.hblkhd);
}
#endif

__attribute__((noinline)) void floor_counted(void (*body)(void *), void *context) {
  body(context);
  __asm__ volatile("");  // Prevents a tail call, which would leave this function before the body runs.
}

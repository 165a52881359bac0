#ifndef USERSTORE_BENCH_FLOOR_H
#define USERSTORE_BENCH_FLOOR_H

#include <stdint.h>

/// Bytes that are allocated from the heap now.
int64_t floor_heap_bytes(void);

/// Calls `body(context)`: the one function whose instructions callgrind counts (--toggle-collect).
void floor_counted(void (*body)(void *), void *context);

#endif

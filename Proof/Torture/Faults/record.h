// The record of the operations (README.md describes the format).
#ifndef FAULTS_RECORD_H
#define FAULTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// No other operation takes effect between the two, so that the record has the order of the effects.
void record_begin(void);
void record_end(void);

// Must be called between record_begin and record_end.
void record(char operation, const char *path, uint64_t offset, const void *data, size_t length);

bool record_is_acknowledged(int descriptor);

#endif

// The record of what was done (README.md says how it is written).
#ifndef FAULTS_RECORD_H
#define FAULTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Between the two nobody else's operation takes effect, so that the record has the order of the effects.
void record_begin(void);
void record_end(void);

// Only between them.
void record(char operation, const char *path, uint64_t offset, const void *data, size_t length);

bool record_is_acknowledged(int descriptor);

#endif

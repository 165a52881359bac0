#ifndef USERSTORE_CLIBFUZZER_H
#define USERSTORE_CLIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *bytes, size_t count));

// Changes the bytes and returns the new count. It may be called only from a custom mutator.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t limit);

#endif

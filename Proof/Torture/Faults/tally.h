// The content of the file FAULTS_TALLY, which is mapped so that it survives the process.
#ifndef FAULTS_TALLY_H
#define FAULTS_TALLY_H

#include <stdint.h>

struct tally {
  uint64_t operations;
  uint64_t allocations;
  uint64_t faults;     // the number of injected faults
  char hit[488];       // the first operation with a fault: its letter, a space, its path
};

extern struct tally *tally;

#endif

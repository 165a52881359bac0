// The file of FAULTS_TALLY, mapped, so that it survives the process.
#ifndef FAULTS_TALLY_H
#define FAULTS_TALLY_H

#include <stdint.h>

struct tally {
  uint64_t operations;
  uint64_t allocations;
  uint64_t faults;     // how many were made to go wrong
  char hit[488];       // the first of them: its letter, a space, its path
};

extern struct tally *tally;

#endif

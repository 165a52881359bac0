#ifndef USERSTORE_MUTANTS_H
#define USERSTORE_MUTANTS_H

#include <stdbool.h>

/// Whether this process runs mutant `number` ($USERSTORE_MUTANT); notes that the place was reached ($USERSTORE_REACHED).
bool mutant(long number);

#endif

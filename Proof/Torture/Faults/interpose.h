// Shared by the wrappers.
#ifndef FAULTS_INTERPOSE_H
#define FAULTS_INTERPOSE_H

#include <dlfcn.h>

// Declares `real`, the function of the C library with a name.
#define REAL(name)                                                      \
  static __typeof__(&name) real;                                        \
  if (!real) real = (__typeof__(&name))(unsigned long)dlsym(RTLD_NEXT, #name)

#endif

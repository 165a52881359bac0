// What the wrappers have in common.
#ifndef FAULTS_INTERPOSE_H
#define FAULTS_INTERPOSE_H

#include <dlfcn.h>

// The function of the C library behind the one of ours with that name.
#define REAL(name)                                                      \
  static __typeof__(&name) real;                                        \
  if (!real) real = (__typeof__(&name))(unsigned long)dlsym(RTLD_NEXT, #name)

#endif

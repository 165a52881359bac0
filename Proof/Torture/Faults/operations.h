// The operations that are counted, with their letters in FAULTS_OPS and in the tally.
#ifndef FAULTS_OPERATIONS_H
#define FAULTS_OPERATIONS_H

enum operation {
  OP_OPEN = 'o',
  OP_READ = 'q',
  OP_WRITE = 'w',
  OP_TRUNCATE = 't',
  OP_SYNC = 's',
  OP_FOLDER_SYNC = 'D',
  OP_UNLINK = 'u',
  OP_RENAME = 'r',
  OP_LINK = 'l',
  OP_TOUCH = 'm',
  OP_LOCK = 'k',
};

#endif

#ifndef USERSERVER_CFILES_H
#define USERSERVER_CFILES_H

// Text files that are in the program, so that one file is the whole server.

/// The description of the API.
const char *openapi_json(void);

struct page_file {
  /// Its path in the folder, which is also its address.
  const char *name;
  const char *text;
};

/// Every file in the folder Page/Files; the last element has no name.
const struct page_file *page_files(void);

#endif

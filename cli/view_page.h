/* The built page of viewer/, inside the command. */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include <stddef.h>

/* page.html; NULL when this build has none (-DABUT_VIEWER=OFF). */
const char *view_page(size_t *size);

#endif

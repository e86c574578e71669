/* A recording as one page that opens from disk. */
#ifndef CLI_EXPORT_HTML_H
#define CLI_EXPORT_HTML_H

#include "cli.h"

/* The page of `abut view` with the blocks of viewer/PROTOCOL.md inside.  ABUT_UNSUPPORTED where this build
 * has no page. */
abut_status export_html(abut_recording *recording, const char *path, abut_export_report *report,
                        abut_error *error);

#endif

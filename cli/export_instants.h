/* The instants of events in an exported page: a click on an event shows what the served page shows. */
#ifndef CLI_EXPORT_INSTANTS_H
#define CLI_EXPORT_INSTANTS_H

#include "page_writer.h"
#include "view_blocks.h"

/* instants.bin, touches.bin and moments.bin of viewer/PROTOCOL.md, each as far as 16 MiB go. */
abut_status export_instants(page_writer *w, abut_recording *recording, view_layout layout, abut_error *error);

#endif

/* A scene that runs while somebody looks: one thread, fed with the messages of viewer/PROTOCOL.md. */
#ifndef CLI_VIEW_LIVE_H
#define CLI_VIEW_LIVE_H

#include "view_blocks.h"

typedef struct view_live view_live;

/* Where what the run says goes: text is JSON, otherwise bytes.  False: nobody listens any more. */
typedef bool view_send(void *user, bool text, const void *data, size_t size);

/* Loads the scene at `path` in a thread of its own and sends what comes of it.  NULL when there is no memory
 * or no thread. */
view_live *view_live_start(const char *path, const char *root, view_send *send, void *user);
/* One message of the page; false when it is not one. */
bool view_live_message(view_live *live, const char *text, size_t size);
void view_live_stop(view_live *live); /* waits for the thread */

#endif

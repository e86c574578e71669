/* The local web server of `abut view`: loopback only, everything behind a random token, nothing but the page,
 * the blocks of viewer/PROTOCOL.md and the socket of a live run. */
#ifndef CLI_VIEW_SERVER_H
#define CLI_VIEW_SERVER_H

#include "view_blocks.h"
#include "view_gallery.h"

typedef struct view_server view_server;

typedef struct view_server_def {
    const char *recording; /* or */
    const char *scene;     /* or neither: the gallery */
    const char *root;      /* of the scene's files */
    int port;              /* 0: any that is free */
} view_server_def;

/* EXIT_DONE, or a message has been printed. */
int view_server_start(const view_server_def *def, view_server **server);
const char *view_server_address(const view_server *server); /* http://127.0.0.1:PORT/TOKEN/ */
void view_server_stop(view_server *server);

#endif

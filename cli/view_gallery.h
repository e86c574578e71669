/* The scenes that come with abut: name, sentence, picture. */
#ifndef CLI_VIEW_GALLERY_H
#define CLI_VIEW_GALLERY_H

#include "cli.h"

typedef struct view_scene {
    char name[128]; /* the file without its ending */
    char text[512]; /* the first comment of the file */
    char path[1024], picture[1024];
    bool has_picture;
} view_scene;
typedef struct view_gallery {
    char folder[900];
    view_scene *scenes; /* by name */
    int count;
} view_gallery;

/* Looks for the scenes: next to the installed command (share/abut/scenes), in the source tree it was built
 * in, in
 * ./scenes.  False, with a message, where there are none. */
bool view_gallery_open(view_gallery *gallery);
const view_scene *view_gallery_find(const view_gallery *gallery, const char *name);
json_t *view_gallery_json(const view_gallery *gallery);
void view_gallery_close(view_gallery *gallery);

#endif

#ifndef CLI_CHECK_SCENE_H
#define CLI_CHECK_SCENE_H

#include "cli.h"

bool check_is_scene(const char *path); /* by its ending: .lua, .json */
/* Exit status: 0 fine, 1 bodies overlap at the start, 2 the scene cannot be loaded. */
int check_scene(const char *path, bool json);

#endif

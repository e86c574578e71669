/* What messages of Lua mean in a scene: functions that are misspelt, or have another name in other programs,
 * are nil values for it. */
#include "scene/scene.h"

#include <stdio.h>

static const char globals[] =
    "world material pair body contact spring force torque watch param on every camera light sphere ellipsoid "
    "capsule cylinder halfspace print";
static const char hinges[] =
    "ball pin slider cylinder universal planar weld rod screw point_on_plane point_on_line";
static const char solids[] = "box mesh hull prism tetrahedron sphere cylinder torus";

/* Names that other programs have. */
static const struct {
    const char *word, *meant;
} others[] = {{"revolute", "hinge.pin"},   {"prismatic", "hinge.slider"},
              {"spherical", "hinge.ball"}, {"fixed", "hinge.weld"},
              {"distance", "hinge.rod"},   {"rope", "hinge.rod"},
              {"helical", "hinge.screw"},  {"joint", "hinge.pin"},
              {"cube", "solid.box"},       {"cuboid", "solid.box"},
              {"block", "solid.box"},      {"trimesh", "solid.mesh"},
              {"convex", "solid.hull"},    {"plane", "halfspace"},
              {"ground", "halfspace"},     {"rigid_body", "body"},
              {"object", "body"},          {"gravity", "world { gravity = ... }"},
              {"friction", "material"},    {"bezier", "surface.bezier"},
              {"loop", "surface.loop"},    {"event", "on"},
              {"parameter", "param"}};

/* The name in quotes behind the words, if the text has them. */
static bool find_name(const char *text, const char *words, char *name, size_t size) {
    const char *at = strstr(text, words);
    if (!at) return false;
    at += strlen(words);
    size_t length = strcspn(at, "'");
    if (at[length] != '\'' || length >= size) return false;
    snprintf(name, size, "%.*s", (int)length, at);
    return true;
}

/* The function that was meant by a name. */
static bool find_function(const char *name, bool is_global, char *out, size_t size) {
    char buffer[32];
    for (int i = 0; i < COUNT_OF(others); i++)
        if (strcmp(others[i].word, name) == 0) {
            snprintf(out, size, "%s", others[i].meant);
            return true;
        }
    const struct {
        const char *prefix, *words;
    } lists[] = {{"", globals}, {"hinge.", hinges}, {"solid.", solids}, {"surface.", "bezier loop"}};
    int first = is_global ? 0 : 1, best = -1;
    for (int i = first; i < COUNT_OF(lists); i++) {
        const char *nearest = table_nearest(name, lists[i].words, buffer, sizeof buffer);
        bool exact = nearest && strcmp(nearest, name) == 0;
        if (!nearest || (best >= 0 && !exact)) continue;
        best = i;
        snprintf(out, size, "%s%s", is_global ? lists[i].prefix : "", nearest);
        if (exact) break;
    }
    return best >= 0;
}

void scene_hint(const char *text, char *out, size_t size) {
    char name[32], meant[64];
    *out = 0;
    bool global = find_name(text, "attempt to call a nil value (global '", name, sizeof name);
    if (global || find_name(text, "attempt to call a nil value (field '", name, sizeof name)) {
        if (find_function(name, global, meant, sizeof meant))
            snprintf(out, size, "; did you mean `%s`?", meant);
        else if (!global)
            snprintf(out, size, "; hinges are: %s; solids: %s", hinges, solids);
        else if (strcmp(name, "require") == 0 || strcmp(name, "dofile") == 0 || strcmp(name, "loadfile") == 0)
            snprintf(out, size, "; a scene is one file, without modules");
    } else if (find_name(text, "attempt to call a table value (global '", name, sizeof name)) {
        if (strcmp(name, "hinge") == 0)
            snprintf(out, size, "; write hinge.pin { ... }; hinges are: %s", hinges);
        if (strcmp(name, "solid") == 0)
            snprintf(out, size, "; write solid.box { ... }; solids are: %s", solids);
        if (strcmp(name, "surface") == 0)
            snprintf(out, size, "; write surface.bezier { ... } or surface.loop { ... }");
    } else if (find_name(text, "attempt to index a nil value (global '", name, sizeof name)) {
        if (strcmp(name, "io") == 0 || strcmp(name, "os") == 0 || strcmp(name, "package") == 0 ||
            strcmp(name, "debug") == 0)
            snprintf(out, size,
                     "; a scene has no files or processes: math, string, table and utf8 are there");
    } else if (strstr(text, "'}' expected near '") && !strstr(text, "expected near '='")) {
        snprintf(out, size, "; is a comma missing before it?");
    }
}

/* The scenes that come with abut (see view_gallery.h). */
#define _XOPEN_SOURCE 700
#include "view_gallery.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the running command. */
static bool own_folder(char *out, size_t size) {
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0) return false;
    out[length] = 0;
    char *slash = strrchr(out, '/');
    if (slash) *slash = 0;
    return slash != NULL;
}

static bool find_folder(char *out, size_t size) {
    static const char *const places[] = {"/../share/abut/scenes", "/../../scenes", "/../scenes"};
    char own[700];
    if (own_folder(own, sizeof own))
        for (int i = 0; i < 3; i++) {
            snprintf(out, size, "%s%s", own, places[i]);
            if (access(out, R_OK | X_OK) == 0) return true;
        }
    snprintf(out, size, "scenes");
    return access(out, R_OK | X_OK) == 0;
}

/* The comment at the top of the file up to the end of its first sentence (or its first line). */
static void read_text(view_scene *s) {
    FILE *file = fopen(s->path, "r");
    char line[512];
    if (file && fgets(line, sizeof line, file)) {
        const char *text = line + strspn(line, "-# ");
        size_t length = strcspn(text, "\r\n");
        snprintf(s->text, sizeof s->text, "%.*s", (int)length, text);
    }
    if (file) fclose(file);
}

static void find_picture(view_gallery *g, view_scene *s) {
    static const char *const places[] = {"pictures", "../docs/pictures/scenes"};
    static const char *const endings[] = {"webp", "jpg", "png"};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            int length = snprintf(s->picture, sizeof s->picture, "%s/%s/%.100s.%s", g->folder, places[i],
                                  s->name, endings[k]);
            s->has_picture = length < (int)sizeof s->picture && access(s->picture, R_OK) == 0;
            if (s->has_picture) return;
        }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const view_scene *)a)->name, ((const view_scene *)b)->name);
}

static bool is_scene(const char *file, size_t *length) {
    const char *dot = strrchr(file, '.');
    *length = dot ? (size_t)(dot - file) : 0;
    return *length > 0 && *length < 100 && strcmp(dot, ".lua") == 0;
}

bool view_gallery_open(view_gallery *g) {
    *g = (view_gallery){0};
    DIR *folder = find_folder(g->folder, sizeof g->folder) ? opendir(g->folder) : NULL;
    size_t length;
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        if (!is_scene(e->d_name, &length)) continue;
        view_scene *grown = realloc(g->scenes, (size_t)(g->count + 1) * sizeof *grown);
        if (!grown) break;
        g->scenes = grown;
        view_scene *s = &grown[g->count++];
        *s = (view_scene){0};
        snprintf(s->name, sizeof s->name, "%.*s", (int)length, e->d_name);
        snprintf(s->path, sizeof s->path, "%s/%.100s.lua", g->folder, s->name);
        read_text(s);
        find_picture(g, s);
    }
    if (folder) closedir(folder);
    if (g->count) qsort(g->scenes, (size_t)g->count, sizeof *g->scenes, by_name);
    if (g->count) return true;
    cli_complain("view: no scenes were found beside the command or in ./scenes; give a scene or a recording");
    return false;
}

const view_scene *view_gallery_find(const view_gallery *g, const char *name) {
    for (int i = 0; i < g->count; i++)
        if (strcmp(g->scenes[i].name, name) == 0) return &g->scenes[i];
    return NULL;
}

json_t *view_gallery_json(const view_gallery *g) {
    json_t *list = json_array();
    for (int i = 0; i < g->count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:b}", "name", g->scenes[i].name, "text",
                                              g->scenes[i].text, "picture", (int)g->scenes[i].has_picture));
    return json_pack("{s:o}", "scenes", list);
}

void view_gallery_close(view_gallery *g) {
    free(g->scenes);
    *g = (view_gallery){0};
}

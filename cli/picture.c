/* A slice through the partition of space as SVG.
 *
 * A rectangle across the solid's box, perpendicular to its shortest side, is classified by the index: its
 * parts are the cells of the tree in that plane.  Inside is filled, the boundary of the solid drawn over it.
 */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef struct view {
    int axis[2]; /* what is drawn to the right and up */
    double left, top, scale;
} view;

static double at(abut_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static void print_path(FILE *out, const view *v, const abut_vec3 *points, int count) {
    for (int i = 0; i < count; i++)
        fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M', (at(points[i], v->axis[0]) - v->left) * v->scale,
                (v->top - at(points[i], v->axis[1])) * v->scale);
    fputs("Z", out);
}

static void print_parts(FILE *out, const view *v, const abut_parts *parts) {
    static const struct {
        abut_place_kind kind;
        const char *fill, *stroke;
    } layers[] = {{ABUT_OUTSIDE, "#ffffff", "#c9d3dc"},
                  {ABUT_INSIDE, "#f6d9a8", "#d09a3e"},
                  {ABUT_ON_FACE, "#9cc3e6", "#3c78b4"}};
    for (int l = 0; l < 3; l++) {
        fprintf(out, "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"0.6\" d=\"", layers[l].fill,
                layers[l].stroke);
        for (int64_t i = 0; i < parts->count; i++)
            if (parts->places[i].kind == layers[l].kind)
                print_path(out, v, parts->points + parts->start[i], parts->start[i + 1] - parts->start[i]);
        fprintf(out, "\"/>\n");
    }
}

static void print_border(FILE *out, const view *v, const abut_regions *regions) {
    fprintf(out,
            "<path fill=\"none\" stroke=\"#1c2a38\" stroke-width=\"1.6\" stroke-linejoin=\"round\" d=\"");
    for (int64_t r = 0; r < regions->count; r++) {
        if (regions->places[r].kind == ABUT_OUTSIDE) continue;
        for (int32_t l = regions->loop_start[r]; l < regions->loop_start[r + 1]; l++)
            print_path(out, v, regions->points + regions->corner_start[l],
                       regions->corner_start[l + 1] - regions->corner_start[l]);
    }
    fprintf(out, "\"/>\n");
}

/* The rectangle: the box with a margin, a little beside the middle, where planes of symmetry would hide the
 * cells. */
static void make_slice(abut_box b, view *v, abut_vec3 corner[4], double *size) {
    double extent[3] = {b.upper.x - b.lower.x, b.upper.y - b.lower.y, b.upper.z - b.lower.z};
    int normal = extent[2] <= extent[0] && extent[2] <= extent[1] ? 2 : extent[1] <= extent[0] ? 1 : 0;
    v->axis[0] = normal == 0 ? 1 : 0, v->axis[1] = normal == 2 ? 1 : 2;
    double margin = 0.06 * fmax(extent[v->axis[0]], extent[v->axis[1]]);
    double low[3] = {b.lower.x, b.lower.y, b.lower.z}, high[3] = {b.upper.x, b.upper.y, b.upper.z};
    for (int i = 0; i < 4; i++) {
        double x[3];
        x[normal] = low[normal] + 0.4871 * extent[normal];
        x[v->axis[0]] = i == 0 || i == 3 ? low[v->axis[0]] - margin : high[v->axis[0]] + margin;
        x[v->axis[1]] = i < 2 ? low[v->axis[1]] - margin : high[v->axis[1]] + margin;
        corner[i] = (abut_vec3){x[0], x[1], x[2]};
    }
    size[0] = extent[v->axis[0]] + 2 * margin, size[1] = extent[v->axis[1]] + 2 * margin;
    v->left = low[v->axis[0]] - margin, v->top = high[v->axis[1]] + margin,
    v->scale = 800 / fmax(size[0], size[1]);
}

int cli_index_picture(const abut_solid *solid, const abut_index *index, const char *path) {
    abut_box b = abut_solid_facts_of(solid).bounds;
    view v;
    abut_vec3 corner[4];
    double size[2];
    make_slice(b, &v, corner, size);
    double epsilon = abut_default_solid_options().epsilon * fmax(size[0], size[1]);
    abut_parts parts = {0};
    abut_regions regions = {0};
    abut_error error = {0};
    abut_vec3 u = {corner[1].x - corner[0].x, corner[1].y - corner[0].y, corner[1].z - corner[0].z};
    abut_vec3 w = {corner[3].x - corner[0].x, corner[3].y - corner[0].y, corner[3].z - corner[0].z};
    abut_vec3 normal = {u.y * w.z - u.z * w.y, u.z * w.x - u.x * w.z, u.x * w.y - u.y * w.x};
    abut_status done = abut_index_polygon(NULL, index, solid, corner, 4, epsilon, &parts, &error);
    if (done == ABUT_OK) done = abut_parts_join(NULL, &parts, normal, epsilon, &regions, &error);
    int status = done == ABUT_OK ? EXIT_DONE : cli_error(&error);
    FILE *out = status == EXIT_DONE ? fopen(path, "w") : NULL;
    if (status == EXIT_DONE && !out)
        status = cli_complain("%s: cannot be written: %s", path, strerror(errno));
    if (out) {
        fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.2f %.2f\">\n",
                size[0] * v.scale, size[1] * v.scale);
        print_parts(out, &v, &parts);
        print_border(out, &v, &regions);
        fprintf(out, "</svg>\n");
        if (fclose(out) != 0) status = cli_complain("%s: was not written whole; is the disk full?", path);
    }
    abut_parts_free(NULL, &parts);
    abut_regions_free(NULL, &regions);
    return status;
}

/* Two solids and where they touch, as SVG: both see-through, the regions over them coloured by dimension,
 * their normals as arrows.  On the left the whole, on the right the surroundings of the contact.
 *
 * The eye looks across the contact: the mean normal points up, the eye is raised by a third of a right angle.
 */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { PANEL = 640, GAP = 20, LEGEND = 34 };

typedef struct eye {
    abut_vec3 right, up, toward; /* toward: from the scene to the eye */
} eye;

typedef struct panel {
    double x, y, scale; /* middle of the picture in the eye's plane, and pixels per metre */
    double left;        /* pixels */
} panel;

typedef struct triangle {
    abut_vec3 corner[3];
    double depth, shade;
    int solid;
} triangle;

static const struct {
    const char *color, *name;
} of_dimension[3] = {{"#1d8348", "point"}, {"#1f5fbf", "line"}, {"#d35400", "area"}};
static const char *const of_solid[2] = {"#8fb8de", "#d9c08b"};

static double dot(abut_vec3 a, abut_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static abut_vec3 cross(abut_vec3 a, abut_vec3 b) {
    return (abut_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static abut_vec3 mix(abut_vec3 a, double s, abut_vec3 b) {
    return (abut_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static abut_vec3 unit(abut_vec3 a) {
    double length = sqrt(dot(a, a));
    return length > 0 ? (abut_vec3){a.x / length, a.y / length, a.z / length} : a;
}

static eye make_eye(const abut_touch *t) {
    abut_vec3 up = {0, 0, 0};
    for (int64_t i = 0; i < t->region_count; i++)
        for (int k = 0; k < t->regions[i].normal_count; k++) up = mix(up, 1, t->regions[i].normals[k]);
    if (dot(up, up) < 1e-6) up = (abut_vec3){0, 0, 1};
    up = unit(up);
    abut_vec3 axis = fabs(up.y) < 0.9 ? (abut_vec3){0, 1, 0} : (abut_vec3){1, 0, 0};
    abut_vec3 side = unit(cross(up, axis)), ahead = cross(up, side);
    eye e;
    e.toward = unit(mix(mix(mix((abut_vec3){0, 0, 0}, 0.42, side), -0.76, ahead), 0.5, up));
    e.right = unit(cross(up, e.toward));
    e.up = cross(e.toward, e.right);
    return e;
}

/* ---- the solids */

static abut_status gather(const abut_solid *const solid[2], const abut_pose pose[2], const eye *e,
                          triangle **triangles, int64_t *count, abut_error *error) {
    int32_t *corners[2] = {NULL, NULL};
    int64_t counts[2] = {0, 0};
    abut_status status = ABUT_OK;
    for (int i = 0; i < 2 && status == ABUT_OK; i++)
        status = abut_solid_triangles(NULL, solid[i], &corners[i], &counts[i], error);
    *triangles = status == ABUT_OK ? malloc((size_t)(counts[0] + counts[1] + 1) * sizeof **triangles) : NULL;
    *count = 0;
    for (int i = 0; i < 2 && *triangles; i++)
        for (int64_t k = 0; k < counts[i]; k++) {
            triangle t = {.solid = i};
            for (int c = 0; c < 3; c++)
                t.corner[c] = abut_pose_point(pose[i], abut_solid_vertex(solid[i], corners[i][3 * k + c]));
            abut_vec3 n = unit(cross(mix(t.corner[1], -1, t.corner[0]), mix(t.corner[2], -1, t.corner[0])));
            t.shade = dot(n, e->toward);
            for (int c = 0; c < 3; c++) t.depth += dot(t.corner[c], e->toward) / 3;
            if (t.shade > 0) (*triangles)[(*count)++] = t; /* what looks away is behind */
        }
    for (int i = 0; i < 2; i++) abut_solid_triangles_free(NULL, corners[i], counts[i]);
    return status;
}

static int by_depth(const void *a, const void *b) {
    const triangle *s = a, *t = b;
    return (s->depth > t->depth) - (s->depth < t->depth);
}

static double place_x(const panel *p, const eye *e, abut_vec3 v) {
    return p->left + PANEL / 2.0 + (dot(v, e->right) - p->x) * p->scale;
}
static double place_y(const panel *p, const eye *e, abut_vec3 v) {
    return PANEL / 2.0 - (dot(v, e->up) - p->y) * p->scale;
}

static void print_path(FILE *out, const panel *p, const eye *e, const abut_vec3 *points, int count) {
    for (int i = 0; i < count; i++)
        fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', place_x(p, e, points[i]), place_y(p, e, points[i]));
    if (count > 2) fputs("Z", out);
}

static bool is_outside(const panel *p, const eye *e, const abut_vec3 *points, int count) {
    double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
    for (int i = 0; i < count; i++) {
        double x[2] = {place_x(p, e, points[i]) - p->left, place_y(p, e, points[i])};
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
    return high[0] < 0 || high[1] < 0 || low[0] > PANEL || low[1] > PANEL;
}

static void print_solids(FILE *out, const panel *p, const eye *e, const triangle *t, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (is_outside(p, e, t[i].corner, 3)) continue;
        fprintf(out, "<path fill=\"%s\" fill-opacity=\"%.2f\" d=\"", of_solid[t[i].solid],
                0.28 + 0.3 * t[i].shade);
        print_path(out, p, e, t[i].corner, 3);
        fputs("\"/>\n", out);
    }
}

/* Edges, those on the far side in dashes. */
static void print_edges(FILE *out, const panel *p, const eye *e, const abut_solid *solid, abut_pose pose,
                        int which) {
    abut_solid_facts facts = abut_solid_facts_of(solid);
    for (int pass = 0; pass < 2; pass++) {
        fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
                which ? "#6b5a2f" : "#2c4a68", pass ? "1" : "0.5",
                pass ? "" : " stroke-dasharray=\"3 3\" stroke-opacity=\"0.6\"");
        for (int64_t k = 0; k < facts.maximal_edges; k++) {
            int64_t v[2], f[2];
            abut_vec3 n[2], ends[2];
            abut_solid_edge(solid, k, v, f);
            bool seen = false;
            for (int i = 0; i < 2; i++) {
                abut_solid_face_loops(solid, f[i], &n[i], NULL);
                abut_vec3 zero = abut_pose_point(pose, (abut_vec3){0, 0, 0});
                seen = seen || dot(mix(abut_pose_point(pose, n[i]), -1, zero), e->toward) > 0;
                ends[i] = abut_pose_point(pose, abut_solid_vertex(solid, v[i]));
            }
            bool smooth = dot(n[0], n[1]) > 0.94; /* less than 20 degrees */
            if (seen == pass && !smooth && !is_outside(p, e, ends, 2)) print_path(out, p, e, ends, 2);
        }
        fputs("\"/>\n", out);
    }
}

/* ---- the regions */

static void print_arrow(FILE *out, const panel *p, const eye *e, abut_vec3 from, abut_vec3 n) {
    double x = place_x(p, e, from), y = place_y(p, e, from), length = 70;
    double dx = length * dot(n, e->right), dy = -length * dot(n, e->up), size = sqrt(dx * dx + dy * dy);
    if (size < 1) return;
    double ux = dx / size, uy = dy / size;
    fprintf(out,
            "<path fill=\"none\" stroke=\"#1b1b1b\" stroke-width=\"2\" d=\"M%.1f %.1fL%.1f %.1f"
            "M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
            x, y, x + dx, y + dy, x + dx - 9 * ux - 5 * uy, y + dy - 9 * uy + 5 * ux, x + dx, y + dy,
            x + dx - 9 * ux + 5 * uy, y + dy - 9 * uy - 5 * ux);
}

static void print_region(FILE *out, const panel *p, const eye *e, const abut_touch *t,
                         const abut_touch_region *r) {
    const char *color = of_dimension[r->dimension].color;
    if (r->dimension == 0) {
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", place_x(p, e, r->center),
                place_y(p, e, r->center), color);
        return;
    }
    fprintf(out,
            "<path fill=\"%s\" fill-opacity=\"0.75\" fill-rule=\"evenodd\" stroke=\"%s\" stroke-width=\"%d\" "
            "d=\"",
            r->dimension == 2 ? color : "none", color, r->dimension == 2 ? 2 : 4);
    for (int32_t l = r->first_loop; l < r->first_loop + r->loops; l++)
        print_path(out, p, e, t->points + t->loop_start[l], t->loop_start[l + 1] - t->loop_start[l]);
    fputs("\"/>\n", out);
}

static void print_panel(FILE *out, const panel *p, const eye *e, const abut_solid *const solid[2],
                        const abut_touch *t, const triangle *triangles, int64_t count) {
    fprintf(out, "<g clip-path=\"url(#p%d)\">\n", p->left > 0);
    print_solids(out, p, e, triangles, count);
    for (int i = 0; i < 2; i++) print_edges(out, p, e, solid[i], t->pose[i], i);
    for (int64_t i = 0; i < t->region_count; i++) print_region(out, p, e, t, &t->regions[i]);
    for (int64_t i = 0; i < t->region_count; i++)
        for (int k = 0; k < t->regions[i].normal_count; k++)
            print_arrow(out, p, e, t->regions[i].center, t->regions[i].normals[k]);
    if (t->status == ABUT_PENETRATING)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"#c0392b\"/>\n",
                place_x(p, e, t->witness), place_y(p, e, t->witness));
    fputs("</g>\n", out);
}

static void print_legend(FILE *out, const abut_touch *t) {
    int count[3] = {0}, x = 10;
    for (int64_t i = 0; i < t->region_count; i++) count[t->regions[i].dimension]++;
    fprintf(out,
            "<g font-family=\"sans-serif\" font-size=\"15\" fill=\"#1b1b1b\">\n<text x=\"%d\" "
            "y=\"%d\">%s</text>\n",
            x, PANEL + 22, abut_touch_status_name(t->status));
    x += 120;
    for (int i = 0; i < 2; i++, x += 60)
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%d\" "
                "y=\"%d\">%c</text>\n",
                x, PANEL + 10, of_solid[i], x + 20, PANEL + 22, "AB"[i]);
    for (int d = 2; d >= 0; d--, x += 120)
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%d "
                "%s%s</text>\n",
                x, PANEL + 10, of_dimension[d].color, x + 20, PANEL + 22, count[d], of_dimension[d].name,
                count[d] == 1 ? "" : "s");
    fputs("</g>\n", out);
}

/* A panel around points of the eye's plane. */
static panel frame(const eye *e, const abut_vec3 *points, int64_t count, double least, double left) {
    double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
    for (int64_t i = 0; i < count; i++) {
        double x[2] = {dot(points[i], e->right), dot(points[i], e->up)};
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
    double size = fmax(least, fmax(high[0] - low[0], high[1] - low[1]));
    return (panel){(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 0.9 * PANEL / size, left};
}

static void print_picture(FILE *out, const eye *e, const abut_solid *const solid[2], const abut_touch *t,
                          const triangle *triangles, int64_t count) {
    panel whole = frame(e, count ? triangles[0].corner : &t->witness, 1, 0, 0);
    abut_vec3 *all = malloc((size_t)(3 * count + 1) * sizeof *all);
    for (int64_t i = 0; all && i < 3 * count; i++) all[i] = triangles[i / 3].corner[i % 3];
    if (all) whole = frame(e, all, 3 * count, 0, 0);
    free(all);
    double extent = 0.9 * PANEL / whole.scale;
    bool closer = t->region_count || t->status == ABUT_PENETRATING;
    panel near = t->region_count ? frame(e, t->points, t->point_count, 0, PANEL + GAP)
                                 : frame(e, &t->witness, 1, extent / 8, PANEL + GAP);
    near.scale = fmin(0.45 * near.scale, 30 * whole.scale);
    if (t->status == ABUT_PENETRATING) near.scale = 8 * whole.scale;
    int width = closer ? 2 * PANEL + GAP : PANEL;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n<rect width=\"%d\" height=\"%d\" "
        "fill=\"#ffffff\"/>\n",
        width, PANEL + LEGEND, width, PANEL + LEGEND);
    for (int i = 0; i < 2; i++)
        fprintf(out, "<clipPath id=\"p%d\"><rect x=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", i,
                i * (PANEL + GAP), PANEL, PANEL);
    print_panel(out, &whole, e, solid, t, triangles, count);
    if (closer) {
        fprintf(out, "<rect x=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#c9d3dc\"/>\n",
                PANEL + GAP, PANEL, PANEL);
        print_panel(out, &near, e, solid, t, triangles, count);
    }
    print_legend(out, t);
    fputs("</svg>\n", out);
}

int cli_touch_picture(const abut_solid *const solid[2], const abut_touch *touch, const char *path) {
    triangle *triangles = NULL;
    int64_t count = 0;
    abut_error error = {0};
    eye e = make_eye(touch);
    if (gather(solid, touch->pose, &e, &triangles, &count, &error) != ABUT_OK) return cli_error(&error);
    if (!triangles) return cli_complain("%s: not enough memory for the picture", path);
    qsort(triangles, (size_t)count, sizeof *triangles, by_depth);
    FILE *out = fopen(path, "w");
    int status = out ? EXIT_DONE : cli_complain("%s: cannot be written: %s", path, strerror(errno));
    if (out) {
        print_picture(out, &e, solid, touch, triangles, count);
        if (fclose(out) != 0) status = cli_complain("%s: was not written whole; is the disk full?", path);
    }
    free(triangles);
    return status;
}

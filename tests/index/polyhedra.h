/* Random polyhedra from bytes, and what must hold for the index of any of them; for the fuzzer and for a
 * seeded test.
 *
 *   kind 0  union of boxes on a grid: many coplanar faces, concave faces, holes
 *   kind 1  spikes: a sphere whose vertices are pulled out and in, thin and sharp; star-shaped, so never
 * crossing itself kind 2  hull of points on a coarse grid: coplanar and collinear ones on purpose
 */
#ifndef TESTS_INDEX_POLYHEDRA_H
#define TESTS_INDEX_POLYHEDRA_H

#include "index/build.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size, at;
} bytes;

static inline int next_byte(bytes *b) { return b->at < b->size ? b->data[b->at++] : 0; }

enum { GRID = 4, MOST_POINTS = 512, MOST_CORNERS = 8192 };

typedef struct soup {
    vec3 points[MOST_POINTS];
    int corners[MOST_CORNERS];
    int64_t face_start[MOST_CORNERS];
    abut_mesh mesh;
} soup;

static inline void add_polygon(soup *s, const int *corners, int count) {
    for (int i = 0; i < count; i++) s->corners[s->mesh.corner_count++] = corners[i];
    s->face_start[++s->mesh.face_count] = s->mesh.corner_count;
}

/* Cells of the grid are filled by the bits; each side between full and empty is a square. */
static inline void make_boxes(bytes *b, soup *s) {
    bool full[GRID + 2][GRID + 2][GRID + 2] = {{{false}}};
    double stretch[3] = {1 + next_byte(b) / 64.0, 1 + next_byte(b) / 64.0, 1 + next_byte(b) / 64.0};
    for (int i = 0; i < GRID * GRID * GRID; i += 8) {
        int bits = next_byte(b) | (next_byte(b) & next_byte(b)); /* rather full than empty */
        for (int k = 0; k < 8; k++)
            full[1 + (i + k) % GRID][1 + (i + k) / GRID % GRID][1 + (i + k) / GRID / GRID] = bits >> k & 1;
    }
    int n = GRID + 1;
    for (int i = 0; i < n * n * n; i++)
        s->points[s->mesh.point_count++] =
            (vec3){stretch[0] * (i % n), stretch[1] * (i / n % n), stretch[2] * (i / n / n)};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < (GRID + 1) * (GRID + 1) * (GRID + 1); i++) {
            int c[3] = {i % n, i / n % n, i / n / n}, u = (axis + 1) % 3, v = (axis + 2) % 3;
            if (c[u] == GRID || c[v] == GRID) continue;
            int low[3] = {c[0] + 1, c[1] + 1, c[2] + 1}, high[3] = {c[0] + 1, c[1] + 1, c[2] + 1};
            low[axis]--;
            bool below = full[low[0]][low[1]][low[2]], above = full[high[0]][high[1]][high[2]];
            if (below == above) continue;
            int step[3] = {1, n, n * n}, square[4] = {i, i + step[u], i + step[u] + step[v], i + step[v]};
            if (above) {
                int swap = square[1];
                square[1] = square[3], square[3] = swap;
            }
            add_polygon(s, square, 4);
        }
}

static inline void make_spikes(bytes *b, soup *s) {
    int slices = 3 + next_byte(b) % 8, stacks = 3 + next_byte(b) % 6;
    const double pi = 3.14159265358979323846;
    s->points[s->mesh.point_count++] = (vec3){0, 0, 1 + next_byte(b) / 16.0};
    for (int i = 1; i < stacks; i++)
        for (int j = 0; j < slices; j++) {
            int pull = next_byte(b);
            double r = pull > 200 ? 1 + (pull - 200) / 8.0 : 0.4 + pull / 300.0, t = pi * i / stacks,
                   a = 2 * pi * j / slices;
            s->points[s->mesh.point_count++] = (vec3){r * sin(t) * cos(a), r * sin(t) * sin(a), r * cos(t)};
        }
    s->points[s->mesh.point_count++] = (vec3){0, 0, -1 - next_byte(b) / 16.0};
    int south = (int)s->mesh.point_count - 1;
    for (int j = 0; j < slices; j++) {
        int k = (j + 1) % slices, last = 1 + (stacks - 2) * slices;
        add_polygon(s, (int[]){0, 1 + j, 1 + k}, 3);
        add_polygon(s, (int[]){south, last + k, last + j}, 3);
        for (int i = 0; i + 2 < stacks; i++) {
            int p = 1 + i * slices, q = p + slices;
            add_polygon(s, (int[]){p + j, q + j, q + k}, 3);
            add_polygon(s, (int[]){p + j, q + k, p + k}, 3);
        }
    }
}

static inline abut_solid *make_hull(bytes *b) {
    vec3 points[64];
    int count = 4 + next_byte(b) % 60, fine = 3 + next_byte(b) % 13;
    for (int i = 0; i < count; i++)
        points[i] = (vec3){next_byte(b) % fine, next_byte(b) % fine, next_byte(b) % fine};
    abut_solid *solid = NULL;
    return abut_solid_hull(NULL, points, count, &solid, NULL) == ABUT_OK ? solid : NULL;
}

/* NULL when the bytes describe no solid. */
static inline abut_solid *polyhedron_from(const uint8_t *data, size_t size) {
    bytes b = {data, size, 0};
    int kind = next_byte(&b) % 3;
    if (kind == 2) return make_hull(&b);
    soup *s = calloc(1, sizeof *s);
    s->mesh = (abut_mesh){.points = s->points, .corners = s->corners, .face_start = s->face_start};
    if (kind == 0)
        make_boxes(&b, s);
    else
        make_spikes(&b, s);
    abut_solid *solid = NULL;
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    abut_status status =
        s->mesh.face_count ? abut_solid_build(NULL, &s->mesh, &options, &solid, NULL) : ABUT_INVALID;
    free(s);
    return status == ABUT_OK ? solid : NULL;
}

/* What must hold for the index of any solid.  NULL, or what does not. */
static inline const char *wrong_with_index(const abut_solid *s, abut_index_method method, uint64_t seed) {
    static char message[800];
    abut_index_options options = abut_default_index_options();
    options.method = method;
    abut_index *index = NULL;
    abut_error error = {0};
    abut_status status = abut_index_build(NULL, s, &options, &index, &error);
    if (status != ABUT_OK) return snprintf(message, sizeof message, "build: %s", error.message), message;
    const char *wrong = NULL;
    if (index_validate(index, &error) != ABUT_OK)
        snprintf(message, sizeof message, "%s", error.message), wrong = message;
    for (int32_t v = 0; v < s->vertex_count && !wrong; v++) {
        abut_place p = index_classify_point(index, s, solid_position(s, v), s->epsilon);
        if (p.kind != ABUT_ON_VERTEX || p.id != v) wrong = "a vertex is not found";
    }
    for (int32_t e = 0; e < s->edge_count && !wrong; e++) {
        const int32_t *v = solid_edges(s)[e].vertex;
        abut_place p = index_classify_point(
            index, s, vec3_lerp(solid_position(s, v[0]), solid_position(s, v[1]), 0.5), s->epsilon);
        if (p.kind != ABUT_ON_EDGE || p.id != e) wrong = "an edge is not found";
    }
    for (int i = 0; i < 100 && !wrong; i++) {
        vec3 x[2];
        for (int k = 0; k < 2; k++)
            x[k] = (vec3){random_range(&seed, index->bounds.lower.x, index->bounds.upper.x),
                          random_range(&seed, index->bounds.lower.y, index->bounds.upper.y),
                          random_range(&seed, index->bounds.lower.z, index->bounds.upper.z)};
        abut_place p = index_classify_point(index, s, x[0], s->epsilon);
        if (p.kind <= ABUT_INSIDE && (p.kind == ABUT_INSIDE) != (solid_angle_side(s, x[0]) == INDEX_IN))
            wrong = "a point is on the wrong side";
        abut_run runs[64];
        int count = index_classify_segment(index, s, x[0], x[1], s->epsilon, runs, 64);
        if (count < 1) wrong = "a segment is refused";
        for (int k = 0; k < count && k < 64 && !wrong; k++) {
            vec3 middle = vec3_lerp(x[0], x[1], (runs[k].at[0] + runs[k].at[1]) / 2);
            if (runs[k].place.kind <= ABUT_INSIDE &&
                (runs[k].at[1] - runs[k].at[0]) * vec3_distance(x[0], x[1]) > 4 * s->epsilon &&
                (runs[k].place.kind == ABUT_INSIDE) != (solid_angle_side(s, middle) == INDEX_IN))
                wrong = "a segment is wrong between two crossings";
            if (k && runs[k].place.kind == runs[k - 1].place.kind && runs[k].place.id == runs[k - 1].place.id)
                wrong = "neighbours are equal";
        }
    }
    abut_cells cells;
    if (!wrong && abut_index_cells(NULL, index, s, &cells, &error) == ABUT_OK) {
        double volume = 0;
        for (int64_t c = 0; c < cells.count; c++) volume += cells.volumes[c];
        if (!(fabs(volume - s->facts.volume) <= 1e-9 * s->facts.volume)) {
            snprintf(message, sizeof message, "the cells have volume %.17g, the solid %.17g", volume,
                     s->facts.volume);
            wrong = message;
        }
        abut_cells_free(NULL, &cells);
    }
    abut_index_free(NULL, index);
    return wrong;
}

#endif

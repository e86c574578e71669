/* Closed triangle meshes with half-edges, and Loop's subdivision of them (Loop 1987; Kry 2000, figure 5.1).
 *
 *   half-edge h = 3f + i runs from corner i of triangle f to the next corner; twin[h] runs back in the
 *   neighbouring triangle.  Around a vertex, twin[previous[h]] follows h counter-clockwise. */
#include "surface/surface.h"

void loop_mesh_free(loop_mesh *m) {
    size_t halves = 3 * (size_t)m->triangle_count, points = (size_t)m->point_count;
    mem_free(m->context, m->points, points, sizeof *m->points);
    mem_free(m->context, m->outgoing, points, sizeof *m->outgoing);
    mem_free(m->context, m->valence, points, sizeof *m->valence);
    mem_free(m->context, m->corners, halves, sizeof *m->corners);
    mem_free(m->context, m->twin, halves, sizeof *m->twin);
    mem_free(m->context, m->faces, halves / 3, sizeof *m->faces);
    *m = (loop_mesh){0};
}

static bool allocate(loop_mesh *m) {
    size_t halves = 3 * (size_t)m->triangle_count, points = (size_t)m->point_count;
    m->points = mem_calloc(m->context, points, sizeof *m->points);
    m->outgoing = mem_calloc(m->context, points, sizeof *m->outgoing);
    m->valence = mem_calloc(m->context, points, sizeof *m->valence);
    m->corners = mem_calloc(m->context, halves, sizeof *m->corners);
    m->twin = mem_calloc(m->context, halves, sizeof *m->twin);
    m->faces = mem_calloc(m->context, halves / 3, sizeof *m->faces);
    return m->points && m->outgoing && m->valence && m->corners && m->twin && m->faces;
}

static int line_of(const abut_mesh *cage, int64_t face) {
    return cage->face_lines ? cage->face_lines[face] : 0;
}

/* Joins half-edges into pairs; each directed edge may occur once. */
static abut_status pair_halves(loop_mesh *m, const abut_mesh *cage, abut_error *error) {
    map64 map = {0};
    abut_status status = ABUT_OK;
    int64_t halves = 3 * m->triangle_count;
    if (!map64_reserve(m->context, &map, halves)) status = fail_memory(error);
    for (int32_t h = 0; h < halves && status == ABUT_OK; h++) {
        uint64_t a = (uint32_t)m->corners[h], b = (uint32_t)m->corners[half_edge_next(h)];
        int32_t *slot = map64_put(m->context, &map, a << 32 | b, -1);
        if (!slot)
            status = fail_memory(error);
        else if (*slot >= 0)
            status = fail_at(error, ABUT_INVALID, cage->file, line_of(cage, m->faces[h / 3]),
                             "faces %d and %d both run from vertex %d to vertex %d; an edge of a Loop cage "
                             "has two faces that run along it in opposite directions: flip or remove one",
                             m->faces[*slot / 3], m->faces[h / 3], (int)a, (int)b);
        else
            *slot = h;
    }
    for (int32_t h = 0; h < halves && status == ABUT_OK; h++) {
        uint64_t a = (uint32_t)m->corners[h], b = (uint32_t)m->corners[half_edge_next(h)];
        int32_t *slot = map64_get(&map, b << 32 | a);
        if (!slot)
            status =
                fail_at(error, ABUT_UNSUPPORTED, cage->file, line_of(cage, m->faces[h / 3]),
                        "face %d has a boundary edge from vertex %d to vertex %d; boundaries and creases "
                        "of Loop surfaces are not supported: close the cage",
                        m->faces[h / 3], (int)a, (int)b);
        else
            m->twin[h] = *slot;
    }
    map64_free(m->context, &map);
    return status;
}

/* Valences; every corner of a vertex must belong to one fan. */
static abut_status count_valences(loop_mesh *m, const abut_mesh *cage, abut_error *error) {
    int32_t halves = (int32_t)(3 * m->triangle_count);
    for (int64_t v = 0; v < m->point_count; v++) m->outgoing[v] = -1, m->valence[v] = 0;
    for (int32_t h = 0; h < halves; h++) m->outgoing[m->corners[h]] = h, m->valence[m->corners[h]]++;
    for (int64_t v = 0; v < m->point_count; v++) {
        if (m->outgoing[v] < 0) continue;
        int fan = loop_mesh_ring(m, m->outgoing[v], NULL, 0);
        if (fan != m->valence[v])
            return fail_at(error, ABUT_INVALID, cage ? cage->file : "",
                           cage && cage->point_lines ? cage->point_lines[v] : 0,
                           "the faces at vertex %lld form more than one fan; split the vertex", (long long)v);
        if (fan < 3)
            return fail_at(error, ABUT_INVALID, cage ? cage->file : "",
                           cage && cage->point_lines ? cage->point_lines[v] : 0,
                           "vertex %lld has valence %d; a vertex of a Loop cage has at least 3 edges",
                           (long long)v, fan);
    }
    return ABUT_OK;
}

/* Fans of triangles from the first corner of each polygon. */
static abut_status take_triangles(loop_mesh *m, const abut_mesh *cage, abut_error *error) {
    int32_t t = 0;
    for (int64_t f = 0; f < cage->face_count; f++) {
        const int *c = cage->corners + cage->face_start[f];
        int n = (int)(cage->face_start[f + 1] - cage->face_start[f]);
        for (int i = 1; i + 1 < n; i++, t++) {
            int tri[3] = {c[0], c[i], c[i + 1]};
            if (tri[0] == tri[1] || tri[1] == tri[2] || tri[2] == tri[0])
                return fail_at(error, ABUT_INVALID, cage->file, line_of(cage, f),
                               "face %lld uses a vertex twice; remove the repetition", (long long)f);
            for (int k = 0; k < 3; k++) {
                if (tri[k] < 0 || tri[k] >= cage->point_count)
                    return fail_at(error, ABUT_INVALID, cage->file, line_of(cage, f),
                                   "face %lld refers to vertex %d of %lld; correct the number", (long long)f,
                                   tri[k], (long long)cage->point_count);
                m->corners[3 * t + k] = tri[k];
            }
            m->faces[t] = (int32_t)f;
        }
    }
    return ABUT_OK;
}

abut_status loop_mesh_from_cage(const abut_context *context, const abut_mesh *cage, double scale,
                                loop_mesh *m, abut_error *error) {
    *m = (loop_mesh){.context = context, .point_count = cage->point_count};
    for (int64_t f = 0; f < cage->face_count; f++) {
        int64_t n = cage->face_start[f + 1] - cage->face_start[f];
        if (n < 3)
            return fail_at(error, ABUT_INVALID, cage->file, line_of(cage, f),
                           "face %lld has %lld corners; a face has at least 3", (long long)f, (long long)n);
        m->triangle_count += n - 2;
    }
    if (m->triangle_count < 4 || m->triangle_count > 1 << 22 || cage->point_count > 1 << 22)
        return fail_at(error, ABUT_INVALID, cage->file, 0,
                       "the cage has %lld triangles; a closed cage has 4 to %d", (long long)m->triangle_count,
                       1 << 22);
    abut_status status = allocate(m) ? take_triangles(m, cage, error) : fail_memory(error);
    for (int64_t v = 0; v < cage->point_count && status == ABUT_OK; v++) {
        m->points[v] = vec3_scale(cage->points[v], scale);
        if (!vec3_is_finite(m->points[v]))
            status = fail_at(error, ABUT_INVALID, cage->file, cage->point_lines ? cage->point_lines[v] : 0,
                             "vertex %lld is not finite; give numbers", (long long)v);
    }
    if (status == ABUT_OK) status = pair_halves(m, cage, error);
    if (status == ABUT_OK) status = count_valences(m, cage, error);
    if (status != ABUT_OK) loop_mesh_free(m);
    return status;
}

int loop_mesh_ring(const loop_mesh *m, int32_t h, int32_t *ring, int capacity) {
    int n = 0;
    int32_t at = h;
    do {
        if (n < capacity) ring[n] = m->corners[half_edge_next(at)];
        n++;
        at = m->twin[half_edge_previous(at)];
    } while (at != h && n < (1 << 22));
    return n;
}

/* New vertex: (1 - a) v + a mean(ring), summed from the differences to v. */
static vec3 vertex_point(const loop_mesh *m, int64_t v) {
    int32_t h = m->outgoing[v], at = h;
    vec3 sum = vec3_zero();
    do {
        sum = vec3_add(sum, vec3_sub(m->points[m->corners[half_edge_next(at)]], m->points[v]));
        at = m->twin[half_edge_previous(at)];
    } while (at != h);
    return vec3_axpy(m->points[v], loop_weight(m->valence[v]) / m->valence[v], sum);
}

/* Triangle f becomes 4f + i at corner i (its corner i is the old one) and 4f + 3 in the middle, turned by
 * half a turn: its corner i is the new point opposite corner i. */
static void split_triangle(const loop_mesh *m, const int32_t *edge_of, int64_t f, loop_mesh *fine) {
    int32_t e[3], v[3];
    for (int i = 0; i < 3; i++)
        v[i] = m->corners[3 * f + i], e[i] = (int32_t)m->point_count + edge_of[3 * f + i];
    int32_t now[4][3] = {{v[0], e[0], e[2]}, {e[0], v[1], e[1]}, {e[2], e[1], v[2]}, {e[1], e[2], e[0]}};
    memcpy(fine->corners + 12 * f, now, sizeof now);
    for (int k = 0; k < 4; k++) fine->faces[4 * f + k] = m->faces[f];
    /* half-edge i of the middle child runs from e[i+1] to e[i+2], beside corner child i + 2 */
    for (int i = 0; i < 3; i++) {
        int corner = (i + 2) % 3;
        int32_t inner = (int32_t)(12 * f + 9 + i), outer = (int32_t)(12 * f + 3 * corner + (corner + 1) % 3);
        fine->twin[inner] = outer, fine->twin[outer] = inner;
    }
    /* the halves of old half-edge i: its first half belongs to child i, its second to child i + 1 */
    for (int i = 0; i < 3; i++) {
        int32_t h = (int32_t)(3 * f + i), t = m->twin[h], g = t / 3, j = t % 3;
        fine->twin[12 * f + 3 * i + i] = 12 * g + 3 * ((j + 1) % 3) + j;
        fine->twin[12 * f + 3 * ((i + 1) % 3) + i] = 12 * g + 3 * j + j;
    }
}

abut_status loop_mesh_refine(const loop_mesh *m, loop_mesh *fine, abut_error *error) {
    int64_t halves = 3 * m->triangle_count;
    if (m->triangle_count > 1 << 24)
        return fail(error, ABUT_INVALID, "%lld triangles are too many to subdivide; use fewer levels",
                    (long long)m->triangle_count);
    *fine = (loop_mesh){.context = m->context,
                        .point_count = m->point_count + halves / 2,
                        .triangle_count = 4 * m->triangle_count};
    int32_t *edge_of = mem_alloc(m->context, (size_t)halves, sizeof *edge_of), edges = 0;
    if (!edge_of || !allocate(fine)) {
        mem_free(m->context, edge_of, (size_t)halves, sizeof *edge_of);
        loop_mesh_free(fine);
        return fail_memory(error);
    }
    for (int32_t h = 0; h < halves; h++) edge_of[h] = h < m->twin[h] ? edges++ : edge_of[m->twin[h]];
    for (int64_t v = 0; v < m->point_count; v++)
        fine->points[v] = m->outgoing[v] < 0 ? m->points[v] : vertex_point(m, v);
    for (int32_t h = 0; h < halves; h++) {
        const vec3 *p = m->points;
        vec3 ends = vec3_add(p[m->corners[h]], p[m->corners[half_edge_next(h)]]);
        vec3 tips =
            vec3_add(p[m->corners[half_edge_previous(h)]], p[m->corners[half_edge_previous(m->twin[h])]]);
        if (h < m->twin[h])
            fine->points[m->point_count + edge_of[h]] = vec3_axpy(vec3_scale(ends, 0.375), 0.125, tips);
    }
    for (int64_t f = 0; f < m->triangle_count; f++) split_triangle(m, edge_of, f, fine);
    mem_free(m->context, edge_of, (size_t)halves, sizeof *edge_of);
    abut_status status = count_valences(fine, NULL, error);
    if (status != ABUT_OK) loop_mesh_free(fine);
    return status;
}

/* The 12 points around a triangle whose corners have valence 6, by the rings of its corners. */
void loop_mesh_stencil(const loop_mesh *m, int64_t t, vec3 stencil[STENCIL_POINTS]) {
    int32_t r[3][6];
    for (int i = 0; i < 3; i++) loop_mesh_ring(m, (int32_t)(3 * t + i), r[i], 6);
    const int32_t *c = m->corners + 3 * t;
    int32_t at[STENCIL_POINTS] = {c[0],    c[1],    c[2],    r[0][3], r[0][2], r[0][4],
                                  r[0][5], r[1][3], r[1][4], r[1][5], r[2][3], r[2][4]};
    for (int i = 0; i < STENCIL_POINTS; i++) stencil[i] = m->points[at[i]];
}

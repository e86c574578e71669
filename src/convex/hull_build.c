/* Building a hull: Qhull's polygons, the hierarchy of coarser hulls, planes and mass, all into one block.
 *
 *   points ──Qhull──> polygons ──> edges, stars
 *      └──peel: P_0, P_1, ... ──> order of the vertices, descents          (Dobkin and Kirkpatrick 1985)
 *
 * Scratch lives in an arena; the only other allocations are the polygons and the block itself. */
#include "convex/hull_build.h"
#include "solid/convex_hull.h"
#include "solid/solid.h"

enum {
    FLAT_COUNT = 64,  /* up to here all vertices are tried: no hierarchy */
    TOP_COUNT = 16,   /* the coarsest level */
    PEEL_DEGREE = 10, /* vertices with more neighbours stay */
};

typedef struct builder {
    const abut_context *context;
    const vec3 *points;
    arena scratch;
    hull_polygons polygons; /* corners are point numbers at first, then vertex numbers of the final order */
    int32_t vertex_count, edge_count, top_count;
    int32_t *source; /* vertex -> point */
    hull_edge *edges;
    hull_corner *corners;
    int32_t *peeled_start, *peeled; /* in the old order: neighbours of each vertex when it was taken off */
    int32_t *level;                 /* old order: the round in which a vertex was taken off; top: rounds */
} builder;

/* Numbers the points that are corners, ascending; *count of them, source[] filled; corners are renumbered. */
static bool number_vertices(arena *a, hull_polygons *p, int64_t points, int32_t **source, int32_t *count) {
    int32_t *number = arena_alloc(a, (size_t)points, sizeof *number);
    if (!number) return false;
    for (int32_t i = 0; i < p->corner_count; i++) number[p->corner[i]] = 1;
    *count = 0;
    for (int64_t i = 0; i < points; i++) *count += number[i];
    *source = arena_alloc(a, (size_t)*count, sizeof **source);
    if (!*source) return false;
    int32_t next = 0;
    for (int64_t i = 0; i < points; i++)
        if (number[i]) (*source)[next] = (int32_t)i, number[i] = next++;
    for (int32_t i = 0; i < p->corner_count; i++) p->corner[i] = number[p->corner[i]];
    return true;
}

static int32_t next_corner(const hull_polygons *p, int32_t face, int32_t i) {
    return i + 1 < p->face_start[face + 1] ? i + 1 : p->face_start[face];
}

/* Neighbours of each vertex as lists: every corner stands for one directed edge. */
static bool neighbour_lists(arena *a, const hull_polygons *p, int32_t vertices, int32_t **start,
                            int32_t **list) {
    *start = arena_alloc(a, (size_t)vertices + 2, sizeof **start);
    *list = arena_alloc(a, (size_t)p->corner_count, sizeof **list);
    if (!*start || !*list) return false;
    for (int32_t i = 0; i < p->corner_count; i++) (*start)[p->corner[i] + 2]++;
    for (int32_t v = 2; v < vertices + 2; v++) (*start)[v] += (*start)[v - 1];
    for (int32_t f = 0; f < p->face_count; f++)
        for (int32_t i = p->face_start[f]; i < p->face_start[f + 1]; i++)
            (*list)[(*start)[p->corner[i] + 1]++] = p->corner[next_corner(p, f, i)];
    return true;
}

/* ---- the hierarchy */

/* One level: the vertices that are left (old numbers) and their neighbour lists (positions in `left`). */
typedef struct level {
    int32_t *left, count, *start, *list;
} level;

static bool first_level(builder *b, level *l) {
    l->count = b->vertex_count;
    l->left = arena_alloc(&b->scratch, (size_t)l->count, sizeof *l->left);
    for (int32_t i = 0; l->left && i < l->count; i++) l->left[i] = i;
    return l->left && neighbour_lists(&b->scratch, &b->polygons, l->count, &l->start, &l->list);
}

/* Chooses an independent set of vertices of small degree, in order.  chosen[i]: 1 chosen, 2 blocked. */
static int32_t choose_independent(const level *l, char *chosen) {
    int32_t count = 0;
    for (int32_t i = 0; i < l->count; i++) {
        if (chosen[i] || l->start[i + 1] - l->start[i] > PEEL_DEGREE) continue;
        chosen[i] = 1, count++;
        for (int32_t k = l->start[i]; k < l->start[i + 1]; k++)
            if (!chosen[l->list[k]]) chosen[l->list[k]] = 2;
    }
    return count;
}

/* The hull of what is left when the chosen are off.  *found is false (and the peeling ends) when that is no
 * proper hull of all of them. */
static abut_status coarser_level(builder *b, const level *fine, const char *chosen, int32_t removed,
                                 level *out, bool *found) {
    out->count = fine->count - removed;
    out->left = arena_alloc(&b->scratch, (size_t)out->count, sizeof *out->left);
    vec3 *positions = arena_alloc(&b->scratch, (size_t)out->count, sizeof *positions);
    if (!out->left || !positions) return ABUT_NO_MEMORY;
    int32_t n = 0;
    for (int32_t i = 0; i < fine->count; i++)
        if (chosen[i] != 1) out->left[n++] = fine->left[i];
    for (int32_t i = 0; i < n; i++) positions[i] = b->points[b->source[out->left[i]]];
    hull_polygons p;
    abut_status status = convex_hull_polygons(b->context, positions, n, &p, NULL);
    *found = false;
    if (status == ABUT_NO_MEMORY) return status;
    if (status != ABUT_OK) return ABUT_OK;
    int32_t *source, count;
    bool memory = number_vertices(&b->scratch, &p, n, &source, &count);
    *found = memory && count == n;
    if (*found) memory = neighbour_lists(&b->scratch, &p, n, &out->start, &out->list);
    convex_hull_free(b->context, &p);
    return memory ? ABUT_OK : ABUT_NO_MEMORY;
}

/* Takes off independent sets until few are left; remembers for each vertex its round and its neighbours. */
static abut_status peel(builder *b) {
    b->level = arena_alloc(&b->scratch, (size_t)b->vertex_count, sizeof *b->level);
    b->peeled_start = arena_alloc(&b->scratch, (size_t)b->vertex_count, 2 * sizeof *b->peeled_start);
    b->peeled = arena_alloc(&b->scratch, (size_t)b->vertex_count, PEEL_DEGREE * sizeof *b->peeled);
    level fine;
    if (!b->level || !b->peeled_start || !b->peeled || !first_level(b, &fine)) return ABUT_NO_MEMORY;
    int32_t used = 0, rounds = 0;
    bool found = b->vertex_count > FLAT_COUNT;
    while (found && fine.count > TOP_COUNT) {
        char *chosen = arena_alloc(&b->scratch, (size_t)fine.count, 1);
        if (!chosen) return ABUT_NO_MEMORY;
        int32_t removed = choose_independent(&fine, chosen);
        level coarse;
        if (removed == 0 || fine.count - removed < 4) break;
        abut_status status = coarser_level(b, &fine, chosen, removed, &coarse, &found);
        if (status != ABUT_OK) return status;
        for (int32_t i = 0; found && i < fine.count; i++) {
            if (chosen[i] != 1) continue;
            int32_t v = fine.left[i];
            b->level[v] = rounds, b->peeled_start[2 * v] = used;
            for (int32_t k = fine.start[i]; k < fine.start[i + 1]; k++)
                b->peeled[used++] = fine.left[fine.list[k]];
            b->peeled_start[2 * v + 1] = used;
        }
        if (found) fine = coarse, rounds++;
    }
    for (int32_t i = 0; i < fine.count; i++) b->level[fine.left[i]] = rounds;
    b->top_count = fine.count;
    return ABUT_OK;
}

/* New numbers: coarse levels first, in the old order inside a level.  Everything is renumbered. */
static bool reorder(builder *b) {
    int32_t n = b->vertex_count, rounds = 0;
    for (int32_t v = 0; v < n; v++) rounds = b->level[v] > rounds ? b->level[v] : rounds;
    int32_t *fresh = arena_alloc(&b->scratch, (size_t)n, sizeof *fresh);
    int32_t *source = arena_alloc(&b->scratch, (size_t)n, sizeof *source);
    int32_t *start = arena_alloc(&b->scratch, (size_t)n, 2 * sizeof *start);
    if (!fresh || !source || !start) return false;
    int32_t next = 0;
    for (int32_t round = rounds; round >= 0; round--)
        for (int32_t v = 0; v < n; v++)
            if (b->level[v] == round) fresh[v] = next++;
    for (int32_t v = 0; v < n; v++) {
        source[fresh[v]] = b->source[v];
        start[2 * fresh[v]] = b->peeled_start[2 * v], start[2 * fresh[v] + 1] = b->peeled_start[2 * v + 1];
        for (int32_t k = b->peeled_start[2 * v]; k < b->peeled_start[2 * v + 1]; k++)
            b->peeled[k] = fresh[b->peeled[k]];
    }
    for (int32_t i = 0; i < b->polygons.corner_count; i++)
        b->polygons.corner[i] = fresh[b->polygons.corner[i]];
    b->source = source, b->peeled_start = start;
    return true;
}

/* ---- edges */

static bool collect_edges(builder *b) {
    const hull_polygons *p = &b->polygons;
    map64 map = {0};
    b->edges = arena_alloc(&b->scratch, (size_t)p->corner_count / 2, sizeof *b->edges);
    b->corners = arena_alloc(&b->scratch, (size_t)p->corner_count, sizeof *b->corners);
    bool fine = b->edges && b->corners;
    for (int32_t f = 0; f < p->face_count && fine; f++)
        for (int32_t i = p->face_start[f]; i < p->face_start[f + 1] && fine; i++) {
            int32_t v = p->corner[i], w = p->corner[next_corner(p, f, i)];
            uint64_t low = (uint64_t)(v < w ? v : w), high = (uint64_t)(v < w ? w : v);
            int32_t *edge = map64_put(b->context, &map, low << 32 | high, -1);
            fine = edge != NULL;
            if (!fine) break;
            if (*edge < 0) {
                *edge = b->edge_count++;
                b->edges[*edge] = (hull_edge){.vertex = {v, w}, .face = {f, -1}};
            } else {
                b->edges[*edge].face[1] = f;
            }
            b->corners[i] = (hull_corner){v, *edge};
        }
    map64_free(b->context, &map);
    return fine;
}

/* ---- the block */

static uint32_t reserve(uint64_t *bytes, int64_t count, size_t size) {
    uint64_t at = *bytes;
    *bytes += ((uint64_t)count * size + 15) / 16 * 16;
    return (uint32_t)at;
}

static abut_hull *allocate_block(const builder *b) {
    abut_hull h = {.magic = HULL_MAGIC, .version = HULL_VERSION};
    h.vertex_count = b->vertex_count, h.edge_count = b->edge_count;
    h.face_count = b->polygons.face_count, h.corner_count = b->polygons.corner_count;
    h.top_count = b->top_count, h.padded = (h.vertex_count + 3) / 4 * 4;
    for (int32_t v = b->top_count; v < b->vertex_count; v++)
        h.descent_count += b->peeled_start[2 * v + 1] - b->peeled_start[2 * v];
    h.bytes = (sizeof h + 15) / 16 * 16;
    h.x = reserve(&h.bytes, h.padded, sizeof(double));
    h.y = reserve(&h.bytes, h.padded, sizeof(double));
    h.z = reserve(&h.bytes, h.padded, sizeof(double));
    h.descent_start = reserve(&h.bytes, h.vertex_count + 1, sizeof(int32_t));
    h.descents = reserve(&h.bytes, h.descent_count, sizeof(int32_t));
    h.star_start = reserve(&h.bytes, h.vertex_count + 1, sizeof(int32_t));
    h.stars = reserve(&h.bytes, h.corner_count, sizeof(hull_star));
    h.faces = reserve(&h.bytes, h.face_count, sizeof(hull_face));
    h.corners = reserve(&h.bytes, h.corner_count, sizeof(hull_corner));
    h.edges = reserve(&h.bytes, h.edge_count, sizeof(hull_edge));
    h.sources = reserve(&h.bytes, h.vertex_count, sizeof(int32_t));
    abut_hull *block = h.bytes <= UINT32_MAX ? mem_calloc(b->context, (size_t)h.bytes, 1) : NULL;
    if (block) *block = h;
    return block;
}

/* The arrays are written through this; readers get const ones. */
#define WRITE(type, h, name) ((type *)(void *)((char *)(h) + (h)->name))

/* Volume, centre and second moments by tetrahedra from a point inside: for each, with corners 0, p, q, r and
 * v = p.(q x r)/6, integral of x = v (p+q+r)/4, of x x^T = v/20 (sum of s s^T over p, q, r and p+q+r). */
static void measure(const builder *b, abut_hull *h) {
    vec3 inside = vec3_zero(), first = vec3_zero();
    for (int32_t v = 0; v < h->vertex_count; v++)
        inside = vec3_axpy(inside, 1.0 / h->vertex_count,
                           vec3_sub(b->points[b->source[v]], b->points[b->source[0]]));
    inside = vec3_add(inside, b->points[b->source[0]]);
    mat3 second = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double volume = 0;
    for (int32_t f = 0; f < h->face_count; f++) {
        int32_t start = b->polygons.face_start[f], end = b->polygons.face_start[f + 1];
        vec3 p = vec3_sub(b->points[b->source[b->polygons.corner[start]]], inside);
        for (int32_t i = start + 1; i + 1 < end; i++) {
            vec3 q = vec3_sub(b->points[b->source[b->polygons.corner[i]]], inside);
            vec3 r = vec3_sub(b->points[b->source[b->polygons.corner[i + 1]]], inside);
            vec3 sum = vec3_add(p, vec3_add(q, r));
            double v = vec3_triple(p, q, r) / 6;
            mat3 m = mat3_add(mat3_add(mat3_outer(p, p), mat3_outer(q, q)),
                              mat3_add(mat3_outer(r, r), mat3_outer(sum, sum)));
            second = mat3_add(second, mat3_scale(m, v / 20));
            first = vec3_axpy(first, v / 4, sum);
            volume += v;
        }
    }
    vec3 c = vec3_scale(first, 1 / volume);
    second = mat3_sub(second, mat3_scale(mat3_outer(c, c), volume));
    double trace = second.cx.x + second.cy.y + second.cz.z;
    double inertia[6] = {trace - second.cx.x, trace - second.cy.y, trace - second.cz.z,
                         -second.cy.x,        -second.cz.x,        -second.cz.y};
    memcpy(h->unit_inertia, inertia, sizeof inertia);
    h->volume = volume, h->center = vec3_add(inside, c);
}

static void fill_vertices(const builder *b, abut_hull *h) {
    double *x = WRITE(double, h, x), *y = WRITE(double, h, y), *z = WRITE(double, h, z);
    h->bounds = box_empty();
    for (int32_t v = 0; v < h->padded; v++) {
        int32_t w = v < h->vertex_count ? v : h->vertex_count - 1;
        vec3 p = vec3_sub(b->points[b->source[w]], h->center);
        x[v] = p.x, y[v] = p.y, z[v] = p.z;
        if (v != w) continue;
        WRITE(int32_t, h, sources)[v] = b->source[v];
        h->bounds = box_add_point(h->bounds, b->points[b->source[v]]);
        h->radius = fmax(h->radius, vec3_length(p));
    }
}

/* How far any vertex rises above the plane of face f with normal n. */
static double rise(const builder *b, const abut_hull *h, int32_t f, vec3 n) {
    double d = -INFINITY, top = -INFINITY;
    for (int32_t i = b->polygons.face_start[f]; i < b->polygons.face_start[f + 1]; i++)
        d = fmax(d, vec3_dot(n, hull_vertex(h, b->polygons.corner[i])));
    for (int32_t v = 0; v < h->vertex_count; v++) top = fmax(top, vec3_dot(n, hull_vertex(h, v)));
    return top - d;
}

/* Newell's normal (the sum of the cross products of a fan, twice the area); Qhull's where the corners are too
 * nearly collinear to tell it; d as the farthest vertex. */
static void fill_faces_and_edges(const builder *b, abut_hull *h) {
    for (int32_t f = 0; f < h->face_count; f++) {
        int32_t start = b->polygons.face_start[f], end = b->polygons.face_start[f + 1];
        const int32_t *corner = b->polygons.corner;
        vec3 sum = vec3_zero(), p = hull_vertex(h, corner[start]);
        double longest = 0;
        for (int32_t i = start + 1; i < end; i++) {
            vec3 e = vec3_sub(hull_vertex(h, corner[i]), p);
            longest = fmax(longest, vec3_length2(e));
            if (i + 1 < end) sum = vec3_add(sum, vec3_cross(e, vec3_sub(hull_vertex(h, corner[i + 1]), p)));
        }
        hull_face face = {
            .n = vec3_unit(sum), .d = -INFINITY, .first_corner = start, .corner_count = end - start};
        vec3 other = b->polygons.normal[f];
        bool sliver = vec3_length(sum) < 1e-4 * longest;
        if (sliver && rise(b, h, f, other) < rise(b, h, f, face.n)) face.n = vec3_unit(other);
        for (int32_t i = start; i < end; i++)
            face.d = fmax(face.d, vec3_dot(face.n, hull_vertex(h, corner[i])));
        WRITE(hull_face, h, faces)[f] = face;
        h->area += vec3_length(sum) / 2;
        if (h->most_corners < end - start) h->most_corners = end - start;
    }
    memcpy(WRITE(hull_corner, h, corners), b->corners, (size_t)h->corner_count * sizeof *b->corners);
    memcpy(WRITE(hull_edge, h, edges), b->edges, (size_t)h->edge_count * sizeof *b->edges);
}

/* Stars: counted, summed, filled; each edge stands in the lists of its two vertices. */
static void fill_stars(abut_hull *h) {
    int32_t *start = WRITE(int32_t, h, star_start);
    hull_star *stars = WRITE(hull_star, h, stars);
    const hull_edge *edges = hull_edges(h);
    for (int32_t e = 0; e < h->edge_count; e++) start[edges[e].vertex[0]]++, start[edges[e].vertex[1]]++;
    for (int32_t v = 1; v <= h->vertex_count; v++) start[v] += start[v - 1];
    for (int32_t e = h->edge_count - 1; e >= 0; e--)
        for (int k = 1; k >= 0; k--)
            stars[--start[edges[e].vertex[k]]] = (hull_star){edges[e].vertex[1 - k], e};
}

/* Descents: a peeled vertex stands in the lists of the neighbours that it had; walked from fine to coarse and
 * filled from the end, so that each list runs from coarse to fine. */
static void fill_descents(const builder *b, abut_hull *h) {
    int32_t *start = WRITE(int32_t, h, descent_start), *descents = WRITE(int32_t, h, descents);
    for (int32_t v = h->top_count; v < h->vertex_count; v++)
        for (int32_t k = b->peeled_start[2 * v]; k < b->peeled_start[2 * v + 1]; k++) start[b->peeled[k]]++;
    for (int32_t v = 1; v <= h->vertex_count; v++) start[v] += start[v - 1];
    for (int32_t v = h->vertex_count - 1; v >= h->top_count; v--)
        for (int32_t k = b->peeled_start[2 * v]; k < b->peeled_start[2 * v + 1]; k++)
            descents[--start[b->peeled[k]]] = v;
}

/* The angle s = sqrt(4 pi / F) that a facet of A - B takes of the sphere, F = 2 face_count for two such
 * hulls; a ray cast takes the fewest steps when its first directions lean by about s^(3/4) (measured for 8 to
 * 256 vertices). */
static double choose_lean(int32_t faces) {
    double s = sqrt(6.283185307179586 / faces);
    return fmin(1, sqrt(s * sqrt(s)));
}

static abut_status assemble(builder *b, abut_hull **hull, abut_error *error) {
    abut_hull *h = allocate_block(b);
    if (!h) return fail_memory(error);
    measure(b, h);
    if (!(h->volume > 0) || !vec3_is_finite(h->center)) {
        mem_free(b->context, h, (size_t)h->bytes, 1);
        return fail(error, ABUT_INVALID,
                    "the points of a hull span no volume; give points that are not in one plane");
    }
    fill_vertices(b, h);
    fill_faces_and_edges(b, h);
    fill_stars(h);
    fill_descents(b, h);
    h->lean = choose_lean(h->face_count);
    h->hash = hull_hash(h);
#ifdef ABUT_VALIDATE
    assert(hull_validate(h, NULL) == ABUT_OK);
#endif
    *hull = h;
    return ABUT_OK;
}

static abut_status build(builder *b, int64_t points, abut_hull **hull, abut_error *error) {
    if (!number_vertices(&b->scratch, &b->polygons, points, &b->source, &b->vertex_count))
        return fail_memory(error);
    if (peel(b) != ABUT_OK || !reorder(b) || !collect_edges(b)) return fail_memory(error);
    return assemble(b, hull, error);
}

abut_status abut_hull_create(const abut_context *context, const abut_vec3 *points, int64_t count,
                             abut_hull **hull, abut_error *error) {
    *hull = NULL;
    builder b = {.context = context, .points = points};
    abut_status status = convex_hull_polygons(context, points, count, &b.polygons, error);
    if (status != ABUT_OK) return status;
    arena_init(&b.scratch, context);
    status = build(&b, count, hull, error);
    arena_free(&b.scratch);
    convex_hull_free(context, &b.polygons);
    return status;
}

abut_status abut_hull_of_solid(const abut_context *context, const abut_solid *solid, abut_hull **hull,
                               abut_error *error) {
    size_t count = (size_t)solid->vertex_count;
    vec3 *points = mem_alloc(context, count, sizeof *points);
    *hull = NULL;
    if (!points) return fail_memory(error);
    for (size_t i = 0; i < count; i++) points[i] = vec3_add(solid->origin, solid_position(solid, (int32_t)i));
    abut_status status = abut_hull_create(context, points, (int64_t)count, hull, error);
    mem_free(context, points, count, sizeof *points);
    return status;
}

abut_status abut_hull_box(const abut_context *context, double lx, double ly, double lz, abut_hull **hull,
                          abut_error *error) {
    *hull = NULL;
    if (!(lx > 0 && ly > 0 && lz > 0 && isfinite(lx + ly + lz)))
        return fail(error, ABUT_INVALID, "a box of %g x %g x %g; edge lengths must be positive", lx, ly, lz);
    vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = vec3_make(i & 1 ? lx / 2 : -lx / 2, i & 2 ? ly / 2 : -ly / 2, i & 4 ? lz / 2 : -lz / 2);
    return abut_hull_create(context, points, 8, hull, error);
}

void abut_hull_free(const abut_context *context, abut_hull *hull) {
    if (hull) mem_free(context, hull, (size_t)hull->bytes, 1);
}

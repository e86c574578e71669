/* Maximal faces: the edges inside a region dissolve (also the bridges of keyhole polygons, which have their
 * own face on both sides), and vertices in the middle of a straight edge between the same two faces vanish.
 *
 *   half-edges of the file          border of the region            coedges
 *     +───+───+                       +───+───+                      +───────+
 *     │  /│   │    dissolve           │       │     straighten       │       │
 *     │ / │   │   ─────────>          │       │    ───────────>      │       │
 *     +───+───+                       +───+───+                      +───────+
 *
 * Walking the border: after half-edge c comes next(c); while that one is dissolved, the next of its twin.
 */
#include "solid/brep.h"

typedef struct border {
    topology *t;
    const plane_table *table;
    int32_t *corners;    /* border half-edges, loop after loop */
    int32_t *loop_start; /* loop_count + 1 */
    int32_t loop_count, corner_count;
    int32_t *valence;   /* border half-edges that start at a vertex; 0: it vanished */
    bool *straight;     /* of a vertex: removed from the middle of an edge */
    bool *inner;        /* of a corner: between two faces of one region */
    int32_t *loops;     /* the loops in the order of their faces, the outer one first */
    int32_t *face_loop; /* region_count + 1: where its loops begin in `loops` */
} border;

static int32_t border_next(const border *b, int32_t c) {
    int32_t n = topology_next(b->t, c);
    while (b->inner[n]) n = topology_next(b->t, b->t->twin[n]);
    return n;
}

static int32_t region_of_loop(const border *b, int32_t loop) {
    return b->table->region[b->t->face[b->corners[b->loop_start[loop]]]];
}

static vec3 corner_at(const border *b, int32_t i) { return topology_at(b->t, b->corners[i]); }

/* ---- loops */

static bool find_loops(border *b) {
    topology *t = b->t;
    int32_t count = 0;
    b->valence = scratch_clear(&t->memory, t->vertex_count, sizeof *b->valence);
    b->straight = scratch_clear(&t->memory, t->vertex_count, sizeof *b->straight);
    bool *seen = scratch_take(&t->memory, t->corner_count, sizeof *seen);
    b->inner = scratch_take(&t->memory, t->corner_count, sizeof *b->inner);
    if (!b->valence || !b->straight || !seen || !b->inner) return false;
    const int32_t *region = b->table->region;
    for (int32_t c = 0; c < t->corner_count; c++) {
        b->inner[c] = seen[c] = region[t->face[c]] == region[t->face[t->twin[c]]];
        if (!seen[c]) b->valence[t->vertex[c]]++, count++;
    }
    b->corners = scratch_take(&t->memory, count, sizeof *b->corners);
    /* a loop has at least two half-edges */
    b->loop_start = scratch_take(&t->memory, (int64_t)count / 2 + 2, sizeof *b->loop_start);
    if (!b->corners || !b->loop_start) return false;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (seen[c]) continue;
        b->loop_start[b->loop_count++] = b->corner_count;
        for (int32_t i = c; !seen[i]; i = border_next(b, i)) {
            seen[i] = true;
            b->corners[b->corner_count++] = i;
        }
    }
    b->loop_start[b->loop_count] = b->corner_count;
    scratch_drop(&t->memory, seen);
    scratch_drop(&t->memory, b->inner);
    return true;
}

/* ---- straight edges */

/* Distance of p from the segment a b, squared. */
static double segment_distance2(vec3 a, vec3 b, vec3 p) {
    vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    double length2 = vec3_length2(ab), along = vec3_dot(ap, ab);
    double t = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    return vec3_length2(vec3_axpy(ap, -t, ab));
}

typedef ARRAY(int32_t) index_array;

/* Vertices from, from+1, ..., to of a loop (indices modulo its size, counted from `first`): removes all
 * between the ends where they lie on the segment, otherwise keeps the farthest and looks at both halves. */
static bool straighten_run(border *b, int32_t first, int32_t size, int32_t from, int32_t to,
                           index_array *stack) {
    stack->count = 0;
    if (!array_push(b->t->context, stack, from) || !array_push(b->t->context, stack, to)) return false;
    while (stack->count > 0) {
        to = stack->data[--stack->count], from = stack->data[--stack->count];
        vec3 p = corner_at(b, first + from % size), q = corner_at(b, first + to % size);
        double worst = b->t->weld * b->t->weld;
        int32_t farthest = -1;
        for (int32_t i = from + 1; i < to; i++) {
            double d2 = segment_distance2(p, q, corner_at(b, first + i % size));
            if (d2 > worst) worst = d2, farthest = i;
        }
        if (farthest < 0) {
            for (int32_t i = from + 1; i < to; i++)
                b->straight[b->t->vertex[b->corners[first + i % size]]] = true;
        } else if (!array_push(b->t->context, stack, from) || !array_push(b->t->context, stack, farthest) ||
                   !array_push(b->t->context, stack, farthest) || !array_push(b->t->context, stack, to)) {
            return false;
        }
    }
    return true;
}

/* A vertex stays for sure when three or more edges meet there, or when the border turns by more than the
 * tolerance. */
static bool is_fixed(const border *b, int32_t first, int32_t size, int32_t i) {
    if (b->valence[b->t->vertex[b->corners[first + i]]] != 2) return true;
    int32_t before = b->t->vertex[b->corners[first + (i + size - 1) % size]];
    int32_t after = b->t->vertex[b->corners[first + (i + 1) % size]];
    /* in one order, so that both loops of the edge get the same answer */
    vec3 p = b->t->position[before < after ? before : after];
    vec3 q = b->t->position[before < after ? after : before];
    return segment_distance2(p, q, corner_at(b, first + i)) > b->t->weld * b->t->weld;
}

static bool lexicographically_less(vec3 a, vec3 b) {
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

/* Each run between fixed vertices is straightened from one of its two sides: that of the smaller corner.  A
 * loop without fixed vertices starts at its smallest point, which is a corner of its hull, and is cut at the
 * point farthest from there. */
static bool straighten_loop(border *b, int32_t loop, index_array *stack) {
    topology *t = b->t;
    int32_t first = b->loop_start[loop], size = b->loop_start[loop + 1] - first, start = -1, best = 0;
    bool any = false;
    for (int32_t i = 0; i < size && !any; i++) any = b->valence[t->vertex[b->corners[first + i]]] == 2;
    if (!any || size < 3) return true;
    for (int32_t i = 0; i < size && start < 0; i++)
        if (is_fixed(b, first, size, i)) start = i;
    if (start < 0) {
        for (int32_t i = 0; i < size; i++)
            if (lexicographically_less(corner_at(b, first + i), corner_at(b, first + best))) best = i;
        const int32_t *region = b->table->region;
        if (region[t->face[t->twin[b->corners[first]]]] < region[t->face[b->corners[first]]])
            return true; /* it is seen twice: decided from the other side */
        int32_t far = best;
        double far2 = -1;
        for (int32_t i = best; i < best + size; i++) {
            double d2 = vec3_length2(vec3_sub(corner_at(b, first + i % size), corner_at(b, first + best)));
            if (d2 > far2) far2 = d2, far = i;
        }
        return straighten_run(b, first, size, best, far, stack) &&
               straighten_run(b, first, size, far, best + size, stack);
    }
    for (int32_t i = start; i < start + size;) {
        int32_t j = i + 1;
        while (j < start + size && !is_fixed(b, first, size, j % size)) j++;
        /* the run is seen twice, in two loops */
        int32_t c = b->corners[first + i % size], last = b->corners[first + (j - 1) % size];
        if (j > i + 1 && c < t->twin[last] && !straighten_run(b, first, size, i, j, stack)) return false;
        i = j;
    }
    return true;
}

static bool straighten(border *b) {
    index_array stack = {0};
    bool fine = true;
    for (int32_t loop = 0; fine && loop < b->loop_count; loop++) fine = straighten_loop(b, loop, &stack);
    array_free(b->t->context, &stack);
    return fine;
}

/* ---- loops of a face */

/* Twice the signed area of a loop about the normal n. */
static double loop_area(const border *b, int32_t loop, vec3 n) {
    int32_t first = b->loop_start[loop], end = b->loop_start[loop + 1];
    vec3 base = corner_at(b, first), sum = {0, 0, 0}, before = {0, 0, 0};
    for (int32_t i = first + 1; i < end; i++) {
        vec3 here = vec3_sub(corner_at(b, i), base);
        sum = vec3_add(sum, vec3_cross(before, here));
        before = here;
    }
    return vec3_dot(sum, n);
}

/* Groups the loops by face (counting sort), and puts the one of the largest signed area first. */
static bool order_loops(border *b) {
    scratch *s = &b->t->memory;
    int32_t regions = b->table->region_count;
    b->loops = scratch_take(s, b->loop_count, sizeof *b->loops);
    b->face_loop = scratch_clear(s, (int64_t)regions + 2, sizeof *b->face_loop);
    if (!b->loops || !b->face_loop) return false;
    for (int32_t i = 0; i < b->loop_count; i++) b->face_loop[region_of_loop(b, i) + 2]++;
    for (int32_t r = 0; r < regions; r++) b->face_loop[r + 2] += b->face_loop[r + 1];
    for (int32_t i = 0; i < b->loop_count; i++) b->loops[b->face_loop[region_of_loop(b, i) + 1]++] = i;
    for (int32_t r = 0; r < regions; r++) {
        int32_t first = b->face_loop[r], end = b->face_loop[r + 1], outer = first;
        if (end - first < 2) continue;
        vec3 n = vec3_scale(b->table->planes[b->table->plane_id[r]].n, b->table->sign[r]);
        double largest = -INFINITY;
        for (int32_t i = first; i < end; i++) {
            double area = loop_area(b, b->loops[i], n);
            if (area > largest) largest = area, outer = i;
        }
        int32_t chosen = b->loops[outer];
        for (int32_t i = outer; i > first; i--) b->loops[i] = b->loops[i - 1];
        b->loops[first] = chosen;
    }
    return true;
}

/* ---- the block */

static uint64_t place(uint64_t *end, int64_t count, size_t size) {
    uint64_t at = *end;
    *end = (at + (uint64_t)count * size + 15) / 16 * 16;
    return at;
}

static abut_solid *make_block(border *b, int32_t shell_count) {
    topology *t = b->t;
    abut_solid h = {.magic = SOLID_MAGIC, .version = SOLID_VERSION};
    for (int32_t v = 0; v < t->vertex_count; v++) h.vertex_count += b->valence[v] > 0 && !b->straight[v];
    for (int32_t i = 0; i < b->corner_count; i++) h.coedge_count += !b->straight[t->vertex[b->corners[i]]];
    h.edge_count = h.coedge_count / 2;
    h.loop_count = b->loop_count, h.face_count = b->table->region_count;
    h.plane_count = b->table->plane_count, h.shell_count = shell_count, h.file_face_count = t->face_count;
    uint64_t end = (sizeof h + 15) / 16 * 16;
    h.vertices = place(&end, h.vertex_count, sizeof(solid_vertex));
    h.edges = place(&end, h.edge_count, sizeof(solid_edge));
    h.coedges = place(&end, h.coedge_count, sizeof(solid_coedge));
    h.loops = place(&end, h.loop_count, sizeof(solid_loop));
    h.faces = place(&end, h.face_count, sizeof(solid_face));
    h.planes = place(&end, h.plane_count, sizeof(plane));
    h.shells = place(&end, h.shell_count, sizeof(solid_shell));
    h.file_faces = place(&end, h.file_face_count, sizeof(int32_t));
    h.bytes = end;
    h.origin = t->origin, h.diagonal = t->diagonal, h.weld = t->weld;
    scratch_trim(&t->memory); /* the peak is here */
    abut_solid *s = mem_calloc(t->context, 1, end);
    mem_expect(t->context, s, end);
    if (s) *s = h;
    return s;
}

/* Vertices in the order of the file; renumber[v] is the new number. */
static void fill_vertices(const border *b, abut_solid *s, int32_t *renumber) {
    solid_vertex *vertices = brep_at(s, s->vertices);
    int32_t count = 0;
    for (int32_t v = 0; v < b->t->vertex_count; v++) {
        renumber[v] = -1;
        if (b->valence[v] == 0 || b->straight[v]) continue;
        vertices[count] = (solid_vertex){.position = b->t->position[v], .valence = b->valence[v]};
        renumber[v] = count++;
    }
}

/* Coedges lie side by side in their loop, loops in their face.  coedge_of[c] is the coedge that starts with
 * half-edge c. */
static void fill_coedges(const border *b, abut_solid *s, const int32_t *renumber, int32_t *coedge_of) {
    const topology *t = b->t;
    solid_vertex *vertices = brep_at(s, s->vertices);
    solid_coedge *coedges = brep_at(s, s->coedges);
    solid_loop *loops = brep_at(s, s->loops);
    int32_t count = 0;
    for (int32_t face = 0; face < s->face_count; face++)
        for (int32_t l = b->face_loop[face]; l < b->face_loop[face + 1]; l++) {
            int32_t first = count, source = b->loops[l];
            for (int32_t i = b->loop_start[source]; i < b->loop_start[source + 1]; i++) {
                int32_t c = b->corners[i], v = renumber[t->vertex[c]];
                coedge_of[c] = v >= 0 ? count : -1;
                if (v < 0) continue;
                vertices[v].coedge = count;
                coedges[count] = (solid_coedge){v, -1, l, face, count + 1, count - 1};
                count++;
            }
            if (count > first) coedges[first].prev = count - 1, coedges[count - 1].next = first;
            loops[l] = (solid_loop){face, first, count - first};
        }
}

/* An edge ends where the run of border half-edges reaches a vertex that stayed; the twin of its last
 * half-edge begins the other coedge. */
static void fill_edges(const border *b, abut_solid *s, const int32_t *renumber, const int32_t *coedge_of) {
    const topology *t = b->t;
    solid_edge *edges = brep_at(s, s->edges);
    solid_coedge *coedges = brep_at(s, s->coedges);
    int32_t count = 0;
    for (int32_t l = 0; l < b->loop_count; l++) {
        int32_t first = b->loop_start[b->loops[l]], size = b->loop_start[b->loops[l] + 1] - first;
        for (int32_t i = 0; i < size; i++) {
            int32_t here = coedge_of[b->corners[first + i]], last = i;
            if (here < 0 || coedges[here].edge >= 0) continue;
            while (renumber[t->vertex[b->corners[first + (last + 1) % size]]] < 0) last++;
            int32_t there = coedge_of[t->twin[b->corners[first + last % size]]];
            edges[count] = (solid_edge){.vertex = {coedges[here].vertex, coedges[there].vertex},
                                        .coedge = {here, there}};
            coedges[here].edge = coedges[there].edge = count++;
        }
    }
}

static void fill_faces(const border *b, abut_solid *s, const int32_t *component) {
    const plane_table *table = b->table;
    solid_face *faces = brep_at(s, s->faces);
    int32_t *file_faces = brep_at(s, s->file_faces);
    memcpy(brep_at(s, s->planes), table->planes, (size_t)table->plane_count * sizeof(plane));
    for (int32_t r = 0; r < s->face_count; r++) {
        plane p = table->planes[table->plane_id[r]];
        faces[r] = (solid_face){.plane = table->sign[r] < 0 ? plane_flip(p) : p,
                                .plane_id = table->plane_id[r],
                                .plane_sign = table->sign[r],
                                .first_loop = b->face_loop[r],
                                .loops = b->face_loop[r + 1] - b->face_loop[r]};
        for (int32_t l = b->face_loop[r]; l < b->face_loop[r + 1]; l++)
            faces[r].area += loop_area(b, b->loops[l], faces[r].plane.n) / 2;
    }
    for (int32_t f = 0; f < b->t->face_count; f++) {
        file_faces[f] = table->region[f];
        faces[table->region[f]].shell = component[f];
    }
}

abut_status brep_make(topology *t, const plane_table *table, const int32_t *component, int32_t shell_count,
                      bool keep_facets, abut_solid **solid, abut_error *error) {
    border b = {.t = t, .table = table};
    scratch *m = &t->memory;
    if (!find_loops(&b) || (!keep_facets && !straighten(&b)) || !order_loops(&b)) return fail_memory(error);
    int32_t *renumber = scratch_take(m, t->vertex_count, sizeof *renumber);
    int32_t *coedge_of = scratch_take(m, t->corner_count, sizeof *coedge_of);
    abut_solid *s = make_block(&b, shell_count);
    if (!renumber || !coedge_of || !s) {
        if (s) mem_free(t->context, s, 1, s->bytes);
        return fail_memory(error);
    }
    fill_vertices(&b, s, renumber);
    fill_coedges(&b, s, renumber, coedge_of);
    fill_edges(&b, s, renumber, coedge_of);
    fill_faces(&b, s, component);
    void *done[] = {renumber,  coedge_of,  b.corners, b.loop_start,
                    b.valence, b.straight, b.loops,   b.face_loop};
    for (int i = 0; i < COUNT_OF(done); i++) scratch_drop(m, done[i]);
    *solid = s;
    return ABUT_OK;
}

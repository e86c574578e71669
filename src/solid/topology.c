/* From a polygon soup to welded vertices and paired half-edges, in O(corners). */
#include "solid/topology.h"

#include "solid/weld.h"

/* ---- scratch */

/* A waiting block that is large enough and at most half larger. */
static int find_waiting(const scratch *s, size_t bytes) {
    int best = -1;
    for (int i = 0; i < s->used; i++)
        if (s->items[i].waiting && s->items[i].bytes >= bytes && s->items[i].bytes - bytes <= bytes / 2 &&
            (best < 0 || s->items[i].bytes < s->items[best].bytes))
            best = i;
    return best;
}

static void release(scratch *s, int i) {
    mem_free(s->context, s->items[i].block, 1, s->items[i].bytes);
    if (s->items[i].waiting) s->kept -= s->items[i].bytes;
    s->items[i] = s->items[--s->used];
}

void *scratch_take(scratch *s, int64_t count, size_t size) {
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes)) return NULL;
    if (bytes == 0) bytes = 1;
    int found = find_waiting(s, bytes);
    if (found >= 0) {
        s->items[found].waiting = false, s->kept -= s->items[found].bytes;
        return s->items[found].block;
    }
    for (int i = s->used - 1; i >= 0 && s->used == SCRATCH_BLOCKS; i--)
        if (s->items[i].waiting) release(s, i);
    assert(s->used < SCRATCH_BLOCKS);
    void *block = s->used < SCRATCH_BLOCKS ? mem_alloc(s->context, 1, bytes) : NULL;
    if (!block) return NULL;
    mem_expect(s->context, block, bytes);
    s->items[s->used].block = block;
    s->items[s->used].bytes = bytes;
    s->items[s->used++].waiting = false;
    return block;
}

void *scratch_clear(scratch *s, int64_t count, size_t size) {
    void *block = scratch_take(s, count, size);
    return block ? memset(block, 0, (size_t)count * size) : NULL;
}

void scratch_drop(scratch *s, void *block) {
    for (int i = 0; block && i < s->used; i++) {
        if (s->items[i].block != block) continue;
        s->items[i].waiting = true, s->kept += s->items[i].bytes;
        if (s->kept > s->keep) release(s, i);
        return;
    }
}

void scratch_trim(scratch *s) {
    for (int i = s->used - 1; i >= 0; i--)
        if (s->items[i].waiting) release(s, i);
}

void scratch_free(scratch *s) {
    while (s->used > 0) release(s, s->used - 1);
}

/* ---- sort */

/* Eight bits at a time: four passes end where they began. */
void sort_items(sort_item *items, sort_item *scratch_items, int64_t count) {
    sort_item *from = items, *to = scratch_items;
    int64_t start[4][257] = {{0}};
    for (int64_t i = 0; i < count; i++)
        for (int pass = 0; pass < 4; pass++) start[pass][(items[i].key >> 8 * pass & 255) + 1]++;
    for (int pass = 0; pass < 4; pass++) {
        for (int b = 0; b < 256; b++) start[pass][b + 1] += start[pass][b];
        for (int64_t i = 0; i < count; i++) to[start[pass][from[i].key >> 8 * pass & 255]++] = from[i];
        sort_item *swap = from;
        from = to, to = swap;
    }
}

/* ---- union-find */

int32_t union_find(int32_t *parent, int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

void union_join(int32_t *parent, int32_t i, int32_t j) {
    i = union_find(parent, i), j = union_find(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

/* ---- numbers */

/* Counts that fit 32 bits, indices in range, finite coordinates, at least three corners a face. */
static abut_status check_numbers(const abut_mesh *m, abut_error *error) {
    if (m->point_count < 0 || m->face_count < 0 || m->corner_count < 0 || m->point_count > INT32_MAX / 2 ||
        m->face_count > INT32_MAX / 2 || m->corner_count > INT32_MAX / 2)
        return fail_at(error, ABUT_INVALID, m->file, 0,
                       "the mesh has %lld corners; at most %d are supported, so split it into several solids",
                       (long long)m->corner_count, INT32_MAX / 2);
    if (m->face_count == 0)
        return fail_at(error, ABUT_INVALID, m->file, 0,
                       "the mesh has no faces; give polygons that enclose a volume");
    if (m->face_start[0] != 0 || m->face_start[m->face_count] != m->corner_count)
        return fail_at(
            error, ABUT_INVALID, m->file, 0,
            "face_start does not cover the corners; it must begin with 0 and end with corner_count");
    for (int64_t f = 0; f < m->face_count; f++) {
        int64_t size = m->face_start[f + 1] - m->face_start[f];
        if (size >= 3 && m->face_start[f + 1] <= m->corner_count) continue;
        return fail_at(error, ABUT_INVALID, m->file, m->face_lines ? m->face_lines[f] : 0,
                       "face %lld has %lld corners; a face needs at least 3", (long long)f, (long long)size);
    }
    for (int64_t c = 0; c < m->corner_count; c++) {
        if (m->corners[c] >= 0 && m->corners[c] < m->point_count) continue;
        return fail_at(error, ABUT_INVALID, m->file, 0,
                       "corner %lld is vertex %d, but the mesh has %lld vertices; correct the index",
                       (long long)c, m->corners[c], (long long)m->point_count);
    }
    for (int64_t i = 0; i < m->point_count; i++) {
        if (vec3_is_finite(m->points[i])) continue;
        return fail_at(error, ABUT_INVALID, m->file, m->point_lines ? m->point_lines[i] : 0,
                       "vertex %lld is not finite; replace the coordinate by a number", (long long)i);
    }
    return ABUT_OK;
}

/* The origin on one axis: 0, unless the interval lies farther from 0 than the diagonal; then its middle,
 * rounded.  Every x of the interval has middle/2 <= x <= 2 middle, so x - middle is exact (Sterbenz). */
static double axis_origin(double lower, double upper, double diagonal) {
    double nearest = lower > 0 ? lower : upper < 0 ? -upper : 0;
    return nearest > diagonal ? lower + (upper - lower) / 2 : 0;
}

static abut_status find_frame(topology *t, abut_error *error) {
    const abut_mesh *m = t->mesh;
    box b = box_empty();
    for (int64_t c = 0; c < m->corner_count; c++) b = box_add_point(b, m->points[m->corners[c]]);
    double size = fmax(vec3_max_abs(b.lower), vec3_max_abs(b.upper));
    if (size > 1e60)
        return fail_at(error, ABUT_INVALID, m->file, 0,
                       "coordinates reach %.3g; scale the mesh to metres (at most 1e60)", size);
    t->diagonal = box_diagonal(b);
    if (t->diagonal < 1e-60 && size > 0)
        return fail_at(error, ABUT_INVALID, m->file, 0,
                       "the mesh is %.3g across; scale it to metres (at least 1e-60)", t->diagonal);
    t->origin = vec3_make(axis_origin(b.lower.x, b.upper.x, t->diagonal),
                          axis_origin(b.lower.y, b.upper.y, t->diagonal),
                          axis_origin(b.lower.z, b.upper.z, t->diagonal));
    return ABUT_OK;
}

/* ---- vertices */

static bool make_vertices(topology *t, double weld) {
    const abut_mesh *m = t->mesh;
    int32_t *same = scratch_take(&t->memory, m->point_count, sizeof *same);
    if (!same) return false;
    t->point_vertex = same;
    memset(same, -1, (size_t)m->point_count * sizeof *same);
    for (int64_t c = 0; c < m->corner_count; c++) same[m->corners[c]] = m->corners[c];
    /* below 1e-15 of the diagonal a tolerance is rounding */
    double tolerance = weld >= 1e-15 ? weld * t->diagonal : 0;
    if (weld >= 0 && !weld_points(&t->memory, m->points, m->point_count, t->origin, t->diagonal, tolerance,
                                  same, &t->exact_duplicates, &t->near_duplicates))
        return false;
    int32_t count = 0;
    for (int64_t i = 0; i < m->point_count; i++) count += same[i] == i;
    t->position = scratch_take(&t->memory, count, sizeof *t->position);
    t->point = scratch_take(&t->memory, count, sizeof *t->point);
    if (!t->position || !t->point) return false;
    for (int64_t i = 0; i < m->point_count; i++) {
        if (same[i] < 0) continue;
        if (same[i] < i) { /* its representative stands before it and has its number already */
            same[i] = same[same[i]];
            continue;
        }
        t->position[t->vertex_count] = vec3_sub(m->points[i], t->origin);
        t->point[t->vertex_count] = (int32_t)i;
        same[i] = t->vertex_count++;
    }
    return true;
}

/* ---- half-edges */

static int compare_upper(const void *user, const void *a, const void *b) {
    const topology *t = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    int32_t vi = t->vertex[i], wi = t->vertex[topology_next(t, i)], ui = vi > wi ? vi : wi;
    int32_t vj = t->vertex[j], wj = t->vertex[topology_next(t, j)], uj = vj > wj ? vj : wj;
    return ui != uj ? (ui < uj ? -1 : 1) : i < j ? -1 : i > j;
}

/* The half-edges group[0..count) between one pair of vertices. */
static bool pair_group(topology *t, const int32_t *group, int32_t count) {
    t->edge_count++;
    int32_t a = group[0], b = group[count > 1];
    if (count == 2 && t->vertex[a] != t->vertex[b]) {
        t->twin[a] = b, t->twin[b] = a;
        return true;
    }
    if (!t->ring) t->ring = scratch_take(&t->memory, t->corner_count, sizeof *t->ring);
    if (!t->ring) return false;
    for (int32_t i = 0; i < count; i++) t->ring[group[i]] = group[(i + 1) % count];
    int code = count == 1 ? TWIN_OPEN : count == 2 ? TWIN_FLIPPED : TWIN_MANY;
    for (int32_t i = 0; i < count; i++) t->twin[group[i]] = code;
    t->open_edges += count == 1, t->flipped_edges += count == 2, t->many_edges += count > 2;
    return true;
}

static int32_t upper_vertex(const topology *t, int32_t c) {
    int32_t v = t->vertex[c], w = t->vertex[topology_next(t, c)];
    return v > w ? v : w;
}

/* All half-edges whose smaller vertex is the same: in small buckets each looks for its partners, large ones
 * are sorted by the other vertex. */
static bool pair_bucket(topology *t, int32_t *bucket, int32_t count) {
    if (count > 24 && !sort_stable(t->context, bucket, (size_t)count, sizeof *bucket, compare_upper, t))
        return false;
    for (int32_t i = 0; i < count;) {
        int32_t upper = upper_vertex(t, bucket[i]), end = i + 1;
        for (int32_t j = i + 1; j < count; j++) {
            if (upper_vertex(t, bucket[j]) != upper) {
                if (count > 24) break;
                continue;
            }
            /* keep the corners of the group in order */
            int32_t found = bucket[j];
            for (int32_t k = j; k > end; k--) bucket[k] = bucket[k - 1];
            bucket[end++] = found;
        }
        if (!pair_group(t, bucket + i, end - i)) return false;
        i = end;
    }
    return true;
}

/* One counting sort by the smaller vertex, then bucket by bucket. */
static bool pair_half_edges(topology *t) {
    int32_t *start = scratch_clear(&t->memory, (int64_t)t->vertex_count + 2, sizeof *start);
    int32_t *order = scratch_take(&t->memory, t->corner_count, sizeof *order);
    if (!start || !order) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t c = 0; c < t->corner_count; c++) {
            int32_t v = t->vertex[c], w = t->vertex[topology_next(t, c)], lower = v < w ? v : w;
            if (v == w) {
                if (pass == 0) t->twin[c] = TWIN_LOOP, t->loop_edges++;
            } else if (pass == 0) {
                start[lower + 2]++;
            } else {
                order[start[lower + 1]++] = c;
            }
        }
        for (int32_t v = 0; pass == 0 && v < t->vertex_count; v++) start[v + 2] += start[v + 1];
    }
    bool fine = true;
    for (int32_t v = 0; fine && v < t->vertex_count; v++)
        fine = pair_bucket(t, order + start[v], start[v + 1] - start[v]);
    scratch_drop(&t->memory, start);
    scratch_drop(&t->memory, order);
    return fine;
}

static bool make_corners(topology *t) {
    int64_t n = t->mesh->corner_count;
    t->vertex = scratch_take(&t->memory, n, sizeof *t->vertex);
    t->face = scratch_take(&t->memory, n, sizeof *t->face);
    t->twin = scratch_take(&t->memory, n, sizeof *t->twin);
    if (!t->vertex || !t->face || !t->twin) return false;
    for (int32_t f = 0, c = 0; f < t->face_count; f++)
        for (; c < t->mesh->face_start[f + 1]; c++) t->face[c] = f;
    for (int64_t c = 0; c < n; c++) t->vertex[c] = t->point_vertex[t->mesh->corners[c]];
    return true;
}

abut_status topology_make(topology *t, const abut_context *context, const abut_mesh *mesh, double weld,
                          abut_error *error) {
    *t = (topology){.context = context, .mesh = mesh, .memory = {.context = context}};
    abut_status status = check_numbers(mesh, error);
    if (status) return status;
    t->corner_count = (int32_t)mesh->corner_count, t->face_count = (int32_t)mesh->face_count;
    t->memory.keep = 36 * (size_t)mesh->corner_count;
    status = find_frame(t, error);
    if (status) return status;
    t->weld = fmax(weld, 1e-15) * t->diagonal;
    if (!make_vertices(t, weld) || !make_corners(t) || !pair_half_edges(t)) {
        topology_free(t);
        return fail_memory(error);
    }
    return ABUT_OK;
}

void topology_free(topology *t) { scratch_free(&t->memory); }

/* ---- orbits, components, planes */

int32_t topology_orbits(const topology *t, int32_t *orbit) {
    int32_t count = 0;
    for (int32_t c = 0; c < t->corner_count; c++) orbit[c] = -1;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (orbit[c] >= 0) continue;
        count++;
        /* the next outgoing half-edge, counter-clockwise, is the twin of the one that arrives in this face */
        for (int32_t i = c; i >= 0 && orbit[i] < 0; i = t->twin[topology_prev(t, i)]) orbit[i] = c;
        /* an orbit cut by a bad edge goes on clockwise */
        for (int32_t i = t->twin[c]; i >= 0; i = t->twin[i]) {
            i = topology_next(t, i);
            if (orbit[i] >= 0) break;
            orbit[i] = c;
        }
    }
    return count;
}

/* Joins the corners of both ends of the edge that half-edges c and d share. */
static void join_ends(const topology *t, int32_t *sheet, int32_t c, int32_t d) {
    int32_t c_end = topology_next(t, c), d_end = topology_next(t, d);
    bool same_way = t->vertex[c] == t->vertex[d];
    union_join(sheet, c, same_way ? d : d_end);
    union_join(sheet, c_end, same_way ? d_end : d);
}

void topology_sheets(const topology *t, int32_t *sheet) {
    for (int32_t c = 0; c < t->corner_count; c++) sheet[c] = c;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (t->twin[c] > c) join_ends(t, sheet, c, t->twin[c]);
        if (t->twin[c] == TWIN_LOOP) union_join(sheet, c, topology_next(t, c));
        if (t->twin[c] == TWIN_FLIPPED || t->twin[c] == TWIN_MANY) join_ends(t, sheet, c, t->ring[c]);
    }
    for (int32_t c = 0; c < t->corner_count; c++) sheet[c] = union_find(sheet, c);
}

int32_t topology_components(const topology *t, int32_t *component) {
    for (int32_t f = 0; f < t->face_count; f++) component[f] = f;
    for (int32_t c = 0; c < t->corner_count; c++)
        if (t->twin[c] > c) union_join(component, t->face[c], t->face[t->twin[c]]);
    /* a root is the smallest face of its component, so it is numbered before the others */
    int32_t count = 0;
    for (int32_t f = 0; f < t->face_count; f++) {
        int32_t root = component[f] == f ? f : union_find(component, f);
        component[f] = root;
    }
    for (int32_t f = 0; f < t->face_count; f++) {
        if (component[f] == f)
            component[f] = -1 - count++;
        else
            component[f] = component[component[f]];
    }
    for (int32_t f = 0; f < t->face_count; f++) component[f] = -1 - component[f];
    return count;
}

/* Newell: the sum of (v_i - v_0) x (v_{i+1} - v_0) is twice the area times the normal, for any polygon. */
plane topology_plane(const topology *t, int32_t face, double *area) {
    int32_t first = topology_first(t, face), size = topology_size(t, face);
    vec3 base = topology_at(t, first), sum = {0, 0, 0}, mean = {0, 0, 0};
    vec3 before = vec3_sub(topology_at(t, first + 1), base);
    mean = before;
    for (int32_t i = 2; i < size; i++) {
        vec3 here = vec3_sub(topology_at(t, first + i), base);
        sum = vec3_add(sum, vec3_cross(before, here));
        mean = vec3_add(mean, here);
        before = here;
    }
    double length = vec3_length(sum);
    vec3 n = length > 0 ? vec3_scale(sum, 1 / length) : sum;
    *area = length / 2;
    return (plane){n, vec3_dot(n, base) + vec3_dot(n, mean) / size};
}

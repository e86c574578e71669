/* Planes first: Newell normals, neighbours that lie in one plane, then one table for the whole solid.
 *
 *   faces ──(coplanar neighbours, union-find)──> clusters ──(hash of n, d)──> planes ──> regions
 *
 * All decisions are about distances of vertices to planes, against the weld tolerance, never about angles: a
 * small facet has a poor normal but its vertices are as good as any.  Larger clusters choose the plane, so
 * they come first.
 */
#include "solid/planes.h"

#include <math.h>

enum { CANDIDATES = 32 /* entries of one cell that are looked at: planes beyond that are not shared */ };

typedef struct clusters {
    int32_t count;
    int32_t *of;    /* cluster of a face */
    int32_t *start; /* count + 1: where its faces begin in `faces` */
    int32_t *faces;
    plane *fit;
    double *area;
} clusters;

double face_width(const topology *t, int32_t face, double area) {
    int32_t first = topology_first(t, face), size = topology_size(t, face);
    double perimeter = 0;
    vec3 before = topology_at(t, first + size - 1);
    for (int32_t i = 0; i < size; i++) {
        vec3 here = topology_at(t, first + i);
        perimeter += vec3_distance(before, here);
        before = here;
    }
    return perimeter > 0 ? 4 * area / perimeter : 0;
}

double face_flatness(const topology *t, int32_t face, plane p) {
    double worst = 0;
    for (int32_t c = topology_first(t, face), end = c + topology_size(t, face); c < end; c++)
        worst = fmax(worst, fabs(plane_distance(p, topology_at(t, c))));
    return worst;
}

/* ---- planes of the faces */

static abut_status face_planes(const topology *t, plane *planes, double *areas, abut_error *error) {
    const abut_mesh *m = t->mesh;
    for (int32_t f = 0; f < t->face_count; f++) {
        planes[f] = topology_plane(t, f, &areas[f]);
        int line = m->face_lines ? m->face_lines[f] : 0;
        if (face_width(t, f, areas[f]) <= t->weld)
            return fail_at(error, ABUT_INVALID, m->file, line,
                           "face %d has no area (its width is under the weld tolerance %.3g); abut check "
                           "--fix removes it",
                           f, t->weld);
        if (topology_size(t, f) == 3) continue;
        double flatness = face_flatness(t, f, planes[f]);
        if (flatness > t->weld)
            return fail_at(error, ABUT_INVALID, m->file, line,
                           "face %d is not planar: a corner lies %.3g off its plane, more than the weld "
                           "tolerance %.3g; abut check --fix splits it",
                           f, flatness, t->weld);
    }
    return ABUT_OK;
}

/* ---- clusters of neighbours */

/* All corners of the face lie on the plane within the weld tolerance, and it looks the same way. */
static bool lies_on(const topology *t, int32_t face, plane own, plane p) {
    if (vec3_dot(own.n, p.n) <= 0) return false;
    for (int32_t c = topology_first(t, face), end = c + topology_size(t, face); c < end; c++)
        if (fabs(plane_distance(p, topology_at(t, c))) > t->weld) return false;
    return true;
}

/* Joins each two neighbours of which the smaller lies on the plane of the larger. */
static void join_neighbours(const topology *t, const plane *planes, const double *areas, int32_t *parent) {
    for (int32_t f = 0; f < t->face_count; f++) parent[f] = f;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (t->twin[c] < c) continue;
        int32_t f = t->face[c], g = t->face[t->twin[c]];
        if (f == g) continue;
        int32_t small = areas[f] < areas[g] ? f : g, large = small == f ? g : f;
        if (lies_on(t, small, planes[small], planes[large])) union_join(parent, f, g);
    }
}

/* Numbers the clusters by their first face and lists the faces of each. */
static bool list_clusters(topology *t, const int32_t *parent, clusters *k) {
    int32_t n = t->face_count;
    scratch_drop(&t->memory, k->start);
    k->count = 0;
    for (int32_t f = 0; f < n; f++)
        if (parent[f] == f) k->of[f] = k->count++;
    for (int32_t f = 0; f < n; f++)
        if (parent[f] != f) k->of[f] = k->of[parent[f]];
    k->start = scratch_clear(&t->memory, (int64_t)k->count + 2, sizeof *k->start);
    if (!k->start) return false;
    for (int32_t f = 0; f < n; f++) k->start[k->of[f] + 2]++;
    for (int32_t i = 0; i < k->count; i++) k->start[i + 2] += k->start[i + 1];
    for (int32_t f = 0; f < n; f++) k->faces[k->start[k->of[f] + 1]++] = f;
    return true;
}

/* The plane through the corners of a cluster: n along the sum of the area vectors, d the mean. */
static plane fit_cluster(const topology *t, const clusters *k, int32_t i, const plane *planes,
                         const double *areas, double *area) {
    int32_t first = k->faces[k->start[i]];
    *area = areas[first];
    if (k->start[i + 1] - k->start[i] == 1) return planes[first];
    vec3 sum = {0, 0, 0}, base = topology_at(t, topology_first(t, first));
    *area = 0;
    for (int32_t j = k->start[i]; j < k->start[i + 1]; j++) {
        sum = vec3_axpy(sum, areas[k->faces[j]], planes[k->faces[j]].n);
        *area += areas[k->faces[j]];
    }
    vec3 n = vec3_unit(sum);
    double mean = 0;
    int64_t corners = 0;
    for (int32_t j = k->start[i]; j < k->start[i + 1]; j++) {
        int32_t c = topology_first(t, k->faces[j]), size = topology_size(t, k->faces[j]);
        for (int32_t s = 0; s < size; s++) mean += vec3_dot(n, vec3_sub(topology_at(t, c + s), base));
        corners += size;
    }
    return (plane){n, vec3_dot(n, base) + mean / (double)corners};
}

static bool cluster_is_flat(const topology *t, const clusters *k, int32_t i, plane p) {
    for (int32_t j = k->start[i]; j < k->start[i + 1]; j++)
        if (face_flatness(t, k->faces[j], p) > t->weld) return false;
    return true;
}

typedef struct area_order {
    const double *area;
} area_order;
static int larger_first(const void *user, const void *a, const void *b) {
    const area_order *o = user;
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return o->area[i] != o->area[j] ? (o->area[i] > o->area[j] ? -1 : 1) : i < j ? -1 : i > j;
}

/* A cluster that drifted away from every plane, a little from face to face, is grown again: from its largest
 * face outwards, over the faces that lie on the plane of that face; then from the largest that is left. */
static bool regrow_cluster(topology *t, clusters *k, int32_t i, const plane *planes, const double *areas,
                           int32_t *parent) {
    int32_t first = k->start[i], count = k->start[i + 1] - first, *faces = k->faces + first;
    int32_t *stack = mem_alloc(t->context, (size_t)count, sizeof *stack);
    area_order order = {areas};
    if (!stack || !sort_stable(t->context, faces, (size_t)count, sizeof *faces, larger_first, &order)) {
        mem_free(t->context, stack, (size_t)count, sizeof *stack);
        return false;
    }
    for (int32_t j = 0; j < count; j++) parent[faces[j]] = -1;
    for (int32_t j = 0; j < count; j++) {
        int32_t seed = faces[j], depth = 0;
        if (parent[seed] >= 0) continue;
        parent[seed] = seed, stack[depth++] = seed;
        while (depth > 0) {
            int32_t f = stack[--depth], c = topology_first(t, f), end = c + topology_size(t, f);
            for (; c < end; c++) {
                int32_t g = t->face[t->twin[c]];
                if (parent[g] >= 0 || k->of[g] != i || !lies_on(t, g, planes[g], planes[seed])) continue;
                parent[g] = seed, stack[depth++] = g;
            }
        }
    }
    mem_free(t->context, stack, (size_t)count, sizeof *stack);
    return true;
}

/* Roots that are not the first face of their cluster (after regrowing) are renamed to it. */
static void name_roots(int32_t *parent, int32_t n, int32_t *first) {
    for (int32_t f = 0; f < n; f++) first[f] = -1;
    for (int32_t f = 0; f < n; f++)
        if (first[parent[f]] < 0) first[parent[f]] = f;
    for (int32_t f = 0; f < n; f++) parent[f] = first[parent[f]];
}

static abut_status make_clusters(topology *t, clusters *k, abut_error *error) {
    scratch *s = &t->memory;
    int32_t n = t->face_count;
    plane *planes = scratch_take(s, n, sizeof *planes);
    double *areas = scratch_take(s, n, sizeof *areas);
    int32_t *parent = scratch_take(s, n, sizeof *parent);
    k->of = scratch_take(s, n, sizeof *k->of);
    k->faces = scratch_take(s, n, sizeof *k->faces);
    if (!planes || !areas || !parent || !k->of || !k->faces) return fail_memory(error);
    abut_status status = face_planes(t, planes, areas, error);
    if (status) return status;
    join_neighbours(t, planes, areas, parent);
    for (int32_t f = 0; f < n; f++) parent[f] = union_find(parent, f);
    if (!list_clusters(t, parent, k)) return fail_memory(error);
    bool regrown = false;
    for (int32_t i = 0; i < k->count; i++) {
        double area;
        if (k->start[i + 1] - k->start[i] == 1 ||
            cluster_is_flat(t, k, i, fit_cluster(t, k, i, planes, areas, &area)))
            continue;
        regrown = true;
        if (!regrow_cluster(t, k, i, planes, areas, parent)) return fail_memory(error);
    }
    if (regrown) {
        name_roots(parent, n, k->faces);
        if (!list_clusters(t, parent, k)) return fail_memory(error);
    }
    scratch_drop(s, parent);
    k->fit = scratch_take(s, k->count, sizeof *k->fit);
    k->area = scratch_take(s, k->count, sizeof *k->area);
    if (!k->fit || !k->area) return fail_memory(error);
    for (int32_t i = 0; i < k->count; i++) k->fit[i] = fit_cluster(t, k, i, planes, areas, &k->area[i]);
    scratch_drop(s, planes);
    scratch_drop(s, areas);
    return ABUT_OK;
}

/* ---- the table */

/* Orders a list of clusters by area, largest first, ties by place: radix sort on the upper 33 bits of the
 * area. */
static bool order_by_area(topology *t, const clusters *k, int32_t *list, int32_t count) {
    enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 3 };
    int32_t *other = scratch_take(&t->memory, count, sizeof *other), *from = list, *to = other;
    int32_t *start = scratch_take(&t->memory, BUCKETS + 1, sizeof *start);
    if (!other || !start) return false;
    for (int pass = 0; pass < PASSES; pass++) {
        int shift = 64 - (PASSES - pass) * BITS;
        memset(start, 0, (BUCKETS + 1) * sizeof *start);
        for (int place = 0; place < 2; place++) {
            for (int32_t i = 0; i < count; i++) {
                uint64_t bits;
                memcpy(&bits, &k->area[from[i]], sizeof bits);
                int32_t bucket = (int32_t)(~bits >> shift & (BUCKETS - 1));
                if (place == 0)
                    start[bucket + 1]++;
                else
                    to[start[bucket]++] = from[i];
            }
            for (int b = 0; place == 0 && b < BUCKETS; b++) start[b + 1] += start[b];
        }
        int32_t *swap = from;
        from = to, to = swap;
    }
    if (from != list) memcpy(list, from, (size_t)count * sizeof *list);
    scratch_drop(&t->memory, other);
    scratch_drop(&t->memory, start);
    return true;
}

/* Cells of (n, d / D), much larger than the differences between equal planes.  n is turned towards a fixed
 * direction first, so that antiparallel planes meet. */
typedef struct plane_hash {
    map64 cells;   /* cell -> its last entry */
    int32_t *next; /* of entry `first` + i: the entry before it in the same cell, or -1 */
    int32_t first;
} plane_hash;
#define CELL    (1.0 / 8192)
#define CLOSE   1e-5
#define TURN_TO ((vec3){0.6131, 0.5417, 0.5751})

static uint64_t plane_key(const int64_t cell[4]) {
    uint64_t key = 0;
    for (int i = 0; i < 4; i++) key = (key ^ (uint64_t)cell[i]) * 0x9e3779b97f4a7c15u + (key >> 29);
    return key;
}

static void plane_numbers(plane p, double diagonal, double numbers[4]) {
    numbers[0] = p.n.x, numbers[1] = p.n.y, numbers[2] = p.n.z, numbers[3] = p.d / diagonal;
}

/* The cells within CLOSE of a plane, which are mostly one. */
typedef struct cell_range {
    int64_t lower[4], upper[4];
} cell_range;
static cell_range cells_near(plane p, double diagonal) {
    cell_range r;
    double numbers[4];
    plane_numbers(p, diagonal, numbers);
    for (int i = 0; i < 4; i++) {
        r.lower[i] = (int64_t)floor((numbers[i] - CLOSE) * (1 / CELL));
        r.upper[i] = (int64_t)floor((numbers[i] + CLOSE) * (1 / CELL));
    }
    return r;
}
/* The next cell of the range; false after the last. */
static bool cell_advance(const cell_range *r, int64_t cell[4]) {
    for (int i = 3; i >= 0; i--) {
        if (++cell[i] <= r->upper[i]) return true;
        cell[i] = r->lower[i];
    }
    return false;
}

/* Turned towards the fixed direction; `way` is -1 where it was turned round.  Planes about at right angles to
 * that direction may be turned either way. */
static plane turn_plane(plane p, int8_t *way, bool *either) {
    double turn = vec3_dot(p.n, TURN_TO);
    *way = turn < 0 ? -1 : 1;
    *either = fabs(turn) < 4 * CLOSE;
    return turn < 0 ? plane_flip(p) : p;
}

/* The entry that the cluster lies on, or -1. */
static int32_t find_plane(const topology *t, const clusters *k, int32_t cluster, const plane_table *table,
                          const plane_hash *hash, plane p) {
    cell_range near = cells_near(p, t->diagonal);
    int64_t cell[4];
    memcpy(cell, near.lower, sizeof cell);
    int budget = CANDIDATES;
    do {
        const int32_t *head = map64_get(&hash->cells, plane_key(cell));
        for (int32_t i = head ? *head : -1; i >= 0 && budget > 0; i = hash->next[i - hash->first], budget--)
            if (vec3_dot(table->planes[i].n, p.n) > 0.9 && cluster_is_flat(t, k, cluster, table->planes[i]))
                return i;
    } while (cell_advance(&near, cell));
    return -1;
}

static bool put_plane(const abut_context *context, plane_table *table, plane_hash *hash, plane p,
                      double diagonal) {
    double numbers[4];
    int64_t cell[4];
    plane_numbers(p, diagonal, numbers);
    for (int i = 0; i < 4; i++) cell[i] = (int64_t)floor(numbers[i] * (1 / CELL));
    int32_t *head = map64_put(context, &hash->cells, plane_key(cell), -1);
    if (!head) return false;
    hash->next[table->plane_count - hash->first] = *head;
    *head = table->plane_count;
    table->planes[table->plane_count++] = p;
    return true;
}

/* Two bits a cell, hashed without keys: no plane near it, one, or more.  Cells that share their bits look
 * crowded, which costs time but is not wrong. */
typedef struct cell_counts {
    uint64_t *bits;
    uint64_t mask; /* of the cell number */
} cell_counts;
enum { CELLS_PER_WORD = 32, CELLS_PER_CLUSTER = 32 };

/* Enters the plane in all cells near it; or asks whether it is alone in them. */
static bool visit_cells(const cell_counts *counts, plane p, double diagonal, bool ask) {
    cell_range near = cells_near(p, diagonal);
    int64_t cell[4];
    memcpy(cell, near.lower, sizeof cell);
    bool alone = true;
    do {
        uint64_t slot = hash64_mix(plane_key(cell)) & counts->mask;
        uint64_t *word = &counts->bits[slot / CELLS_PER_WORD];
        int shift = (int)(slot % CELLS_PER_WORD) * 2;
        uint64_t count = *word >> shift & 3;
        alone &= count <= 1;
        if (!ask && count < 2) *word += (uint64_t)1 << shift;
    } while (cell_advance(&near, cell));
    return alone;
}

/* Most clusters of a curved surface have no other plane near theirs: each is an entry of its own, in the
 * order of the file.  The others are left for the hash: their list goes to *crowded. */
static bool fill_lonely(topology *t, const clusters *k, plane_table *table, int32_t *plane_id, int8_t *sign,
                        int32_t *crowded, int32_t *crowded_count) {
    int64_t cells = 64 * CELLS_PER_WORD;
    while (cells < CELLS_PER_CLUSTER * (int64_t)k->count) cells *= 2;
    cell_counts counts = {scratch_clear(&t->memory, cells / CELLS_PER_WORD, sizeof *counts.bits),
                          (uint64_t)cells - 1};
    if (!counts.bits) return false;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < k->count; i++) {
            bool either;
            plane p = turn_plane(k->fit[i], &sign[i], &either);
            bool alone = visit_cells(&counts, p, t->diagonal, pass == 1);
            if (either) alone &= visit_cells(&counts, plane_flip(p), t->diagonal, pass == 1);
            if (pass == 0) continue;
            plane_id[i] = alone ? table->plane_count : -1;
            if (alone)
                table->planes[table->plane_count++] = p;
            else
                crowded[(*crowded_count)++] = i;
        }
    scratch_drop(&t->memory, counts.bits);
    return true;
}

/* plane_id and sign of every cluster: the lonely ones, then the others, largest first. */
static bool fill_table(topology *t, const clusters *k, plane_table *table, int32_t *plane_id, int8_t *sign) {
    int32_t *crowded = scratch_take(&t->memory, k->count, sizeof *crowded), count = 0;
    if (!crowded || !fill_lonely(t, k, table, plane_id, sign, crowded, &count) ||
        !order_by_area(t, k, crowded, count))
        return false;
    plane_hash hash = {.next = scratch_take(&t->memory, count, sizeof *hash.next),
                       .first = table->plane_count};
    bool fine = hash.next != NULL;
    for (int32_t j = 0; fine && j < count; j++) {
        int32_t i = crowded[j];
        bool either;
        plane p = turn_plane(k->fit[i], &sign[i], &either);
        int32_t found = find_plane(t, k, i, table, &hash, p);
        if (found < 0 && either) {
            found = find_plane(t, k, i, table, &hash, plane_flip(p));
            if (found >= 0) sign[i] = (int8_t)-sign[i];
        }
        if (found < 0) {
            found = table->plane_count;
            fine = put_plane(t->context, table, &hash, p, t->diagonal);
        }
        plane_id[i] = found;
    }
    map64_free(t->context, &hash.cells);
    scratch_drop(&t->memory, hash.next);
    scratch_drop(&t->memory, crowded);
    return fine;
}

/* A plane of several clusters is fitted again through all of them; the first fit stays where the new one
 * would leave a vertex farther than the tolerance. */
static bool refit_planes(topology *t, const clusters *k, plane_table *table, const int32_t *plane_id,
                         const int8_t *sign) {
    struct sums {
        vec3 n;
        double d, area;
        int32_t clusters;
    } *sums = scratch_clear(&t->memory, table->plane_count, sizeof *sums);
    if (!sums) return false;
    for (int32_t i = 0; i < k->count; i++) {
        struct sums *s = &sums[plane_id[i]];
        double w = k->area[i] * sign[i];
        s->n = vec3_axpy(s->n, w, k->fit[i].n), s->d += w * k->fit[i].d, s->area += k->area[i];
        s->clusters++;
    }
    for (int32_t i = 0; i < table->plane_count; i++) {
        double length = vec3_length(sums[i].n);
        plane refit = {vec3_scale(sums[i].n, 1 / length), sums[i].d / length};
        sums[i].n = refit.n, sums[i].d = refit.d;
        if (sums[i].clusters == 1 || !(length > 0)) sums[i].clusters = 0;
    }
    for (int32_t i = 0; i < k->count; i++) {
        struct sums *s = &sums[plane_id[i]];
        if (s->clusters > 0 && !cluster_is_flat(t, k, i, (plane){s->n, s->d})) s->clusters = 0;
    }
    for (int32_t i = 0; i < table->plane_count; i++)
        if (sums[i].clusters > 0) table->planes[i] = (plane){sums[i].n, sums[i].d};
    scratch_drop(&t->memory, sums);
    return true;
}

/* ---- regions */

/* Neighbouring clusters on the same side of one plane are one region. */
static bool make_regions(topology *t, clusters *k, bool keep_facets, const int32_t *plane_id,
                         const int8_t *sign, plane_table *table) {
    scratch *s = &t->memory;
    int32_t n = t->face_count, *parent = scratch_take(s, n, sizeof *parent);
    if (!parent) return false;
    for (int32_t f = 0; f < n; f++) parent[f] = f;
    for (int32_t c = 0; c < t->corner_count && !keep_facets; c++) {
        if (t->twin[c] < c) continue;
        int32_t f = t->face[c], g = t->face[t->twin[c]], i = k->of[f], j = k->of[g];
        if (i == j || (plane_id[i] == plane_id[j] && sign[i] == sign[j])) union_join(parent, f, g);
    }
    table->region = scratch_take(s, n, sizeof *table->region);
    if (!table->region) return false;
    for (int32_t f = 0; f < n; f++) {
        int32_t root = union_find(parent, f);
        table->region[f] = root == f ? table->region_count++ : table->region[root];
    }
    table->plane_id = scratch_take(s, table->region_count, sizeof *table->plane_id);
    table->sign = scratch_take(s, table->region_count, sizeof *table->sign);
    if (!table->plane_id || !table->sign) return false;
    for (int32_t f = 0; f < n; f++) {
        table->plane_id[table->region[f]] = plane_id[k->of[f]];
        table->sign[table->region[f]] = sign[k->of[f]];
    }
    scratch_drop(s, parent);
    return true;
}

abut_status planes_make(topology *t, bool keep_facets, plane_table *table, abut_error *error) {
    *table = (plane_table){0};
    clusters k = {0};
    abut_status status = make_clusters(t, &k, error);
    if (status) return status;
    scratch *s = &t->memory;
    int32_t *plane_id = scratch_take(s, k.count, sizeof *plane_id);
    int8_t *sign = scratch_take(s, k.count, sizeof *sign);
    table->planes = scratch_take(s, k.count, sizeof *table->planes);
    if (!plane_id || !sign || !table->planes || !fill_table(t, &k, table, plane_id, sign) ||
        !refit_planes(t, &k, table, plane_id, sign) ||
        !make_regions(t, &k, keep_facets, plane_id, sign, table))
        return fail_memory(error);
    void *done[] = {plane_id, sign, k.of, k.start, k.faces, k.fit, k.area};
    for (int i = 0; i < COUNT_OF(done); i++) scratch_drop(s, done[i]);
    return ABUT_OK;
}

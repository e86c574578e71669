/* Planes first: Newell normals, neighbours that lie in one plane, then one table for the whole solid.
 *
 *   faces ──(coplanar neighbours, union-find)──> clusters ──(sorted by n, d)──> planes ──> regions
 *
 * All decisions are about distances of vertices to planes, against the weld tolerance, never about angles: a
 * small facet has a poor normal but its vertices are as good as any.  Larger clusters choose the plane, so
 * they come first.
 */
#include "solid/planes.h"

#include <math.h>

enum { CANDIDATES = 64 /* neighbours in the order of planes that each is compared with */ };

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

/* Not wider than the tolerance.  A triangle is at least 4 area / (3 longest side) wide: mostly that decides.
 */
bool face_is_thin(const topology *t, int32_t f, double area) {
    if (topology_size(t, f) == 3) {
        int32_t c = topology_first(t, f);
        vec3 p = topology_at(t, c), q = topology_at(t, c + 1), r = topology_at(t, c + 2);
        double u = vec3_length2(vec3_sub(q, p)), v = vec3_length2(vec3_sub(r, q)),
               w = vec3_length2(vec3_sub(p, r));
        double longest2 = u > v ? (u > w ? u : w) : v > w ? v : w;
        if (16 * area * area > 9.01 * longest2 * t->weld * t->weld) return false;
    }
    return face_width(t, f, area) <= t->weld;
}

static abut_status face_planes(const topology *t, plane *planes, double *areas, abut_error *error) {
    const abut_mesh *m = t->mesh;
    for (int32_t f = 0; f < t->face_count; f++) {
        planes[f] = topology_plane(t, f, &areas[f]);
        int line = m->face_lines ? m->face_lines[f] : 0;
        if (face_is_thin(t, f, areas[f]))
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

/* The same for the neighbour across corner c of a face: the ends of c are on the plane already. */
static bool neighbour_lies_on(const topology *t, int32_t c, plane own, plane p) {
    int32_t f = t->face[c];
    if (topology_size(t, f) != 3) return lies_on(t, f, own, p);
    return fabs(plane_distance(p, topology_at(t, topology_prev(t, c)))) <= t->weld &&
           vec3_dot(own.n, p.n) > 0;
}

/* Joins each two neighbours of which the smaller lies on the plane of the larger. */
static void join_neighbours(const topology *t, const plane *planes, const double *areas, int32_t *parent) {
    for (int32_t f = 0; f < t->face_count; f++) parent[f] = f;
    for (int32_t c = 0; c < t->corner_count; c++) {
        if (t->twin[c] < c) continue;
        int32_t f = t->face[c], g = t->face[t->twin[c]];
        if (f == g) continue;
        bool here = areas[f] < areas[g];
        if (here ? neighbour_lies_on(t, c, planes[f], planes[g])
                 : neighbour_lies_on(t, t->twin[c], planes[g], planes[f]))
            union_join(parent, f, g);
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

/* Clusters in the order of one number of their planes, so that equal planes are neighbours.  n is turned
 * towards a fixed direction first, so that antiparallel planes meet; where it is nearly orthogonal to that
 * direction both ways are entered. */
typedef sort_item entry; /* value: the cluster, or ~cluster when its plane was turned */
#define CLOSE   1e-5     /* differences of n and d / D between planes that are compared */
#define TURN_TO ((vec3){0.6131, 0.5417, 0.5751})

static plane entry_plane(const clusters *k, entry e) {
    return e.value < 0 ? plane_flip(k->fit[~e.value]) : k->fit[e.value];
}

/* Two generic linear functions of (n, d / D), at most 4 in size, as integers: in both, CLOSE planes are less
 * than close_keys apart.  One is sorted by, the other spares looking at most planes. */
static const uint32_t close_keys = (uint32_t)(2.5 * CLOSE * 0x1p29);
static uint32_t to_key(double x) {
    x = (x + 4) * 0x1p29;
    return x <= 0 ? 0 : x >= 0x1.fffffep31 ? UINT32_MAX : (uint32_t)x;
}
static entry make_entry(plane p, double per_diagonal, int32_t value) {
    double d = p.d * per_diagonal;
    return (entry){.key = to_key(0.367 * p.n.x + 0.813 * p.n.y + 0.452 * p.n.z + 0.711 * d),
                   .other = to_key(0.829 * p.n.x - 0.417 * p.n.y + 0.373 * p.n.z - 0.645 * d),
                   .value = value};
}

static entry *make_entries(topology *t, const clusters *k, int64_t *count) {
    entry *items = scratch_take(&t->memory, 2 * (int64_t)k->count, sizeof *items);
    entry *other = scratch_take(&t->memory, 2 * (int64_t)k->count, sizeof *other);
    if (!items || !other) return NULL;
    double per_diagonal = 1 / t->diagonal;
    *count = 0;
    for (int32_t i = 0; i < k->count; i++) {
        double turn = vec3_dot(k->fit[i].n, TURN_TO);
        if (turn > -4 * CLOSE) items[(*count)++] = make_entry(k->fit[i], per_diagonal, i);
        if (turn < 4 * CLOSE) items[(*count)++] = make_entry(plane_flip(k->fit[i]), per_diagonal, ~i);
    }
    sort_items(items, other, *count);
    scratch_drop(&t->memory, other);
    return items;
}

/* Joins clusters whose planes are close when the smaller one lies on the plane of the larger.  way[i] is 0
 * until cluster i is joined in one of its two turns, and then stays. */
static void join_planes(const topology *t, const clusters *k, const entry *items, int64_t count,
                        int32_t *parent, int8_t *way) {
    for (int64_t i = 0; i < count; i++) {
        int32_t a = items[i].value < 0 ? ~items[i].value : items[i].value;
        int8_t way_a = items[i].value < 0 ? -1 : 1;
        int64_t end = i + 1 + CANDIDATES < count ? i + 1 + CANDIDATES : count;
        for (int64_t j = i + 1; j < end && items[j].key - items[i].key <= close_keys; j++) {
            if (items[j].other - items[i].other + close_keys > 2 * close_keys) continue;
            plane p = entry_plane(k, items[i]), q = entry_plane(k, items[j]);
            int32_t b = items[j].value < 0 ? ~items[j].value : items[j].value;
            int8_t way_b = items[j].value < 0 ? -1 : 1;
            if (a == b || fabs(p.n.x - q.n.x) > CLOSE || fabs(p.n.y - q.n.y) > CLOSE ||
                fabs(p.n.z - q.n.z) > CLOSE || fabs(p.d - q.d) > CLOSE * t->diagonal)
                continue;
            if (way[a] == -way_a || way[b] == -way_b) continue;
            bool a_larger = k->area[a] > k->area[b] || (k->area[a] == k->area[b] && a < b);
            if (!cluster_is_flat(t, k, a_larger ? b : a, a_larger ? p : q)) continue;
            way[a] = way_a, way[b] = way_b;
            union_join(parent, a, b);
        }
    }
}

/* The largest cluster of each set gives the plane; members that do not lie on it get their own. */
static void number_planes(const topology *t, const clusters *k, int32_t *parent, int32_t *largest,
                          plane_table *table, int32_t *plane_id, int8_t *sign) {
    for (int32_t i = 0; i < k->count; i++) largest[i] = -1;
    for (int32_t i = 0; i < k->count; i++) {
        int32_t root = parent[i] == i ? i : union_find(parent, i);
        parent[i] = root;
        if (largest[root] < 0 || k->area[i] > k->area[largest[root]]) largest[root] = i;
        if (sign[i] == 0) sign[i] = vec3_dot(k->fit[i].n, TURN_TO) < 0 ? -1 : 1;
        plane_id[i] = -1;
    }
    for (int32_t i = 0; i < k->count; i++) {
        int32_t leader = largest[parent[i]];
        plane p = sign[leader] < 0 ? plane_flip(k->fit[leader]) : k->fit[leader];
        if (leader != i && !cluster_is_flat(t, k, i, p)) {
            leader = i;
            p = sign[i] < 0 ? plane_flip(k->fit[i]) : k->fit[i];
        }
        if (plane_id[leader] < 0) {
            plane_id[leader] = table->plane_count;
            table->planes[table->plane_count++] = p;
        }
        plane_id[i] = plane_id[leader];
    }
}

static bool fill_table(topology *t, const clusters *k, plane_table *table, int32_t *plane_id, int8_t *sign) {
    int64_t count;
    entry *items = make_entries(t, k, &count);
    int32_t *parent = scratch_take(&t->memory, k->count, sizeof *parent);
    int32_t *largest = scratch_take(&t->memory, k->count, sizeof *largest);
    if (!items || !parent || !largest) return false;
    for (int32_t i = 0; i < k->count; i++) parent[i] = i, sign[i] = 0;
    join_planes(t, k, items, count, parent, sign);
    scratch_drop(&t->memory, items);
    number_planes(t, k, parent, largest, table, plane_id, sign);
    scratch_drop(&t->memory, parent);
    scratch_drop(&t->memory, largest);
    return true;
}

/* A plane of several clusters is fitted again through all of them; the first fit stays where the new one
 * would leave a vertex farther than the tolerance. */
static bool refit_planes(topology *t, const clusters *k, plane_table *table, const int32_t *plane_id,
                         const int8_t *sign) {
    if (table->plane_count == k->count) return true;
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
    /* nothing to join where every cluster has its own plane */
    bool join = table->plane_count < k->count;
    for (int32_t c = 0; c < t->corner_count && join && !keep_facets; c++) {
        if (t->twin[c] < c) continue;
        int32_t f = t->face[c], g = t->face[t->twin[c]], i = k->of[f], j = k->of[g];
        if (i == j || (plane_id[i] == plane_id[j] && sign[i] == sign[j])) union_join(parent, f, g);
    }
    table->region = scratch_take(s, n, sizeof *table->region);
    if (!table->region) return false;
    if (!join && !keep_facets) { /* clusters are numbered by their first face, as regions are */
        memcpy(table->region, k->of, (size_t)n * sizeof *table->region);
        table->region_count = k->count;
    }
    for (int32_t f = 0; f < n && (join || keep_facets); f++) {
        int32_t root = parent[f] == f ? f : union_find(parent, f);
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

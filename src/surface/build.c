/* Building the block of a surface: patches are collected in a builder, packed into one block, joined along
 * equal boundary curves, and sealed with a hash. */
#include "surface/surface.h"

enum { MAGIC = 0x61627366, VERSION = 1 };

const double domain_triangle[3][2] = {{0, 0}, {1, 0}, {0, 1}};

void domain_square(double low_u, double high_u, double low_v, double high_v, double corners[4][2]) {
    double at[4][2] = {{low_u, low_v}, {high_u, low_v}, {high_u, high_v}, {low_u, high_v}};
    memcpy(corners, at, sizeof at);
}

/* Appends `count` zeros (perhaps none) to the numbers; NULL only when memory is out. */
static double *extend(surface_builder *b, int64_t count) {
    if (b->failed || !array_reserve(b->context, &b->numbers, b->numbers.count + count + 1)) {
        b->failed = true;
        return NULL;
    }
    double *data = b->numbers.data + b->numbers.count;
    memset(data, 0, (size_t)count * sizeof *data);
    b->numbers.count += count;
    return data;
}

int builder_patch(surface_builder *b, patch p, int sides, const double (*corners)[2], int64_t count,
                  double **data) {
    p.sides = sides, p.first = (int32_t)b->edges.count, p.data = b->numbers.count;
    *data = extend(b, count);
    for (int i = 0; i < sides && !b->failed; i++)
        b->failed = !array_push(b->context, &b->corners, corners[i][0]) ||
                    !array_push(b->context, &b->corners, corners[i][1]) ||
                    !array_push(b->context, &b->edges, ((edge_link){-1, -1}));
    if (b->failed || !array_push(b->context, &b->patches, p)) b->failed = true, *data = NULL;
    return (int)b->patches.count - 1;
}

int builder_hidden(surface_builder *b, patch p, int64_t count, double **data) {
    p.first = -1, p.data = b->numbers.count;
    *data = extend(b, count);
    if (b->failed || !array_push(b->context, &b->hidden, p)) b->failed = true, *data = NULL;
    return (int)b->hidden.count - 1;
}

void builder_join(surface_builder *b, int p, int e, int q, int f) {
    b->edges.data[b->patches.data[p].first + e] = (edge_link){q, f};
    b->edges.data[b->patches.data[q].first + f] = (edge_link){p, e};
}

void builder_free(surface_builder *b) {
    array_free(b->context, &b->patches);
    array_free(b->context, &b->hidden);
    array_free(b->context, &b->corners);
    array_free(b->context, &b->edges);
    array_free(b->context, &b->numbers);
}

static uint64_t round_up(uint64_t size) { return (size + 31) & ~(uint64_t)31; }

/* Packs and frees the builder, in success and failure. */
abut_status builder_finish(surface_builder *b, abut_surface **surface, abut_error *error) {
    int64_t shown = b->patches.count, all = shown + b->hidden.count, corners = b->edges.count;
    if (b->failed) {
        builder_free(b);
        return fail_memory(error);
    }
    uint64_t patches_at = round_up(sizeof(abut_surface)),
             corners_at = round_up(patches_at + (uint64_t)all * sizeof(patch)),
             edges_at = round_up(corners_at + (uint64_t)corners * 2 * sizeof(double)),
             numbers_at = round_up(edges_at + (uint64_t)corners * sizeof(edge_link)),
             size = numbers_at + (uint64_t)b->numbers.count * sizeof(double);
    abut_surface *s = mem_calloc(b->context, 1, size);
    if (!s) {
        builder_free(b);
        return fail_memory(error);
    }
    *s = (abut_surface){.magic = MAGIC,
                        .version = VERSION,
                        .size = size,
                        .patch_count = (int32_t)shown,
                        .all_count = (int32_t)all,
                        .corner_count = (int32_t)corners,
                        .patches = (int64_t)patches_at,
                        .corners = (int64_t)corners_at,
                        .edges = (int64_t)edges_at,
                        .numbers = (int64_t)numbers_at,
                        .number_count = b->numbers.count};
    char *base = (char *)s;
    patch *patches = (patch *)(base + patches_at);
    if (shown) memcpy(patches, b->patches.data, (size_t)shown * sizeof(patch));
    if (all > shown) memcpy(patches + shown, b->hidden.data, (size_t)(all - shown) * sizeof(patch));
    for (int64_t i = 0; i < shown; i++)
        if (patches[i].kind == ABUT_PATCH_SPLIT) patches[i].part += (int32_t)shown;
    if (corners) memcpy(base + corners_at, b->corners.data, (size_t)corners * 2 * sizeof(double));
    if (corners) memcpy(base + edges_at, b->edges.data, (size_t)corners * sizeof(edge_link));
    if (b->numbers.count)
        memcpy(base + numbers_at, b->numbers.data, (size_t)b->numbers.count * sizeof(double));
    builder_free(b);
    surface_seal(s);
    *surface = s;
    return ABUT_OK;
}

void surface_seal(abut_surface *s) {
    box bounds = box_empty();
    s->closed = 1;
    for (int p = 0; p < s->patch_count; p++) {
        const patch *q = surface_patch(s, p);
        partials at;
        for (int i = 0; i < q->sides; i++) {
            const double *corner = surface_corner(s, q->first + i);
            patch_evaluate(s, q, corner[0], corner[1], 0, &at);
            bounds = box_add_point(bounds, at.c);
            if (surface_edge(s, q->first + i)->patch < 0) s->closed = 0;
        }
    }
    s->diagonal = s->patch_count ? box_diagonal(bounds) : 0;
    s->epsilon = 1e-9;
    s->hash = 0;
    s->hash = hash64(s, s->size, VERSION);
}

/* ---- joining */

enum { SAMPLES = 5 };
typedef struct curve {
    vec3 at[SAMPLES]; /* at 0, 1/4, ... 1 along the edge */
    double key;
    int patch, edge;
} curve;

static int compare_curves(const void *user, const void *a, const void *b) {
    (void)user;
    double x = ((const curve *)a)->key, y = ((const curve *)b)->key;
    return x < y ? -1 : x > y;
}

static bool same_curve(const curve *a, const curve *b, bool reversed, double tolerance) {
    for (int i = 0; i < SAMPLES; i++)
        if (vec3_distance(a->at[i], b->at[reversed ? SAMPLES - 1 - i : i]) > tolerance) return false;
    return true;
}

static void sample_curve(const abut_surface *s, int p, int e, curve *c) {
    const patch *q = surface_patch(s, p);
    const double *a = surface_corner(s, q->first + e), *b = surface_corner(s, q->first + (e + 1) % q->sides);
    for (int i = 0; i < SAMPLES; i++) {
        partials at;
        double t = i / (double)(SAMPLES - 1);
        patch_evaluate(s, q, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), 0, &at);
        c->at[i] = at.c;
    }
    c->key = c->at[SAMPLES / 2].x, c->patch = p, c->edge = e;
}

/* Joins a with b, or says why not. */
static abut_status join_pair(abut_surface *s, const curve *a, const curve *b, abut_error *error) {
    edge_link *edges = (edge_link *)((char *)s + s->edges);
    edge_link *x = &edges[surface_patch(s, a->patch)->first + a->edge],
              *y = &edges[surface_patch(s, b->patch)->first + b->edge];
    if (x->patch >= 0 || y->patch >= 0)
        return fail(error, ABUT_INVALID,
                    "more than two patches meet along edge %d of patch %d; a surface has two sides of an "
                    "edge only, remove the extra patch",
                    a->edge, a->patch);
    *x = (edge_link){b->patch, b->edge};
    *y = (edge_link){a->patch, a->edge};
    return ABUT_OK;
}

abut_status surface_join_equal(const abut_context *context, abut_surface *s, double tolerance,
                               abut_error *error) {
    int count = s->corner_count, at = 0;
    curve *curves = mem_alloc(context, (size_t)count, sizeof *curves);
    if (!curves) return fail_memory(error);
    for (int p = 0; p < s->patch_count; p++)
        for (int e = 0; e < surface_patch(s, p)->sides; e++) sample_curve(s, p, e, &curves[at++]);
    abut_status status = ABUT_OK;
    if (!sort_stable(context, curves, (size_t)count, sizeof *curves, compare_curves, NULL))
        status = fail_memory(error);
    for (int i = 0; i < count && status == ABUT_OK; i++) {
        const curve *a = &curves[i];
        if (same_curve(a, a, true, tolerance)) continue; /* shrunk to a point, or running to and fro */
        for (int j = i + 1; j < count && curves[j].key - a->key <= tolerance && status == ABUT_OK; j++) {
            if (same_curve(a, &curves[j], true, tolerance))
                status = join_pair(s, a, &curves[j], error);
            else if (same_curve(a, &curves[j], false, tolerance))
                status = fail(error, ABUT_INVALID,
                              "patches %d and %d run along their common edge in the same direction, so their "
                              "outsides differ; swap the rows of one",
                              a->patch, curves[j].patch);
        }
    }
    mem_free(context, curves, (size_t)count, sizeof *curves);
    if (status == ABUT_OK) surface_seal(s);
    return status;
}

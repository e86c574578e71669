/* The Loop surface with S-patches in place of what surrounds its extraordinary vertices (Kry 2000, 5.2).
 *
 *         \   /                          The mesh has been subdivided, so that extraordinary vertices (c) are
 *     r2 --- r1                          not neighbours.  The n triangles at c become one S-patch of n sides;
 *    /  \   /  \                         A_i, the triangle beyond side i (from r_i to r_(i+1)), is regular.
 *      S c --- r0 ---
 *    \  /   \  /  A
 *       ...                              Kept with each S-patch: how far it is from the limit surface, how
 * well the normals meet, and whether it folds. */
#include "surface/surface.h"

typedef struct smoother {
    const abut_context *context;
    const loop_mesh *mesh;
    surface_builder builder;
    int32_t *patch_of; /* of each triangle; -1 at extraordinary vertices */
} smoother;

static bool touches_extraordinary(const loop_mesh *m, int64_t t) {
    for (int i = 0; i < 3; i++)
        if (m->valence[m->corners[3 * t + i]] != 6) return true;
    return false;
}

static abut_status add_regular(smoother *s, abut_error *error) {
    const loop_mesh *m = s->mesh;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        vec3 stencil[STENCIL_POINTS];
        double *data;
        s->patch_of[t] = -1;
        if (touches_extraordinary(m, t)) continue;
        s->patch_of[t] = builder_patch(&s->builder, (patch){.kind = ABUT_PATCH_LOOP, .face = m->faces[t]}, 3,
                                       domain_triangle, TRIANGLE_NUMBERS, &data);
        if (!data) return fail_memory(error);
        loop_mesh_stencil(m, t, stencil);
        triangle_from_stencil(stencil, data);
    }
    for (int32_t h = 0; h < 3 * m->triangle_count; h++) {
        int32_t p = s->patch_of[h / 3], q = s->patch_of[m->twin[h] / 3];
        if (p >= 0 && q >= 0) builder_join(&s->builder, p, h % 3, q, m->twin[h] % 3);
    }
    return ABUT_OK;
}

/* The nets beyond the sides, with the corners (r_(i+1), r_i, tip); half[i] is the half-edge from c to r_i. */
static void gather_nets(const loop_mesh *m, const int32_t *half, int n, double (*nets)[TRIANGLE_NUMBERS]) {
    for (int i = 0; i < n; i++) {
        int32_t beyond = m->twin[half_edge_next(half[i])];
        vec3 stencil[STENCIL_POINTS];
        double plain[TRIANGLE_NUMBERS];
        loop_mesh_stencil(m, beyond / 3, stencil);
        triangle_from_stencil(stencil, plain);
        triangle_turn(plain, (3 - beyond % 3) % 3, nets[i]);
    }
}

/* Samples the S-patch on rays of its sectors. */
static void measure(const double *data, int n, const double (*nets)[TRIANGLE_NUMBERS], const double *stam,
                    int64_t each, patch *p) {
    enum { RINGS = 6, STEPS = 4, EACH = (RINGS + 1) * STEPS };
    double corners[ABUT_SIDES_MOST][2], sum = 0, least = INFINITY;
    vec3 mean = vec3_zero(), areas[ABUT_SIDES_MOST * EACH];
    s_patch_corners(n, corners);
    for (int i = 0; i < n; i++) p->normal_jump = fmax(p->normal_jump, s_patch_jump(data, n, i, nets[i], 128));
    for (int x = 0; x < n * EACH; x++) {
        int i = x / EACH, r = x % EACH / STEPS, k = x % STEPS;
        const double *a = corners[i], *b = corners[(i + 1) % n];
        double size = (double)r / RINGS, b2 = size * k / STEPS, b1 = size - b2;
        partials at;
        s_patch_evaluate(data, n, b1 * a[0] + b2 * b[0], b1 * a[1] + b2 * b[1], 1, &at);
        areas[x] = vec3_cross(at.u, at.v);
        mean = vec3_add(mean, vec3_unit(areas[x])), sum += vec3_length(areas[x]);
        p->deviation = fmax(p->deviation, vec3_distance(at.c, limit_foot(stam, each, n, at.c, i, b1, b2)));
    }
    for (int x = 0; x < n * EACH; x++) {
        double size = vec3_length(areas[x]);
        least = fmin(least, vec3_dot(areas[x], mean) < 0 ? -size : size);
    }
    p->least_area = least / (sum / (n * EACH));
}

static abut_status add_s_patch(smoother *s, int64_t v, abut_error *error) {
    const loop_mesh *m = s->mesh;
    int n = m->valence[v]; /* at most ABUT_SIDES_MOST */
    int32_t half[ABUT_SIDES_MOST];
    double nets[ABUT_SIDES_MOST][TRIANGLE_NUMBERS], corners[ABUT_SIDES_MOST][2], *data;
    half[0] = m->outgoing[v];
    for (int i = 1; i < n; i++) half[i] = m->twin[half_edge_previous(half[i - 1])];
    gather_nets(m, half, n, nets);
    s_patch_corners(n, corners);
    patch p = {.kind = ABUT_PATCH_S_PATCH, .face = -1, .valence = n};
    int index = builder_patch(&s->builder, p, n, (const double(*)[2])corners, s_patch_numbers(n), &data);
    if (!data) return fail_memory(error);
    double jump = s_patch_fill(data, n, (const double(*)[TRIANGLE_NUMBERS])nets);
    s->builder.patches.data[index].normal_jump = jump;
    for (int i = 0; i < n; i++) {
        int32_t beyond = m->twin[half_edge_next(half[i])];
        builder_join(&s->builder, index, i, s->patch_of[beyond / 3], beyond % 3);
    }
    int64_t each = STAM_NUMBERS(n);
    double *stam = mem_calloc(s->context, (size_t)(each * n), sizeof *stam);
    if (!stam) return fail_memory(error);
    abut_status status = ABUT_OK;
    for (int i = 0; i < n && status == ABUT_OK; i++) {
        /* a sector's own triangle, with c as its first corner: the net is turned by nothing */
        status = loop_gather_stam(m, half[i] / 3, half[i] % 3, 0, stam + each * i, error);
    }
    if (status == ABUT_OK && !s_patch_fit_limit(data, n, stam, each))
        log_write(s->context, ABUT_LOG_INFO, "the inside of the S-patch at vertex %lld was not fitted",
                  (long long)v);
    if (status == ABUT_OK)
        measure(data, n, (const double(*)[TRIANGLE_NUMBERS])nets, stam, each,
                &s->builder.patches.data[index]);
    mem_free(s->context, stam, (size_t)(each * n), sizeof *stam);
    return status;
}

/* True when the S-patch neither folds nor comes near it, and its normals meet those of the neighbours. */
static bool is_sound(const patch *p) { return p->least_area > 0.02 && p->normal_jump < 1e-6; }

abut_status smooth_surface(const abut_context *context, const loop_mesh *mesh, bool only_sound,
                           abut_surface **surface, bool *sound, abut_error *error) {
    smoother s = {.context = context, .mesh = mesh, .builder = {.context = context}};
    s.patch_of = mem_alloc(context, (size_t)mesh->triangle_count, sizeof *s.patch_of);
    abut_status status = s.patch_of ? add_regular(&s, error) : fail_memory(error);
    *sound = true;
    for (int64_t v = 0; v < mesh->point_count && status == ABUT_OK && (*sound || !only_sound); v++) {
        if (mesh->outgoing[v] < 0 || mesh->valence[v] == 6) continue;
        status = add_s_patch(&s, v, error);
        if (status == ABUT_OK) *sound &= is_sound(&s.builder.patches.data[s.builder.patches.count - 1]);
    }
    mem_free(context, s.patch_of, (size_t)mesh->triangle_count, sizeof *s.patch_of);
    if (status == ABUT_OK && (*sound || !only_sound)) return builder_finish(&s.builder, surface, error);
    builder_free(&s.builder);
    return status;
}

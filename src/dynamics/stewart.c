/* Stewart and Trinkle's problem: modes of friction by a linear complementarity problem (see coulomb.h).
 *
 * unknowns:   rows and normals with bounds (U) | per candidate cone: beta_1 .. beta_8 (2 for spinning),
 * lambda
 *
 *     [ W_U^T P V_U    W_U^T P E    0 ]
 *     [ E^T   P V_U    E^T   P E    1 ]      P takes the bilateral rows out (dense_reduce)
 *     [   mu             -1         0 ]
 *
 * Zooming.  A first pyramid has 8 directions, the first where the point would go without friction.  Once a
 * slip is found there, 6 more stand close around the opposite of it, at tangents of 1/4, 1/2, 3/4 of the last
 * spacing, and the problem is solved again: each round is a problem that has a solution, and the direction is
 * known 4 times better. */
#include "abut/complementarity.h"
#include "dynamics/coulomb.h"

/* One pyramid. */
typedef struct pyramid {
    const cone *law;
    int first, directions; /* its unknowns: directions betas, then lambda */
    vec3 direction[14];
    double unit; /* scale of the lambda row, so that it compares with accelerations */
} pyramid;

typedef struct stewart {
    group_system s;
    dense d;
    dense_reduced u;
    pyramid *pyramids;
    int pyramid_count, count;
    int *place;      /* unknown of s -> unknown here, -1 */
    double *rows;    /* W of all unknowns with a row; lambda has none */
    double *columns; /* P V */
    double *b, *lo, *hi, *z, *w, *matrix;
    uint8_t *state;
} stewart;

/* r = sum of axis_i (row_i . x + offset) */
static vec3 cone_rate(const group_system *s, const cone *k, const spatial *x) {
    vec3 sum = vec3_zero();
    for (int i = 0; i < k->dimension; i++) {
        row r = system_cone_row(s, k, k->axis[i]);
        sum = vec3_axpy(sum, row_dot(&r, x) + system_cone_offset(s, &r), k->axis[i]);
    }
    return sum;
}

static void make_directions(const stewart *t, pyramid *p, vec3 estimate, double spacing) {
    static const double circle[8][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const cone *k = p->law;
    if (k->dimension == 1) {
        p->directions = 2;
        p->direction[0] = k->axis[0], p->direction[1] = vec3_neg(k->axis[0]);
        return;
    }
    bool zoom = vec3_length2(estimate) > 0.5;
    vec3 x = zoom ? vec3_neg(estimate) : vec3_unit(cone_rate(&t->s, k, t->s.base));
    if (!(vec3_length2(x) > 0.5)) x = k->axis[0];
    vec3 y = vec3_cross(vec3_cross(k->axis[0], k->axis[1]), x);
    p->directions = 0;
    for (int i = 0; i < 8; i++)
        p->direction[p->directions++] = vec3_unit(vec3_axpy(vec3_scale(x, circle[i][0]), circle[i][1], y));
    for (int i = -3; zoom && i <= 3; i++)
        if (i != 0) p->direction[p->directions++] = vec3_unit(vec3_axpy(x, spacing * i / 4, y));
}

static bool allocate(stewart *t, arena *scratch) {
    size_t n = (size_t)t->d.space.dimension, m = (size_t)t->count;
    t->rows = arena_alloc(scratch, n * m + 1, sizeof(double));
    t->columns = arena_alloc(scratch, n * m + 1, sizeof(double));
    t->matrix = arena_alloc(scratch, m * m + 1, sizeof(double));
    t->b = arena_alloc(scratch, 5 * m + 1, sizeof(double));
    t->state = arena_alloc(scratch, m + 1, 1);
    if (!t->rows || !t->columns || !t->matrix || !t->b || !t->state) return false;
    t->lo = t->b + m, t->hi = t->lo + m, t->z = t->hi + m, t->w = t->z + m;
    return true;
}

/* Rows, columns and b of the unknowns of the system, then of the pyramids. */
static void fill_vectors(stewart *t) {
    const group_system *s = &t->s;
    int n = t->d.space.dimension;
    size_t bytes = (size_t)n * sizeof(double);
    for (int j = 0; j < t->u.count; j++) {
        int i = t->u.list[j];
        memcpy(t->rows + (size_t)n * j, t->d.w + (size_t)n * i, bytes);
        memcpy(t->columns + (size_t)n * j, t->d.v + (size_t)n * i, bytes);
        t->b[j] = s->b[i] + dense_dot(t->d.w + (size_t)n * i, t->u.y, n);
        t->lo[j] = s->lo[i], t->hi[j] = s->hi[i];
    }
    for (int p = 0; p < t->pyramid_count; p++) {
        pyramid *q = &t->pyramids[p];
        double mobility = 0;
        for (int k = 0; k < q->directions; k++) {
            int j = q->first + k;
            double *w = t->rows + (size_t)n * j;
            row r = system_cone_row(s, q->law, q->direction[k]);
            system_space_column(&t->d.space, s->g, &r, w);
            memcpy(t->columns + (size_t)n * j, w, bytes);
            t->b[j] = row_dot(&r, s->base) + system_cone_offset(s, &r) + dense_dot(w, t->u.y, n);
            t->hi[j] = INFINITY;
            mobility = fmax(mobility, dense_dot(w, w, n));
        }
        t->hi[q->first + q->directions] = INFINITY;
        q->unit = mobility > 0 ? mobility : 1;
    }
    for (int j = 0; j < t->count; j++) least_norm_take_out(&t->u.bilateral, t->columns + (size_t)n * j);
}

static void fill_matrix(stewart *t) {
    int n = t->d.space.dimension, m = t->count;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            t->matrix[(size_t)i * m + j] = dense_dot(t->rows + (size_t)n * i, t->columns + (size_t)n * j, n);
    for (int p = 0; p < t->pyramid_count; p++) {
        const pyramid *q = &t->pyramids[p];
        int lambda = q->first + q->directions, normal = t->place[t->s.normal_of[q->law->contact]];
        t->matrix[(size_t)lambda * m + normal] = q->unit * q->law->stick;
        for (int k = 0; k < q->directions; k++) {
            t->matrix[(size_t)(q->first + k) * m + lambda] = q->unit;
            t->matrix[(size_t)lambda * m + q->first + k] = -q->unit;
        }
    }
}

static abut_status prepare(group *g, const coulomb_config *config, const vec3 *estimates, double spacing,
                           const group_scratch *scratch, stewart *t, abut_error *error) {
    arena *a = scratch->arena;
    for (int i = 0; i < g->contact_count;
         i++) /* candidates leave the system: their pyramids carry the friction */
        for (int k = 0; k < CONE_KINDS; k++)
            if (config->candidate[i * CONE_KINDS + k])
                coulomb_set_mode(&g->contacts[i], (cone_kind)k, FRICTION_FREE, vec3_zero());
    abut_status status = system_build(g, &config->build, a, &t->s, error);
    if (status != ABUT_OK) return status;
    t->place = arena_alloc(a, (size_t)t->s.count + 1, sizeof(int));
    t->pyramids = arena_alloc(a, (size_t)t->s.cone_count + 1, sizeof(pyramid));
    if (!t->place || !t->pyramids || !dense_make(&t->s, a, &t->d) || !dense_reduce(&t->d, a, &t->u))
        return fail_memory(error);
    t->count = t->u.count, t->pyramid_count = 0;
    for (int j = 0; j < t->u.count; j++) t->place[t->u.list[j]] = j;
    for (int k = 0; k < t->s.cone_count; k++) {
        const cone *law = &t->s.cones[k];
        if (!config->candidate[law->contact * CONE_KINDS + law->kind]) continue;
        pyramid *p = &t->pyramids[t->pyramid_count++];
        p->law = law, p->first = t->count;
        make_directions(t, p, estimates[law->contact * CONE_KINDS + law->kind], spacing);
        t->count += p->directions + 1;
    }
    if (!allocate(t, a)) return fail_memory(error);
    fill_vectors(t);
    fill_matrix(t);
    dense_shift_bounds(t->count, t->matrix, t->b, t->lo, t->hi);
    return ABUT_OK;
}

/* x = base + M^-1/2 (y_B + sum of z times P V) */
static abut_status motion_of(const stewart *t, arena *scratch, spatial *x, abut_error *error) {
    int n = t->d.space.dimension;
    double *y = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    if (!y) return fail_memory(error);
    memcpy(y, t->u.y, (size_t)n * sizeof(double));
    for (int j = 0; j < t->count; j++)
        for (int k = 0; k < n; k++) y[k] += t->z[j] * t->columns[(size_t)n * j + k];
    memcpy(x, t->s.base, (size_t)t->s.g->body_count * sizeof(spatial));
    system_space_add(&t->d.space, t->s.g, y, x);
    return ABUT_OK;
}

/* A vanishing point is free; one that stays put sticks; one that moves slips that way. */
static void read_modes(const stewart *t, group *g, const spatial *x, double tolerance, vec3 *estimates) {
    double scale = 0;
    for (int j = 0; j < t->count; j++) scale = fmax(scale, fabs(t->b[j]));
    for (int i = 0; i < g->contact_count; i++) {
        int n = t->s.normal_of[i];
        g->contacts[i].pressed = n >= 0 && (t->w[t->place[n]] <= tolerance * scale || t->s.lo[n] > 0);
    }
    for (int p = 0; p < t->pyramid_count; p++) {
        const cone *law = t->pyramids[p].law;
        group_contact *c = &g->contacts[law->contact];
        vec3 r = cone_rate(&t->s, law, x);
        double speed = vec3_length(r);
        if (!c->pressed) continue;
        if (speed <= tolerance * scale)
            coulomb_set_mode(c, law->kind, FRICTION_STICK, vec3_zero());
        else
            coulomb_set_mode(c, law->kind, FRICTION_SLIP, vec3_scale(r, 1 / speed));
        if (speed > tolerance * scale)
            estimates[law->contact * CONE_KINDS + law->kind] = vec3_scale(r, 1 / speed);
    }
}

abut_status stewart_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                           vec3 *estimates, double spacing, bool *found, int *pivots, abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    stewart t = {0};
    abut_lcp_result result = {0};
    *found = false;
    abut_status status = prepare(g, config, estimates, spacing, scratch, &t, error);
    if (status == ABUT_OK) {
        abut_lcp problem = {.size = t.count, .dense = t.matrix, .b = t.b, .lo = t.lo, .hi = t.hi};
        abut_lcp_config lemke = abut_default_lcp_config();
        lemke.method = ABUT_LCP_LEMKE, lemke.budget = config->budget;
        abut_status solved =
            abut_lcp_solve(scratch->lcp, &problem, &lemke, t.state, t.z, t.w, &result, error);
        if (solved == ABUT_NO_MEMORY || solved == ABUT_INVALID) status = solved;
        *found = solved == ABUT_OK;
        for (int j = 0; j < t.u.count; j++) /* z = lo + z' again */
            if (isfinite(t.s.lo[t.u.list[j]])) t.z[j] += t.s.lo[t.u.list[j]];
        *pivots += result.pivots;
    }
    if (status == ABUT_OK && *found) {
        spatial *x = arena_alloc(scratch->arena, (size_t)g->body_count + 1, sizeof(spatial));
        status = x ? motion_of(&t, scratch->arena, x, error) : fail_memory(error);
        if (status == ABUT_OK) read_modes(&t, g, x, 1e-7, estimates);
    }
    arena_restore(scratch->arena, mark);
    return status;
}

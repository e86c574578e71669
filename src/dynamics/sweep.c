/* Modes of friction by projected Gauss-Seidel on the true cones (see coulomb.h).
 *
 *     z_j <- clamp(z_j - w_j / A_jj)                      rows and normals
 *     T   <- the disc of radius mu N, nearest to T - r / k       cones, k the largest mobility of their
 * directions */
#include "dynamics/coulomb.h"

static void axpy(double *a, double s, const double *b, int n) {
    for (int i = 0; i < n; i++) a[i] += s * b[i];
}

/* The friction of one candidate cone. */
typedef struct grip {
    const cone *law;
    double *row[2], *column[2]; /* W and P W of its directions */
    double b[2], t[2], rate[2], mobility;
} grip;

typedef struct sweep {
    group_system s;
    dense d;
    dense_reduced u;
    double *columns; /* P V of the unknowns with bounds */
    double *z, *w;   /* of all unknowns */
    double *y;
    grip *grips;
    int grip_count;
} sweep;

static bool make_grip(sweep *t, const cone *law, arena *scratch) {
    grip *q = &t->grips[t->grip_count++];
    size_t n = (size_t)t->d.space.dimension;
    *q = (grip){.law = law};
    for (int k = 0; k < law->dimension; k++) {
        row r = system_cone_row(&t->s, law, law->axis[k]);
        q->row[k] = arena_alloc(scratch, n + 1, sizeof(double));
        q->column[k] = arena_alloc(scratch, n + 1, sizeof(double));
        if (!q->row[k] || !q->column[k]) return false;
        system_space_column(&t->d.space, t->s.g, &r, q->row[k]);
        memcpy(q->column[k], q->row[k], n * sizeof(double));
        least_norm_take_out(&t->u.bilateral, q->column[k]);
        q->b[k] = row_dot(&r, t->s.base) + system_cone_offset(&t->s, &r);
        q->mobility = fmax(q->mobility, dense_dot(q->row[k], q->column[k], (int)n));
    }
    return true;
}

static abut_status prepare(group *g, const coulomb_config *config, arena *a, sweep *t, abut_error *error) {
    for (int i = 0; i < g->contact_count; i++)
        for (int k = 0; k < CONE_KINDS; k++)
            if (config->candidate[i * CONE_KINDS + k])
                coulomb_set_mode(&g->contacts[i], (cone_kind)k, FRICTION_FREE, vec3_zero());
    abut_status status = system_build(g, &config->build, a, &t->s, error);
    if (status != ABUT_OK) return status;
    if (!dense_make(&t->s, a, &t->d) || !dense_reduce(&t->d, a, &t->u)) return fail_memory(error);
    size_t n = (size_t)t->d.space.dimension, m = (size_t)t->s.count;
    t->columns = arena_alloc(a, n * m + 1, sizeof(double));
    t->z = arena_alloc(a, 2 * m + 1, sizeof(double));
    t->y = arena_alloc(a, n + 1, sizeof(double));
    t->grips = arena_alloc(a, (size_t)t->s.cone_count + 1, sizeof(grip));
    if (!t->columns || !t->z || !t->y || !t->grips) return fail_memory(error);
    t->w = t->z + m;
    memcpy(t->y, t->u.y, n * sizeof(double));
    for (int j = 0; j < t->u.count; j++) {
        int i = t->u.list[j];
        double *column = t->columns + n * j;
        memcpy(column, t->d.v + n * i, n * sizeof(double));
        least_norm_take_out(&t->u.bilateral, column);
        t->z[i] = isfinite(t->s.lo[i]) ? t->s.lo[i] : 0;
        if (t->z[i] != 0) axpy(t->y, t->z[i], column, (int)n);
    }
    for (int k = 0; k < t->s.cone_count; k++) {
        const cone *law = &t->s.cones[k];
        if (config->candidate[law->contact * CONE_KINDS + law->kind] && !make_grip(t, law, a))
            return fail_memory(error);
    }
    return ABUT_OK;
}

static void sweep_bounded(sweep *t) {
    int n = t->d.space.dimension;
    for (int j = 0; j < t->u.count; j++) {
        int i = t->u.list[j];
        const double *w = t->d.w + (size_t)n * i, *column = t->columns + (size_t)n * j;
        double mobility = dense_dot(w, column, n), before = t->z[i];
        t->w[i] = t->s.b[i] + dense_dot(w, t->y, n);
        if (!(mobility > 0)) continue;
        t->z[i] = fmin(fmax(before - t->w[i] / mobility, t->s.lo[i]), t->s.hi[i]);
        axpy(t->y, t->z[i] - before, column, n);
    }
}

static void sweep_grip(sweep *t, grip *q) {
    int n = t->d.space.dimension, dimension = q->law->dimension;
    double next[2] = {0, 0}, limit = q->law->stick * t->z[t->s.normal_of[q->law->contact]];
    if (!(q->mobility > 0)) return;
    for (int k = 0; k < dimension; k++) {
        q->rate[k] = q->b[k] + dense_dot(q->row[k], t->y, n);
        next[k] = q->t[k] - q->rate[k] / q->mobility;
    }
    double size = sqrt(next[0] * next[0] + next[1] * next[1]), scale = size > limit ? limit / size : 1;
    for (int k = 0; k < dimension; k++) {
        axpy(t->y, scale * next[k] - q->t[k], q->column[k], n);
        q->t[k] = scale * next[k];
    }
}

/* Inside its disc a cone sticks; on the rim it slips where the rate points, against the force. */
static void read_modes(const sweep *t, group *g) {
    double scale = 0;
    for (int i = 0; i < t->s.count; i++) scale = fmax(scale, fabs(t->s.b[i]));
    for (int i = 0; i < g->contact_count; i++) {
        int n = t->s.normal_of[i];
        g->contacts[i].pressed = n >= 0 && (t->z[n] > 0 || t->w[n] <= 1e-6 * scale);
    }
    for (int k = 0; k < t->grip_count; k++) {
        const grip *q = &t->grips[k];
        group_contact *c = &g->contacts[q->law->contact];
        double size = sqrt(q->t[0] * q->t[0] + q->t[1] * q->t[1]);
        double limit = q->law->stick * t->z[t->s.normal_of[q->law->contact]];
        vec3 force = vec3_axpy(vec3_scale(q->law->axis[0], q->t[0]), q->t[1], q->law->axis[1]);
        if (!c->pressed) continue;
        if (size < limit * (1 - 1e-9) || !(size > 0))
            coulomb_set_mode(c, q->law->kind, FRICTION_STICK, vec3_zero());
        else
            coulomb_set_mode(c, q->law->kind, FRICTION_SLIP, vec3_neg(vec3_unit(force)));
    }
}

abut_status coulomb_sweep(group *g, const coulomb_config *config, const group_scratch *scratch, int sweeps,
                          abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    sweep t = {0};
    abut_status status = prepare(g, config, scratch->arena, &t, error);
    for (int i = 0; status == ABUT_OK && i < sweeps; i++) {
        sweep_bounded(&t);
        for (int k = 0; k < t.grip_count; k++) sweep_grip(&t, &t.grips[k]);
    }
    if (status == ABUT_OK) read_modes(&t, g);
    arena_restore(scratch->arena, mark);
    return status;
}

/* Constraints that leave no way out (see jam.h). */
#include "dynamics/jam.h"

#include "dynamics/solve.h"

/* A motor with a bound gives way. */
static bool gives_way(const row *r) { return isfinite(r->lo) && isfinite(r->hi); }

static double row_missed(const group *g, const row *r, jam_level level) {
    double c = level == JAM_PLACES ? -r->error : r->rate;
    if (gives_way(r)) return 0;
    if (level != JAM_PLACES && r->a >= 0) c -= spatial_dot(r->ja, g->motions[r->a].velocity);
    if (level != JAM_PLACES && r->b >= 0) c -= spatial_dot(r->jb, g->motions[r->b].velocity);
    return isfinite(r->lo) ? fmax(c, 0) : isfinite(r->hi) ? fmin(c, 0) : c;
}

/* The friction that can be counted on: that of slip. */
static double friction_of(const group_contact *c) { return c->friction.slide; }

/* The part of x in the cone |t| <= mu n, in cases: all of it, none, or that along the ray of the cone next to
 * it, r = (n + mu t) / sqrt(1 + mu^2). */
static vec3 in_cone(vec3 x, vec3 n, double mu) {
    double along = vec3_dot(x, n);
    vec3 tangent = vec3_axpy(x, -along, n);
    double slip = vec3_length(tangent);
    if (slip <= mu * along) return x;
    if (along + mu * slip <= 0) return vec3_zero();
    vec3 ray = vec3_axpy(n, mu / slip, tangent);
    return vec3_scale(ray, (along + mu * slip) / (1 + mu * mu));
}

static vec3 contact_missed(const group *g, const group_contact *c, jam_level level) {
    vec3 n = c->point.normal;
    if (level == JAM_PLACES) return vec3_scale(n, fmax(-c->point.gap, 0));
    if (level == JAM_RATES) return vec3_scale(n, fmax(-group_contact_gap_rate(g, c), 0));
    motion a = group_motion(g, c->a), b = group_motion(g, c->b);
    return in_cone(vec3_neg(contact_slip(&c->point, &a, &b)), n, friction_of(c));
}

double jam_missed(const group *g, jam_level level, double near, double *rows, vec3 *contacts) {
    double sum = 0;
    for (int i = 0; i < g->row_count; i++) {
        rows[i] = row_missed(g, &g->rows[i], level);
        sum += rows[i] * rows[i];
    }
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        contacts[i] = c->point.gap > near ? vec3_zero() : contact_missed(g, c, level);
        sum += vec3_length2(contacts[i]);
    }
    return sum;
}

/* Rows that count: all that hold both ways, and one-sided ones that are missed. */
static bool counts(const row *r, double missed) {
    return !gives_way(r) && (missed != 0 || (isinf(r->lo) && isinf(r->hi)));
}

/* The least squares problem of a step: columns sqrt(D) J in the space where all masses are 1, and what they
 * are to give. */
typedef struct problem {
    const group *g;
    system_space space;
    double *w, *c;
    int count;
} problem;

static void add_column(problem *p, const row *r, double weight, double c) {
    size_t n = (size_t)p->space.dimension;
    double *w = p->w + n * (size_t)p->count;
    system_space_column(&p->space, p->g, r, w);
    for (size_t k = 0; k < n; k++) w[k] *= weight;
    p->c[p->count++] = c;
}

/* D of a contact whose c is on the ray r: 1 along r; across it, along s = n x t, the projection turns with
 * -u, by mu |c| / (sqrt(1 + mu^2) |u_t|).  Where c is inside of the cone, 1 in all directions. */
static void add_cone(problem *p, const group_contact *k, vec3 c) {
    motion a = group_motion(p->g, k->a), b = group_motion(p->g, k->b);
    vec3 n = k->point.normal, x = vec3_neg(contact_slip(&k->point, &a, &b)), e[3] = {vec3_unit(c)};
    vec3 tangent = vec3_axpy(x, -vec3_dot(x, n), n);
    double mu = friction_of(k), slip = vec3_length(tangent), size = vec3_length(c), d[3] = {1, 1, 1};
    group_tangents(e[0], &e[1], &e[2]);
    if (slip > mu * vec3_dot(x, n)) {
        e[1] = vec3_unit(vec3_cross(n, tangent)), d[2] = 0;
        d[1] = mu * size / (sqrt(1 + mu * mu) * slip);
    }
    for (int i = 0; i < 3; i++) {
        row r = group_tangent_row(p->g, k, e[i]);
        if (d[i] > 0) add_column(p, &r, sqrt(d[i]), i == 0 ? size : 0);
    }
}

/* |J^T c| / (|c| max |J_i|) of the columns so far, *largest = max |J_i|^2. */
static double measure_balance(const problem *p, double *y, double *largest) {
    int n = p->space.dimension;
    double sum = 0, size = 0;
    *largest = 0;
    for (int k = 0; k < n; k++) y[k] = 0;
    for (int i = 0; i < p->count; i++) {
        const double *w = p->w + (size_t)n * (size_t)i;
        *largest = fmax(*largest, dense_dot(w, w, n));
        for (int k = 0; k < n; k++) y[k] += p->c[i] * w[k];
        size += p->c[i] * p->c[i];
    }
    for (int k = 0; k < n; k++) sum += y[k] * y[k];
    return size > 0 && *largest > 0 ? sqrt(sum / (size * *largest)) : 0;
}

abut_status jam_step(const group *g, jam_level level, const double *rows, const vec3 *contacts,
                     double damping, const group_scratch *scratch, spatial *step, double *unbalanced,
                     abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    problem p = {.g = g};
    if (!system_space_make(g, a, &p.space)) return fail_memory(error);
    size_t n = (size_t)p.space.dimension, most = (size_t)g->row_count + 3 * (size_t)g->contact_count + n + 1;
    p.w = arena_alloc(a, n * most + 1, sizeof(double)), p.c = arena_alloc(a, most, sizeof(double));
    double *y = arena_alloc(a, n + 1, sizeof(double)), largest;
    if (!p.w || !p.c || !y) return fail_memory(error);
    for (int i = 0; i < g->row_count; i++)
        if (counts(&g->rows[i], rows[i])) add_column(&p, &g->rows[i], 1, rows[i]);
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        if (!(vec3_length2(contacts[i]) > 0)) continue;
        row r = group_normal_row(g, c);
        if (level == JAM_FRICTION)
            add_cone(&p, c, contacts[i]);
        else
            add_column(&p, &r, 1, vec3_dot(contacts[i], c->point.normal));
    }
    *unbalanced = measure_balance(&p, y, &largest);
    for (size_t k = 0; k < n && damping > 0; k++, p.count++)
        p.w[n * (size_t)p.count + k] = sqrt(damping * largest), p.c[p.count] = 0;
    least_norm f;
    if (!least_norm_factor(p.w, (int)n, p.count, DENSE_RANK, a, &f)) return fail_memory(error);
    least_norm_solve_transposed(&f, p.c, y);
    const spatial none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < g->body_count; i++) step[i] = none;
    system_space_add(&p.space, g, y, step);
    arena_restore(a, mark);
    return ABUT_OK;
}

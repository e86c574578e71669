/* Constraints that leave no way out (see jam.h). */
#include "dynamics/jam.h"

#include "dynamics/solve.h"

/* A motor with a bound gives way. */
static bool gives_way(const row *r) { return isfinite(r->lo) && isfinite(r->hi); }

static double row_missed(const group *g, const row *r, jam_level level) {
    double c = level == JAM_PLACES ? -r->error : r->rate;
    if (gives_way(r)) return 0;
    if (level == JAM_RATES && r->a >= 0) c -= spatial_dot(r->ja, g->motions[r->a].velocity);
    if (level == JAM_RATES && r->b >= 0) c -= spatial_dot(r->jb, g->motions[r->b].velocity);
    return isfinite(r->lo) ? fmax(c, 0) : isfinite(r->hi) ? fmin(c, 0) : c;
}

double jam_missed(const group *g, jam_level level, double near, double *rows, double *contacts) {
    double sum = 0;
    for (int i = 0; i < g->row_count; i++) {
        rows[i] = row_missed(g, &g->rows[i], level);
        sum += rows[i] * rows[i];
    }
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        double missed = level == JAM_PLACES ? -c->point.gap : -group_contact_gap_rate(g, c);
        contacts[i] = c->point.gap > near ? 0 : fmax(missed, 0);
        sum += contacts[i] * contacts[i];
    }
    return sum;
}

/* Rows that count: all that hold both ways, and one-sided ones that are missed. */
static bool counts(const row *r, double missed) {
    return !gives_way(r) && (missed != 0 || (isinf(r->lo) && isinf(r->hi)));
}

abut_status jam_step(const group *g, const double *rows, const double *contacts, double damping,
                     const group_scratch *scratch, spatial *step, abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    system_space space;
    if (!system_space_make(g, a, &space)) return fail_memory(error);
    size_t n = (size_t)space.dimension, most = (size_t)g->row_count + (size_t)g->contact_count + n + 1;
    double *w = arena_alloc(a, n * most + 1, sizeof(double)), *c = arena_alloc(a, most, sizeof(double));
    double *y = arena_alloc(a, n + 1, sizeof(double)), largest = 0;
    if (!w || !c || !y) return fail_memory(error);
    int count = 0;
    for (int i = 0; i < g->row_count; i++)
        if (counts(&g->rows[i], rows[i])) {
            system_space_column(&space, g, &g->rows[i], w + n * (size_t)count);
            c[count++] = rows[i];
        }
    for (int i = 0; i < g->contact_count; i++)
        if (contacts[i] > 0) {
            row r = group_normal_row(g, &g->contacts[i]);
            system_space_column(&space, g, &r, w + n * (size_t)count);
            c[count++] = contacts[i];
        }
    for (int i = 0; i < count; i++)
        largest = fmax(largest, dense_dot(w + n * (size_t)i, w + n * (size_t)i, (int)n));
    for (size_t k = 0; k < n && damping > 0; k++, count++)
        w[n * (size_t)count + k] = sqrt(damping * largest), c[count] = 0;
    least_norm f;
    if (!least_norm_factor(w, (int)n, count, DENSE_RANK, a, &f)) return fail_memory(error);
    least_norm_solve_transposed(&f, c, y);
    const spatial none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < g->body_count; i++) step[i] = none;
    system_space_add(&space, g, y, step);
    arena_restore(a, mark);
    return ABUT_OK;
}

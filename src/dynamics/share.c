/* Sharing loads among redundant points (see share.h). */
#include "dynamics/share.h"

#include "abut/complementarity.h"
#include "dynamics/cones.h"

/* The unknowns that may carry something: free, or at a bound with w = 0. */
static bool carries(const group_system *s, const system_solution *sol, int i, double tolerance) {
    bool bilateral = isinf(s->lo[i]) && isinf(s->hi[i]);
    return bilateral || sol->state[i] == ABUT_LCP_FREE || fabs(sol->w[i]) <= tolerance * sol->scale;
}

/* The columns of the listed unknowns, each times scale[i] where that is given. */
static double *gather(const dense *d, const int *list, int count, const double *scale, arena *scratch) {
    int n = d->space.dimension;
    double *m = arena_alloc(scratch, (size_t)n * count + 1, sizeof(double));
    for (int i = 0; m && i < count; i++)
        for (int k = 0; k < n; k++)
            m[(size_t)n * i + k] = d->v[(size_t)n * list[i] + k] * (scale ? scale[i] : 1);
    return m;
}

/* y += sum of z_i v_i over the list */
static void add_columns(const dense *d, const int *list, int count, const double *z, double sign, double *y) {
    int n = d->space.dimension;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < n; k++) y[k] += sign * z[list[i]] * d->v[(size_t)n * list[i] + k];
}

/* y += V z sign */
static void push_all(const dense *d, const double *z, double sign, double *y) {
    for (int i = 0; i < d->s->count; i++)
        if (z[i] != 0) dense_push(d, i, sign * z[i], y);
}

/* ---- least norm */

/* Times that a distribution is refined: small forces beside loads 1e12 times larger are right to 1e-9. */
enum { REFINED = 2 };

/* z += A^+ (y - A z) for the listed columns A, which was found for z = 0. */
static void refine(const dense *d, const int *list, int count, const least_norm *f, const double *y,
                   double *rest, double *more, double *part) {
    int n = d->space.dimension;
    for (int round = 0; round < REFINED; round++) {
        memcpy(rest, y, (size_t)n * sizeof(double));
        for (int i = 0; i < count; i++)
            for (int k = 0; k < n; k++) rest[k] -= part[i] * d->v[(size_t)n * list[i] + k];
        least_norm_solve(f, rest, more);
        for (int i = 0; i < count; i++) part[i] += more[i];
    }
}

/* One step of the search: the least norm of the unknowns marked `in`, the others keep their z.  p are the
 * multipliers of V z = y: the marked ones are z_i = v_i . p. */
static bool solve_marked(const dense *d, const bool *in, const double *y, arena *scratch, double *z,
                         double *p, least_norm *f, int *list, int *count) {
    const group_system *s = d->s;
    int n = d->space.dimension;
    *count = 0;
    double *rest = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *part = arena_alloc(scratch, (size_t)s->count + 1, sizeof(double));
    double *left = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *more = arena_alloc(scratch, (size_t)s->count + 1, sizeof(double));
    if (!rest || !part || !left || !more) return false;
    memcpy(rest, y, (size_t)n * sizeof(double));
    for (int i = 0; i < s->count; i++) {
        if (in[i])
            list[(*count)++] = i;
        else if (z[i] != 0)
            for (int k = 0; k < n; k++) rest[k] -= z[i] * d->v[(size_t)n * i + k];
    }
    double *m = gather(d, list, *count, NULL, scratch);
    if (!m || !least_norm_factor(m, n, *count, DENSE_RANK, scratch, f)) return false;
    least_norm_solve(f, rest, part);
    refine(d, list, *count, f, rest, left, more, part);
    least_norm_solve_transposed(f, part, p);
    for (int i = 0; i < *count; i++) z[list[i]] = part[i];
    return true;
}

/* The worst bound broken by a marked unknown, else the unknown at a bound that least norm would take off it.
 */
static int next_change(const dense *d, const bool *may, const bool *in, const double *z, const double *p,
                       double tiny) {
    const group_system *s = d->s;
    int n = d->space.dimension, worst = -1;
    double most = tiny;
    for (int i = 0; i < s->count; i++)
        if (in[i]) {
            double out = fmax(s->lo[i] - z[i], z[i] - s->hi[i]);
            if (out > most) most = out, worst = i;
        }
    if (worst >= 0) return worst;
    for (int i = 0; i < s->count; i++)
        if (may[i] && !in[i]) {
            double wish = dense_dot(d->v + (size_t)n * i, p, n);
            double inward = z[i] <= s->lo[i] ? wish - s->lo[i] : s->hi[i] - wish;
            if (inward > most) most = inward, worst = i;
        }
    return worst;
}

static double largest_carried(const group_system *s, const double *z) {
    double most = 0;
    for (int i = 0; i < s->count; i++) most = fmax(most, fabs(z[i]));
    return most;
}

/* |V z - V z0| relative to |V z0| stays at rounding when the marked set can still carry the load. */
static bool still_carries(const dense *d, const double *z, const double *y, arena *scratch) {
    int n = d->space.dimension;
    double *left = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    if (!left) return false;
    memcpy(left, y, (size_t)n * sizeof(double));
    push_all(d, z, -1, left);
    return dense_dot(left, left, n) <= 1e-18 * dense_dot(y, y, n) + 1e-300;
}

/* The search with dense matrices, from all that may carry: the worst change first. */
static bool dense_norm(const dense *d, const bool *may, const system_solution *sol, double tiny,
                       arena *scratch, double *z, bool *determined, bool *found) {
    const group_system *s = d->s;
    size_t m = (size_t)s->count + 1, n = (size_t)d->space.dimension + 1;
    bool *in = arena_alloc(scratch, m, 1);
    int *list = arena_alloc(scratch, m, sizeof(int));
    double *y = arena_alloc(scratch, n, sizeof(double)), *p = arena_alloc(scratch, n, sizeof(double));
    if (!in || !list || !y || !p) return false;
    for (int i = 0; i < s->count; i++) in[i] = may[i], z[i] = sol->z[i];
    for (int i = 0; i < s->count && determined; i++) determined[i] = true;
    push_all(d, sol->z, 1, y);
    *found = false;
    for (int step = 0; step < 3 * s->count + 10; step++) {
        arena_mark mark = arena_save(scratch);
        least_norm f;
        int count;
        if (!solve_marked(d, in, y, scratch, z, p, &f, list, &count)) return false;
        for (int i = 0; step == 0 && determined && i < count; i++) /* all are marked: what is left open */
            determined[list[i]] = least_norm_openness(&f, i) < 1e-9;
        int change = next_change(d, may, in, z, p, tiny);
        bool possible = still_carries(d, z, y, scratch);
        arena_restore(scratch, mark);
        *found = possible && change < 0;
        if (!possible || change < 0) return true;
        in[change] = !in[change];
        if (!in[change]) z[change] = z[change] < s->lo[change] ? s->lo[change] : s->hi[change];
    }
    return true;
}

/* Whether every body bears the same force in z and in the solution z0, to a small part of what acts on it.
 * What is rounding above is so for the whole group: points of a kilogram on 1e18 kg may have come to pull as
 * much as ten times its weight, and what is taken from them to the bound is missing. */
#define SAME_LOAD 1e-6

static bool same_loads(const group_system *s, const double *z, const double *z0, arena *scratch, bool *same) {
    size_t bodies = (size_t)s->g->body_count + 1;
    vec3 *off = arena_alloc(scratch, bodies, sizeof *off);
    double *load = arena_alloc(scratch, bodies, sizeof *load);
    if (!off || !load) return false;
    for (int i = 0; i < s->count; i++)
        for (int side = 0; side < 2; side++) {
            const row *r = &s->columns[i];
            int body = side ? r->b : r->a;
            vec3 push = side ? r->jb.linear : r->ja.linear;
            if (body < 0) continue;
            off[body] = vec3_axpy(off[body], z[i] - z0[i], push);
            load[body] += fabs(z0[i]) * vec3_length(push);
        }
    *same = true;
    for (int i = 0; i < s->g->body_count; i++)
        if (s->g->inertias[i].inverse_mass > 0 && vec3_length(off[i]) > SAME_LOAD * load[i]) *same = false;
    return true;
}

bool share_least_norm(dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                      bool *determined) {
    const group_system *s = d->s;
    bool *may = arena_alloc(scratch, (size_t)s->count + 1, 1), found = false;
    if (!may) return false;
    for (int i = 0; i < s->count; i++) may[i] = carries(s, sol, i, tolerance);
    double tiny = 1e-12 * largest_carried(s, sol->z);
    if (s->count <= SHARE_DENSE) {
        if (!dense_fill(d, scratch) || !dense_norm(d, may, sol, tiny, scratch, z, determined, &found))
            return false;
    } else if (!share_norm(d, may, sol->z, 1e2 * tiny, scratch, z, determined, &found)) {
        return false;
    }
    for (int i = 0; i < s->count; i++) z[i] = fmin(fmax(z[i], s->lo[i]), s->hi[i]);
    if (found && !same_loads(s, z, sol->z, scratch, &found)) return false;
    /* where the search lost its way the solution itself is admissible */
    if (!found) memcpy(z, sol->z, (size_t)s->count * sizeof *z);
    return true;
}

/* ---- margins of sticking cones */

double share_tiny(const group_system *s, const double *z) { return 1e-11 * largest_carried(s, z); }

double share_cone_margin(const group_system *s, const cone *k, const double *z, double tiny) {
    if (k->mode != FRICTION_STICK || s->normal_of[k->contact] < 0) return 1;
    double force = vec3_length(system_cone_force(s, k, z)), limit = k->stick * z[s->normal_of[k->contact]];
    if (force <= tiny) return 1;
    return 1 - force / fmax(limit, tiny);
}

/* The smallest of all cones; -1 where a bound is broken (a pulling contact). */
static double smallest_margin(const group_system *s, const double *z) {
    double least = 1, tiny = 1e-12 * largest_carried(s, z);
    for (int i = 0; i < s->count; i++)
        if (z[i] < s->lo[i] - tiny || z[i] > s->hi[i] + tiny) return -1;
    for (int k = 0; k < s->cone_count; k++)
        least = fmin(least, share_cone_margin(s, &s->cones[k], z, 10 * tiny));
    return least;
}

/* Friction in proportion to pressure: the T with least sum |T|^2 / (g_k stick N), g_k = 1 at first, N as in
 * z.  For a translation all T_k / N_k come out equal, as Coulomb's law has it at the onset of slip.  Then g_k
 * grows where the cone is exceeded, so that the largest T / N sinks. */
static bool reweigh(const dense *d, int steps, arena *scratch, double *z) {
    const group_system *s = d->s;
    int n = d->space.dimension, count = 0;
    size_t m = (size_t)s->count + 1;
    int *list = arena_alloc(scratch, m, sizeof(int));
    double *weight = arena_alloc(scratch, m, sizeof(double)), *part = arena_alloc(scratch, m, sizeof(double));
    double *best = arena_alloc(scratch, m, sizeof(double)),
           *y = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *gain = arena_alloc(scratch, (size_t)s->cone_count + 1, sizeof(double));
    if (!list || !weight || !part || !best || !y || !gain) return false;
    for (int i = 0; i < s->count; i++)
        if (isinf(s->lo[i]) && isinf(s->hi[i])) list[count++] = i;
    add_columns(d, list, count, z, 1, y);
    memcpy(best, z, (size_t)s->count * sizeof(double));
    for (int k = 0; k < s->cone_count; k++) gain[k] = 1;

    for (int step = 0; step < steps; step++) {
        arena_mark mark = arena_save(scratch);
        for (int i = 0; i < count; i++) weight[i] = 1;
        for (int k = 0; k < s->cone_count; k++) {
            const cone *law = &s->cones[k];
            for (int i = 0; i < count; i++)
                if (law->mode == FRICTION_STICK && list[i] >= law->first &&
                    list[i] < law->first + law->dimension)
                    weight[i] = sqrt(fmax(law->stick * z[s->normal_of[law->contact]], 0) * gain[k]);
        }
        double *v = gather(d, list, count, weight, scratch);
        least_norm f;
        if (!v || !least_norm_factor(v, n, count, DENSE_RANK, scratch, &f)) return false;
        least_norm_solve(&f, y, part);
        arena_restore(scratch, mark);
        for (int i = 0; i < count; i++) z[list[i]] = part[i] * weight[i];
        /* a cone without pressure cannot help; if the others cannot carry alone, V z changes and this is no
         * answer */
        double margin = smallest_margin(s, z);
        if (margin > smallest_margin(s, best)) memcpy(best, z, (size_t)s->count * sizeof(double));
        if (margin >= 0) break;
        double tiny = share_tiny(s, z);
        for (int k = 0; k < s->cone_count; k++)
            gain[k] *= fmin(fmax(1 - share_cone_margin(s, &s->cones[k], z, tiny), 0.1), 10);
    }
    memcpy(z, best, (size_t)s->count * sizeof(double));
    return true;
}

/* Nearest point of the cone |T| <= mu N. */
static void into_cone(double mu, double *normal, double *t, int dimension) {
    double size = sqrt(dense_dot(t, t, dimension)), n = *normal;
    if (size <= mu * n) return;
    double along = mu * size + n;
    if (along <= 0) {
        *normal = 0;
        for (int i = 0; i < dimension; i++) t[i] = 0;
        return;
    }
    *normal = along / (1 + mu * mu);
    for (int i = 0; i < dimension; i++) t[i] *= mu * *normal / size;
}

/* Nearest admissible multipliers: friction inside its cone, which bounds the normal too; bounds for the rest.
 */
static void into_bounds(const group_system *s, double *z) {
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        if (law->mode != FRICTION_STICK) continue;
        into_cone(law->stick * (1 - 1e-9), &z[s->normal_of[law->contact]], z + law->first, law->dimension);
    }
    for (int i = 0; i < s->count; i++) z[i] = fmin(fmax(z[i], s->lo[i]), s->hi[i]);
}

/* Reflections (Douglas and Rachford) between the cones K and the affine set L of all z with V z = y:
 *     x <- x + P_L(2 P_K x - x) - P_K x
 * until P_L P_K x lies in all cones.  Works where the two sets meet in little more than a point.  Where they
 * do not meet the step does not shrink, not even after many: that is looked at each time their number has
 * grown four times. */
static bool reflect(const dense *d, const bool *may, const double *y, int steps, arena *scratch, double *z) {
    const group_system *s = d->s;
    int n = d->space.dimension, count = 0;
    size_t m = (size_t)s->count + 1, bytes = (size_t)s->count * sizeof(double);
    int *list = arena_alloc(scratch, m, sizeof(int));
    double *part = arena_alloc(scratch, m, sizeof(double)),
           *left = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    double *x = arena_alloc(scratch, m, sizeof(double)), *inside = arena_alloc(scratch, m, sizeof(double));
    if (!list || !part || !left || !x || !inside) return false;
    for (int i = 0; i < s->count; i++)
        if (may[i]) list[count++] = i;
    double *v = gather(d, list, count, NULL, scratch);
    least_norm f;
    if (!v || !least_norm_factor(v, n, count, DENSE_RANK, scratch, &f)) return false;
    memcpy(x, z, bytes);
    double last_gap = INFINITY;
    for (int step = 0, mark = 128; step < steps; step++) {
        memcpy(inside, x, bytes);
        into_bounds(s, inside);
        bool look = step % 8 == 0; /* at P_L P_K x; otherwise P_L (2 P_K x - x) */
        for (int i = 0; i < s->count; i++) z[i] = look ? inside[i] : 2 * inside[i] - x[i];
        memcpy(left, y, (size_t)n * sizeof(double));
        add_columns(d, list, count, z, -1, left);
        least_norm_solve(&f, left, part);
        for (int i = 0; i < count; i++) z[list[i]] += part[i];
        if (look) {
            if (smallest_margin(s, z) >= 0) return true;
            continue;
        }
        double gap = 0;
        for (int i = 0; i < count; i++) {
            double move = z[list[i]] - inside[list[i]];
            x[list[i]] += move, gap += move * move;
        }
        if (step < mark) continue;
        if (gap > 0.7 * last_gap) break;
        last_gap = gap, mark *= 4;
    }
    memcpy(z, inside, bytes);
    return true;
}

/* The ways to a distribution, in this order; in large groups the cone program comes before all others. */
typedef enum stage { LEAST, REWEIGHED, CONES, REFLECTED, STAGES } stage;

typedef struct attempt {
    dense *d;
    const system_solution *sol;
    double tolerance;
    arena *scratch;
    bool *may;
    double *y, *least; /* V z; that of least norm, once it is known */
    bool knows_least, none;
} attempt;

/* The distribution of a stage; false when memory is out. */
static bool try_stage(attempt *t, stage which, double *z) {
    const group_system *s = t->d->s;
    size_t bytes = (size_t)s->count * sizeof(double);
    bool inside;
    if (which == CONES) {
        memcpy(z, t->sol->z, bytes);
        return cones_share(t->d, t->may, t->y, t->scratch, z, &inside, &t->none);
    }
    if (!t->knows_least && !share_least_norm(t->d, t->sol, t->tolerance, t->scratch, t->least, NULL))
        return false;
    t->knows_least = true;
    memcpy(z, t->least, bytes);
    if (which == LEAST) return true;
    if (!dense_fill(t->d, t->scratch)) return false;
    if (which == REWEIGHED) return reweigh(t->d, 20, t->scratch, z);
    return reflect(t->d, t->may, t->y, 4000, t->scratch, z);
}

double share_margin(dense *d, const system_solution *sol, double tolerance, arena *scratch, double *z,
                    bool *memory) {
    const group_system *s = d->s;
    size_t m = (size_t)s->count + 1;
    memcpy(z, sol->z, (size_t)s->count * sizeof(double));
    *memory = true;
    double margin = smallest_margin(s, z);
    if (margin >= 0) return margin;

    attempt t = {.d = d, .sol = sol, .tolerance = tolerance, .scratch = scratch};
    t.may = arena_alloc(scratch, m, 1);
    t.least = arena_alloc(scratch, m, sizeof(double));
    t.y = arena_alloc(scratch, (size_t)d->space.dimension + 1, sizeof(double));
    double *trial = arena_alloc(scratch, m, sizeof(double));
    *memory = t.may && t.least && t.y && trial;
    if (!*memory) return margin;
    for (int i = 0; i < s->count; i++) t.may[i] = carries(s, sol, i, tolerance);
    push_all(d, sol->z, 1, t.y);

    /* the cone program decides; next to the onset of slip the others see a digit or two more */
    bool small = s->count <= SHARE_FEW, known = cones_know(s);
    static const stage orders[2][STAGES] = {{CONES, LEAST, REWEIGHED, REFLECTED},
                                            {LEAST, REWEIGHED, CONES, REFLECTED}};
    for (int i = 0; i < STAGES && margin < 0 && !t.none; i++) {
        stage which = orders[small][i];
        if ((which == CONES && !known) || (which == REFLECTED && known) ||
            (which == REWEIGHED && s->count > SHARE_DENSE))
            continue;
        *memory = try_stage(&t, which, trial);
        if (!*memory) return margin;
        double found = smallest_margin(s, trial);
        if (found > margin && still_carries(d, trial, t.y, scratch))
            margin = found, memcpy(z, trial, (size_t)s->count * sizeof(double));
    }
    return margin;
}

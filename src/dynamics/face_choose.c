/* Whether faces stick or slip, and how they begin to (see face.h).
 *
 * A face that moves slips.  The others stick if the wrench that this takes is inside the limit surface.  A
 * face that cannot begins to slip in the twist r of its own acceleration,
 *
 *     r = R(r),   R: the acceleration in the plane with the friction of the slip r/|r|
 *
 * which for a given pressure is the least of a strictly convex function, so that Newton's method finds it:
 * 1 - R' has the eigenvalues of 1 + (mobility) (Hessian of H). */
#include "dynamics/face.h"
#include "numerics/least_norm.h"

#include <math.h>

/* Rounds of modes, steps and halvings of Newton's method. */
enum { ROUNDS = 8, STEPS = 30, HALVINGS = 8 };
/* A sticking face may use this much more than its limit surface: rounding, less than FORCES_ALLOWANCE. */
#define ROOM 1e-10

typedef struct search {
    group *g;
    const forces_config *config;
    const group_scratch *scratch;
    spatial *accelerations;
    contact_load *loads;
    double *multipliers;
    forces_result *result;
    bool *candidate; /* per face */
    int *list;       /* of the faces that begin to slip, */
    int count;       /* three numbers each in r */
} search;

static double norm(const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* A face that moves gets SLIP, another one STICK, to be tried. */
static void classify(search *t) {
    for (int i = 0; i < t->g->face_count; i++) {
        group_face *f = &t->g->faces[i];
        double slip[3], slowest = f->mode == FRICTION_STICK ? fmax(f->slow, t->config->slip_speed)
                                                            : t->config->slip_speed;
        face_twist(t->g, f, slip);
        double speed = norm(slip, 3);
        bool rough = f->friction.stick > 0 || f->friction.slide > 0, moves = rough && speed > slowest;
        t->candidate[i] = rough && !moves;
        for (int k = 0; k < 3 && moves; k++) slip[k] /= speed;
        face_set_mode(t->g, i,
                      !rough  ? FRICTION_FREE
                      : moves ? FRICTION_SLIP
                              : FRICTION_STICK,
                      moves ? slip : NULL);
    }
}

/* Load and wrench of a face, from those of its places. */
static void add_up(const search *t, int face, double load[3], double wrench[3]) {
    const group_face *f = &t->g->faces[face];
    memset(load, 0, 3 * sizeof(double)), memset(wrench, 0, 3 * sizeof(double));
    for (int i = 0; i < t->g->contact_count; i++) {
        const group_contact *c = &t->g->contacts[i];
        const contact_load *l = &t->loads[i];
        double x[3];
        if (c->face != face + 1) continue;
        face_coordinates(f, c->point.at, x);
        for (int k = 0; k < 3; k++) load[k] += l->normal * x[k];
        for (int k = 0; k < 2; k++) wrench[k] += vec3_dot(l->friction, f->axis[k]);
        vec3 torque = vec3_add(l->torque, vec3_cross(vec3_sub(c->point.at, f->point.at), l->friction));
        wrench[2] += vec3_dot(torque, f->point.normal) / f->size;
    }
}

/* Sticking faces that cannot: they slip against the twist that the limit surface yields to. */
static abut_status let_slip(search *t, int *changed, abut_error *error) {
    *changed = 0;
    for (int i = 0; i < t->g->face_count; i++) {
        if (!t->candidate[i] || t->g->faces[i].mode != FRICTION_STICK) continue;
        double load[3], wrench[3], q[3] = {0, 0, 0}, use;
        add_up(t, i, load, wrench);
        if (!face_use(&t->g->faces[i], load, wrench, t->scratch->arena, q, &use)) return fail_memory(error);
        if (use <= 1 + ROOM) continue;
        double size = norm(q, 3);
        for (int k = 0; k < 3; k++) q[k] /= -size;
        face_set_mode(t->g, i, FRICTION_SLIP, q);
        ++*changed;
    }
    return ABUT_OK;
}

/* R(r) for the directions of r; those that are zero keep theirs. */
static abut_status respond(search *t, const double *r, double *out, abut_error *error) {
    forces_config config = *t->config;
    config.no_margins = true, config.distribute = false, config.slip_speed = INFINITY;
    for (int j = 0; j < t->count; j++) {
        group_face *f = &t->g->faces[t->list[j]];
        double size = norm(r + 3 * j, 3);
        for (int k = 0; k < 3 && size > 0; k++) f->along[k] = r[3 * j + k] / size;
    }
    abut_status status =
        forces_solve(t->g, &config, t->scratch, t->accelerations, t->loads, t->multipliers, t->result, error);
    for (int j = 0; j < t->count && status == ABUT_OK; j++)
        face_twist_rate(t->g, &t->g->faces[t->list[j]], t->accelerations, out + 3 * j);
    return status;
}

/* One step of Newton's method for r = R(r); `miss` is r - R(r). */
static abut_status newton_step(search *t, double *r, double *miss, bool *better, abut_error *error) {
    arena *a = t->scratch->arena;
    int n = 3 * t->count;
    double *jacobian = arena_alloc(a, (size_t)n * n + 1, sizeof(double));
    double *array = arena_alloc(a, 3 * (size_t)n + 1, sizeof(double));
    if (!jacobian || !array) return fail_memory(error);
    double *beside = array, *next = beside + n, *move = next + n, before = norm(miss, n);
    for (int j = 0; j < n; j++) {
        double e = 1e-6 * norm(r + 3 * (j / 3), 3);
        memcpy(beside, r, (size_t)n * sizeof(double));
        beside[j] += e;
        abut_status status = respond(t, beside, next, error);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < n; i++)
            jacobian[(size_t)n * j + i] = e > 0 ? (beside[i] - next[i] - miss[i]) / e : i == j;
    }
    least_norm factor;
    if (!least_norm_factor(jacobian, n, n, 1e-12, a, &factor)) return fail_memory(error);
    least_norm_solve(&factor, miss, move);
    *better = false;
    double part = 1;
    for (int halving = 0; halving < HALVINGS && !*better; halving++, part /= 2) {
        for (int i = 0; i < n; i++) beside[i] = r[i] - part * move[i];
        abut_status status = respond(t, beside, next, error);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < n; i++) next[i] = beside[i] - next[i];
        *better = norm(next, n) < before;
    }
    if (!*better) return ABUT_OK;
    memcpy(r, beside, (size_t)n * sizeof(double)), memcpy(miss, next, (size_t)n * sizeof(double));
    return ABUT_OK;
}

/* The twists in which the candidates that slip begin to.  *found is false where one would not move that way.
 */
static abut_status find_slips(search *t, bool *found, abut_error *error) {
    arena *a = t->scratch->arena;
    int n = 3 * t->count;
    double *r = arena_alloc(a, (size_t)n + 1, sizeof(double));
    double *miss = arena_alloc(a, (size_t)n + 1, sizeof(double));
    if (!r || !miss) return fail_memory(error);
    abut_status status = respond(t, miss, r, error); /* miss = 0: the directions of the limit surfaces */
    if (status == ABUT_OK) status = respond(t, r, miss, error);
    for (int i = 0; i < n; i++) miss[i] = r[i] - miss[i];
    bool better = true;
    for (int step = 0; status == ABUT_OK && step < STEPS && better; step++) {
        if (norm(miss, n) <= 1e-11 * norm(r, n)) break;
        arena_mark mark = arena_save(a);
        status = newton_step(t, r, miss, &better, error);
        arena_restore(a, mark);
    }
    if (status == ABUT_OK) status = respond(t, r, miss, error); /* leaves the directions of r */
    *found = true;
    for (int j = 0; j < t->count && status == ABUT_OK; j++) {
        double dot = 0;
        for (int k = 0; k < 3; k++) dot += r[3 * j + k] * miss[3 * j + k];
        if (dot < 0) { /* friction would drive it: it sticks after all */
            face_set_mode(t->g, t->list[j], FRICTION_STICK, NULL);
            t->candidate[t->list[j]] = *found = false;
        }
    }
    return status;
}

static void list_slipping(search *t) {
    t->count = 0;
    for (int i = 0; i < t->g->face_count; i++)
        if (t->candidate[i] && t->g->faces[i].mode == FRICTION_SLIP) t->list[t->count++] = i;
}

abut_status face_choose(group *g, const forces_config *config, const group_scratch *scratch,
                        face_inner *choose, spatial *accelerations, contact_load *loads, double *multipliers,
                        forces_result *result, abut_error *error) {
    arena *a = scratch->arena;
    arena_mark mark = arena_save(a);
    search t = {g, config, scratch, accelerations, loads, multipliers, result, NULL, NULL, 0};
    t.candidate = arena_alloc(a, (size_t)g->face_count + 1, sizeof(bool));
    t.list = arena_alloc(a, (size_t)g->face_count + 1, sizeof(int));
    abut_status status = t.candidate && t.list ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) classify(&t);
    for (int round = 0; round < ROUNDS && status == ABUT_OK; round++) {
        int changed = 0;
        bool found = true;
        status = choose(g, config, scratch, accelerations, loads, multipliers, result, error);
        if (status != ABUT_OK || result->outcome == FORCES_NO_FINITE_FORCE ||
            result->outcome == FORCES_BUDGET)
            break;
        status = let_slip(&t, &changed, error);
        list_slipping(&t);
        if (status == ABUT_OK && changed > 0) status = find_slips(&t, &found, error);
        if (changed == 0 && found) break;
    }
    arena_restore(a, mark);
    return status;
}

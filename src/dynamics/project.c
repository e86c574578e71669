/* Drift correction (see project.h).
 *
 * In the space where all masses are 1 the nearest point of J d = c is the least-squares solution of least
 * norm: W^T y = c,   y = (W^T)^+ c,   d = M^-1/2 y,   W = M^-1/2 J^T */
#include "dynamics/project.h"

#include "dynamics/solve.h"
#include "numerics/coupled.h"

/* Up to so many rows the dense decomposition is as quick, and knows the rank. */
enum { FEW_ROWS = 30 };

/* Rows that differ by less than a 10^4th ask for more than 10^4 times their error: corners of faces that lie
 * on each other nearly, but not quite, in one plane.  What rounding makes of their gaps (1e-13) would push
 * the bodies aside along the faces (1e-6), and what it makes of their rates would stop them there.  Such rows
 * count as dependent, and keep the error in which they differ.  Where a point sticks the bodies are held
 * along their faces, and every row counts; but only while the errors are rounding (of places, 1e-11 of their
 * size): one point that sticks does not hold all pairs of the group, and of an error of a nanometre 1e4 times
 * as much is seen. */
#define MOST_AMPLIFIED  1e4
#define LEAST_AMPLIFIED 30 /* where that moved bodies too far */
#define ROUNDING        1e-11

static bool any_sticks(const group *g) {
    for (int i = 0; i < g->contact_count; i++)
        if (g->contacts[i].pressed && g->contacts[i].mode == FRICTION_STICK) return true;
    return false;
}

typedef struct constraints {
    row *rows;
    double *wanted; /* J d, or J (v+ - v) */
    int count;
} constraints;

static bool constraints_make(const group *g, arena *scratch, constraints *out) {
    size_t most = (size_t)g->row_count + 6 * (size_t)g->contact_count + 1;
    out->rows = arena_alloc(scratch, most, sizeof(row));
    out->wanted = arena_alloc(scratch, most, sizeof(double));
    out->count = 0;
    return out->rows && out->wanted;
}

static void add(constraints *list, row r, double wanted) {
    list->rows[list->count] = r;
    list->wanted[list->count++] = wanted;
}

/* A row that holds: bilateral, or a limit or motor that is not at a bound. */
static bool holds(const group *g, int i) {
    const row *r = &g->rows[i];
    if (isinf(r->lo) && isinf(r->hi)) return true;
    return r->lo < r->hi && (!g->row_states || g->row_states[i] == 0);
}

/* Where the anchors stand apart: A's minus B's. */
static vec3 anchor_error(const group *g, const group_contact *c) {
    motion a = group_motion(g, c->a), b = group_motion(g, c->b);
    return vec3_sub(vec3_add(a.center, quat_rotate(a.rotation, c->anchor_a)),
                    vec3_add(b.center, quat_rotate(b.rotation, c->anchor_b)));
}

static void add_position_rows(const group *g, constraints *list) {
    for (int i = 0; i < g->row_count; i++) {
        bool motor = isfinite(g->rows[i].lo) && isfinite(g->rows[i].hi);
        if (holds(g, i) && !motor) add(list, g->rows[i], -g->rows[i].error);
    }
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        if (!c->pressed) continue;
        add(list, group_normal_row(g, c), -c->point.gap);
        if (c->mode != FRICTION_STICK || !c->anchored) continue;
        vec3 t1, t2, apart = anchor_error(g, c);
        group_tangents(c->point.normal, &t1, &t2);
        add(list, group_tangent_row(g, c, t1), -vec3_dot(t1, apart));
        add(list, group_tangent_row(g, c, t2), -vec3_dot(t2, apart));
    }
}

static void add_velocity_rows(const group *g, const spatial *v, constraints *list) {
    for (int i = 0; i < g->row_count; i++)
        if (holds(g, i)) add(list, g->rows[i], g->rows[i].rate - row_dot(&g->rows[i], v));
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        if (!c->pressed) continue;
        vec3 t[2], n = c->point.normal;
        group_tangents(n, &t[0], &t[1]);
        row r = group_normal_row(g, c);
        add(list, r, -row_dot(&r, v));
        for (int k = 0; k < 2; k++) {
            r = group_tangent_row(g, c, t[k]);
            if (c->mode == FRICTION_STICK) add(list, r, -row_dot(&r, v));
            r = group_spin_row(g, c, t[k]);
            if (c->rolling == FRICTION_STICK) add(list, r, -row_dot(&r, v));
        }
        r = group_spin_row(g, c, n);
        if (c->spinning == FRICTION_STICK) add(list, r, -row_dot(&r, v));
    }
}

/* The size of the numbers that meet in an error: places and speeds, and 1 for directions. */
static double extent(const group *g) {
    double most = 1;
    for (int i = 0; i < g->body_count; i++)
        most =
            fmax(most, fmax(vec3_max_abs(g->motions[i].center), vec3_max_abs(g->motions[i].velocity.linear)));
    return most;
}

/* y = (W^T)^+ wanted over the bodies: of all y = W z the one with least |W^T y - wanted|.  *found is false
 * where rows nearly depend on each other.  False when memory is out. */
static bool correct_over_bodies(const group *g, const constraints *list, const system_space *space,
                                arena *scratch, double *y, bool *found) {
    coupled c;
    double scale = 0;
    coupled_row *rows = arena_alloc(scratch, (size_t)list->count + 1, sizeof *rows);
    for (int i = 0; rows && i < list->count; i++) {
        int first[2];
        system_space_parts(space, g, &list->rows[i], first, rows[i].w);
        memcpy(rows[i].v, rows[i].w, sizeof rows[i].v);
        for (int k = 0; k < 2; k++) rows[i].block[k] = first[k] >= 0 ? first[k] / BLOCK_SIDE : -1;
        rows[i].b = -list->wanted[i], rows[i].holds = true;
        scale = fmax(scale, fabs(list->wanted[i]));
    }
    if (!rows || !coupled_make(space->dimension / BLOCK_SIDE, rows, list->count, scratch, &c)) return false;
    c.slight = INFINITY; /* the errors of redundant rows are rounding: of any size beside each other */
    *found = coupled_solve(&c, scale);
    memcpy(y, c.y, (size_t)space->dimension * sizeof(double));
    return true;
}

/* The same densely, for any rank. */
static bool correct_densely(const group *g, const constraints *list, const system_space *space,
                            arena *scratch, double *y, int *rank) {
    size_t n = (size_t)space->dimension;
    double *w = arena_alloc(scratch, n * list->count + 1, sizeof(double));
    least_norm f;
    for (int i = 0; w && i < list->count; i++) system_space_column(space, g, &list->rows[i], w + n * i);
    if (!w || !least_norm_factor(w, space->dimension, list->count, DENSE_RANK, scratch, &f)) return false;
    least_norm_solve_transposed(&f, list->wanted, y);
    *rank = f.rank;
    return true;
}

/* Lengths of the rows, and whether y is out of proportion to what is wanted of them. */
static bool is_amplified(const group *g, const constraints *list, const system_space *space, const double *y,
                         double amplified, double *lengths) {
    double most = 0;
    for (int i = 0; i < list->count; i++) {
        int first[2];
        double value[2][6], sum = 0;
        system_space_parts(space, g, &list->rows[i], first, value);
        for (int k = 0; k < 2; k++)
            if (first[k] >= 0) sum += dense_dot(value[k], value[k], 6);
        lengths[i] = sqrt(sum);
        if (sum > 0) most = fmax(most, fabs(list->wanted[i]) / lengths[i]);
    }
    return dense_dot(y, y, space->dimension) > amplified * amplified * most * most;
}

/* y again where it is amplified, with rows of length 1 and without those that nearly depend on others. */
static bool correct_roughly(const group *g, const constraints *list, const system_space *space,
                            double amplified, arena *scratch, double *y, int *rank) {
    size_t n = (size_t)space->dimension, count = (size_t)list->count;
    double *wanted = arena_alloc(scratch, 2 * count + 1, sizeof(double)), *lengths = wanted + count;
    if (!wanted) return false;
    if (!is_amplified(g, list, space, y, amplified, lengths)) return true;
    double *w = arena_alloc(scratch, n * count + 1, sizeof(double));
    least_norm f;
    for (size_t i = 0; w && i < count; i++) {
        double by = lengths[i] > 0 ? 1 / lengths[i] : 0;
        system_space_column(space, g, &list->rows[i], w + n * i);
        for (size_t k = 0; k < n; k++) w[n * i + k] *= by;
        wanted[i] = by * list->wanted[i];
    }
    if (!w || !least_norm_factor(w, (int)n, (int)count, 1 / amplified, scratch, &f)) return false;
    least_norm_solve_transposed(&f, wanted, y);
    *rank = f.rank;
    return true;
}

/* out += M^-1/2 (W^T)^+ wanted */
static abut_status correct(const group *g, const constraints *list, double amplified, arena *scratch,
                           spatial *out, project_result *result, abut_error *error) {
    system_space space;
    if (!system_space_make(g, scratch, &space)) return fail_memory(error);
    double *y = arena_alloc(scratch, (size_t)space.dimension + 1, sizeof(double));
    if (!y) return fail_memory(error);
    *result = (project_result){.rank = -1, .rows = list->count};
    bool found = false;
    if (list->count > FEW_ROWS && !correct_over_bodies(g, list, &space, scratch, y, &found))
        return fail_memory(error);
    if (!found && !correct_densely(g, list, &space, scratch, y, &result->rank)) return fail_memory(error);
    for (int i = 0; i < list->count; i++) result->before = fmax(result->before, fabs(list->wanted[i]));
    if ((!any_sticks(g) || result->before > ROUNDING * extent(g)) &&
        !correct_roughly(g, list, &space, amplified, scratch, y, &result->rank))
        return fail_memory(error);
    spatial *shift = arena_alloc(scratch, (size_t)g->body_count + 1, sizeof *shift);
    if (!shift) return fail_memory(error);
    system_space_add(&space, g, y, shift);
    for (int i = 0; i < list->count; i++) {
        double left = list->wanted[i] - row_dot(&list->rows[i], shift);
        result->remaining = fmax(result->remaining, fabs(left));
    }
    for (int i = 0; i < g->body_count; i++) out[i] = spatial_add(out[i], shift[i]);
    /* redundant rows agree only to the square of their errors and to rounding; rows that contradict each
     * other keep most of theirs */
    if (result->remaining > 0.1 * result->before && result->before > ROUNDING * extent(g))
        result->outcome = PROJECT_INCONSISTENT;
    return ABUT_OK;
}

abut_status project_positions(const group *g, const group_scratch *scratch, bool roughly,
                              spatial *displacements, project_result *result, abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    constraints list;
    abut_status status = ABUT_OK;
    const spatial none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < g->body_count; i++) displacements[i] = none;
    if (!constraints_make(g, scratch->arena, &list)) status = fail_memory(error);
    if (status == ABUT_OK) {
        add_position_rows(g, &list);
        status = correct(g, &list, roughly ? LEAST_AMPLIFIED : MOST_AMPLIFIED, scratch->arena, displacements,
                         result, error);
    }
    arena_restore(scratch->arena, mark);
    return status;
}

abut_status project_velocities(const group *g, const group_scratch *scratch, spatial *velocities,
                               project_result *result, abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    constraints list;
    abut_status status = ABUT_OK;
    for (int i = 0; i < g->body_count; i++) velocities[i] = g->motions[i].velocity;
    if (!constraints_make(g, scratch->arena, &list)) status = fail_memory(error);
    if (status == ABUT_OK) {
        add_velocity_rows(g, velocities, &list);
        status = correct(g, &list, MOST_AMPLIFIED, scratch->arena, velocities, result, error);
    }
    arena_restore(scratch->arena, mark);
    return status;
}

/* The rotation by the vector r has the quaternion (cos |r|/2, sinc ...); (1 - r.r/8, r/2 (1 - r.r/24)) is
 * that to third order, and unit length is restored. */
void project_displace(motion *m, spatial d) {
    double rr = vec3_length2(d.angular), s = 0.5 * (1 - rr / 24);
    quat turn = {1 - rr / 8, s * d.angular.x, s * d.angular.y, s * d.angular.z};
    m->center = vec3_add(m->center, d.linear);
    m->rotation = quat_unit(quat_mul(turn, m->rotation));
}

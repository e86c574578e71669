/* Building the system of a group (see system.h). */
#include "dynamics/system.h"
#include "dynamics/face.h"

/* ---- cones */

/* Unit vector of the motion against which friction works: the velocity itself, or what memory says. */
static vec3 direction(vec3 velocity, double slowest, vec3 memory, vec3 normal) {
    double speed = vec3_length(velocity);
    if (speed > slowest) return vec3_scale(velocity, 1 / speed);
    return vec3_unit(vec3_axpy(memory, -vec3_dot(memory, normal), normal));
}

static void add_cone(group_system *s, cone k) {
    if (k.stick > 0 || k.slide > 0) s->cones[s->cone_count++] = k;
}

/* The three laws at a contact.  At the level of impulses directions always come from memory: the velocity
 * that friction works against is the one after the impact. */
static void add_cones(group_system *s, int index, double slip_speed) {
    const group_contact *c = &s->g->contacts[index];
    vec3 n = c->point.normal, t1, t2, spin = group_contact_spin(s->g, c);
    double along_n = vec3_dot(spin, n);
    double slowest = s->level == SYSTEM_FORCES ? slip_speed : INFINITY;
    group_tangents(n, &t1, &t2);
    double twist_sign = fabs(along_n) > slowest ? along_n : c->spin_along;
    const abut_friction *f = &c->friction;
    bool by_face = c->face > 0 && s->level == SYSTEM_FORCES;
    if (!by_face)
        add_cone(s, (cone){index,
                           CONE_FRICTION,
                           2,
                           {t1, t2},
                           f->stick,
                           f->slide,
                           c->mode,
                           direction(group_contact_slip(s->g, c), c->begins ? INFINITY : slowest,
                                     c->slip_along, n),
                           -1});
    add_cone(s, (cone){index,
                       CONE_ROLLING,
                       2,
                       {t1, t2},
                       f->rolling,
                       f->rolling,
                       c->rolling,
                       direction(vec3_axpy(spin, -along_n, n), slowest, c->roll_along, n),
                       -1});
    add_cone(s, (cone){index,
                       CONE_SPINNING,
                       1,
                       {n, n},
                       f->spinning,
                       f->spinning,
                       c->spinning,
                       vec3_scale(n, twist_sign < 0 ? -1 : 1),
                       -1});
}

row system_cone_row(const group_system *s, const cone *k, vec3 e) {
    const group_contact *c = &s->g->contacts[k->contact];
    return k->kind == CONE_FRICTION ? group_tangent_row(s->g, c, e) : group_spin_row(s->g, c, e);
}

double system_cone_offset(const group_system *s, const row *r) {
    return s->level == SYSTEM_FORCES ? r->drift : 0;
}

vec3 system_cone_force(const group_system *s, const cone *k, const double *z) {
    vec3 sum = vec3_zero();
    if (k->mode == FRICTION_SLIP) return vec3_scale(k->along, -k->slide * z[s->normal_of[k->contact]]);
    if (k->mode == FRICTION_STICK)
        for (int i = 0; i < k->dimension; i++) sum = vec3_axpy(sum, z[k->first + i], k->axis[i]);
    return sum;
}

/* ---- unknowns */

int system_add_unknown(group_system *s, row r, double offset) {
    int i = s->count++;
    s->rows[i] = r, s->offset[i] = offset, s->lo[i] = r.lo, s->hi[i] = r.hi;
    return i;
}

static void add_group_rows(group_system *s) {
    const group *g = s->g;
    for (int i = 0; i < g->row_count; i++) {
        const row *r = &g->rows[i];
        bool impulses = s->level == SYSTEM_IMPULSES, motor = isfinite(r->lo) && isfinite(r->hi);
        s->row_of[i] = -1;
        if (motor && (impulses || r->lo == r->hi)) continue; /* no impulse; a known force */
        s->row_of[i] = system_add_unknown(s, *r, impulses ? -r->rate : r->drift - r->acceleration);
    }
}

static void add_contact(group_system *s, int index, const system_config *config) {
    const group_contact *c = &s->g->contacts[index];
    row n = group_normal_row(s->g, c);
    if (config->least) n.lo = config->least[index];
    double offset = config->normal_offset       ? config->normal_offset[index]
                    : s->level == SYSTEM_FORCES ? n.drift
                                                : 0;
    s->normal_of[index] = system_add_unknown(s, n, offset);
    int first = s->cone_count;
    add_cones(s, index, config->slip_speed);
    for (int k = first; k < s->cone_count; k++) {
        cone *law = &s->cones[k];
        if (law->mode == FRICTION_SLIP && law->slide > 0) s->symmetric = false;
        if (law->mode != FRICTION_STICK) continue;
        for (int i = 0; i < law->dimension; i++) {
            row r = system_cone_row(s, law, law->axis[i]);
            int at = system_add_unknown(s, r, system_cone_offset(s, &r));
            if (i == 0) law->first = at;
        }
    }
}

/* C of a normal: n - sum of slide * along over its slipping cones. */
static void make_columns(group_system *s) {
    for (int i = 0; i < s->count; i++) s->columns[i] = s->rows[i];
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        if (law->mode != FRICTION_SLIP) continue;
        row r = system_cone_row(s, law, law->along), *column = &s->columns[s->normal_of[law->contact]];
        column->ja = spatial_axpy(column->ja, -law->slide, r.ja);
        column->jb = spatial_axpy(column->jb, -law->slide, r.jb);
    }
    face_add_to_columns(s);
}

/* Known multipliers (lo = hi) are forces like any other. */
static void add_known_forces(group_system *s, spatial *wrenches) {
    const group *g = s->g;
    for (int i = 0; i < g->row_count; i++)
        if (g->rows[i].lo == g->rows[i].hi) row_add_wrench(&g->rows[i], g->rows[i].lo, wrenches);
    for (int i = 0; i < g->body_count; i++)
        s->base[i] =
            spatial_add(s->base[i], body_apply(&g->inertias[i], g->motions[i].rotation, wrenches[i]));
}

/* Numbers that are not finite come from outside: a user's force, a pose, a contact normal. */
static abut_status check_finite(const group_system *s, abut_error *error) {
    for (int i = 0; i < s->g->body_count; i++)
        if (!vec3_is_finite(s->base[i].linear) || !vec3_is_finite(s->base[i].angular))
            return fail(error, ABUT_INVALID,
                        "body %d has a %s that is not finite; look at the forces on it and at its motion", i,
                        s->level == SYSTEM_FORCES ? "free acceleration" : "velocity");
    for (int i = 0; i < s->count; i++)
        if (!isfinite(s->b[i]))
            return fail(
                error, ABUT_INVALID,
                "a hinge or contact between bodies %d and %d has a rate that is not finite; look at its "
                "place, normal and axis",
                s->rows[i].a, s->rows[i].b);
    return ABUT_OK;
}

abut_status system_build(const group *g, const system_config *config, arena *scratch, group_system *out,
                         abut_error *error) {
    size_t most = (size_t)g->row_count + 6 * (size_t)g->contact_count + 3 * (size_t)g->face_count + 1;
    size_t bodies = (size_t)g->body_count + 1;
    *out = (group_system){.g = g, .level = config->level, .symmetric = true};
    out->rows = arena_alloc(scratch, most, sizeof(row));
    out->offset = arena_alloc(scratch, most, sizeof(double));
    out->b = arena_alloc(scratch, most, sizeof(double));
    out->lo = arena_alloc(scratch, most, sizeof(double));
    out->hi = arena_alloc(scratch, most, sizeof(double));
    out->row_of = arena_alloc(scratch, (size_t)g->row_count + 1, sizeof(int));
    out->normal_of = arena_alloc(scratch, (size_t)g->contact_count + 1, sizeof(int));
    out->cones = arena_alloc(scratch, CONE_KINDS * (size_t)g->contact_count + 1, sizeof(cone));
    out->base = arena_alloc(scratch, bodies, sizeof(spatial));
    spatial *wrenches = arena_alloc(scratch, bodies, sizeof(spatial));
    if (!out->rows || !out->offset || !out->b || !out->lo || !out->hi || !out->row_of || !out->normal_of ||
        !out->cones || !out->base || !wrenches)
        return fail_memory(error);

    add_group_rows(out);
    for (int i = 0; i < g->contact_count; i++) {
        out->normal_of[i] = -1;
        if (!config->part || config->part[i]) add_contact(out, i, config);
    }
    if (config->level == SYSTEM_FORCES && !face_make_laws(out, config->slip_speed, scratch))
        return fail_memory(error);
    out->columns = out->rows;
    if (!out->symmetric) {
        out->columns = arena_alloc(scratch, (size_t)out->count + 1, sizeof(row));
        if (!out->columns) return fail_memory(error);
        make_columns(out);
    }
    for (int i = 0; i < g->body_count; i++) out->base[i] = config->base[i];
    if (config->level == SYSTEM_FORCES) add_known_forces(out, wrenches);
    system_rates(out, out->base, out->b);
    return check_finite(out, error);
}

void system_apply(const group_system *s, const double *z, spatial *x) {
    const group *g = s->g;
    const spatial none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < g->body_count; i++) x[i] = none;
    for (int i = 0; i < s->count; i++)
        if (z[i] != 0) row_add_wrench(&s->columns[i], z[i], x);
    for (int i = 0; i < g->body_count; i++)
        x[i] = spatial_add(s->base[i], body_apply(&g->inertias[i], g->motions[i].rotation, x[i]));
}

void system_rates(const group_system *s, const spatial *x, double *w) {
    for (int i = 0; i < s->count; i++) w[i] = row_dot(&s->rows[i], x) + s->offset[i];
}

/* ---- the space where all masses are 1 */

/* L with L L^T = m, for m symmetric positive definite. */
static mat3 cholesky(mat3 m) {
    double xx = sqrt(m.cx.x), yx = m.cx.y / xx, zx = m.cx.z / xx;
    double yy = sqrt(m.cy.y - yx * yx), zy = (m.cy.z - zx * yx) / yy, zz = sqrt(m.cz.z - zx * zx - zy * zy);
    return (mat3){{xx, yx, zx}, {0, yy, zy}, {0, 0, zz}};
}

bool system_space_make(const group *g, arena *scratch, system_space *out) {
    out->dimension = 0;
    out->place = arena_alloc(scratch, (size_t)g->body_count + 1, sizeof(int));
    out->root = arena_alloc(scratch, (size_t)g->body_count + 1, sizeof(mat3));
    if (!out->place || !out->root) return false;
    for (int i = 0; i < g->body_count; i++) {
        out->place[i] = -1;
        if (!(g->inertias[i].inverse_mass > 0)) continue;
        out->place[i] = out->dimension, out->dimension += 6;
        out->root[i] =
            mat3_mul(quat_matrix(g->motions[i].rotation), cholesky(g->inertias[i].inverse_inertia));
    }
    return true;
}

static void add_body_part(const system_space *space, const group *g, int body, spatial j, double *at) {
    double root_mass = sqrt(g->inertias[body].inverse_mass);
    vec3 t = mat3_tmul_vec(space->root[body], j.angular);
    at[0] += root_mass * j.linear.x, at[1] += root_mass * j.linear.y, at[2] += root_mass * j.linear.z;
    at[3] += t.x, at[4] += t.y, at[5] += t.z;
}

void system_space_column(const system_space *space, const group *g, const row *r, double *column) {
    for (int i = 0; i < space->dimension; i++) column[i] = 0;
    int a = r->a >= 0 ? space->place[r->a] : -1, b = r->b >= 0 ? space->place[r->b] : -1;
    if (a >= 0) add_body_part(space, g, r->a, r->ja, column + a);
    if (b >= 0) add_body_part(space, g, r->b, r->jb, column + b);
}

void system_space_parts(const system_space *space, const group *g, const row *r, int first[2],
                        double value[2][6]) {
    first[0] = r->a >= 0 ? space->place[r->a] : -1, first[1] = r->b >= 0 ? space->place[r->b] : -1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 6; i++) value[k][i] = 0;
    if (first[0] >= 0) add_body_part(space, g, r->a, r->ja, value[0]);
    if (first[1] >= 0) add_body_part(space, g, r->b, r->jb, value[1]);
}

void system_space_add(const system_space *space, const group *g, const double *y, spatial *x) {
    for (int i = 0; i < g->body_count; i++) {
        if (space->place[i] < 0) continue;
        const double *at = y + space->place[i];
        double root_mass = sqrt(g->inertias[i].inverse_mass);
        x[i].linear = vec3_axpy(x[i].linear, root_mass, vec3_make(at[0], at[1], at[2]));
        x[i].angular = vec3_add(x[i].angular, mat3_mul_vec(space->root[i], vec3_make(at[3], at[4], at[5])));
    }
}

/* Friction as cone programs (see cones.h). */
#include "dynamics/cones.h"

#include "dynamics/islands.h"
#include "dynamics/modes.h"

enum { LIFTS = 15, FIRST_LIFTS = 2, STEP_LIFTS = 8 };

/* The cone program of a system: its blocks and the unknowns they stand for. */
typedef struct assembly {
    const group_system *s;
    const dense *d;
    cone_program p;
    int *unknown;      /* of each block: its normal, or a row with a lower bound */
    const cone **laws; /* of each block: the friction cone, NULL */
    int *held;         /* of each equation: its unknown */
} assembly;

static bool bilateral(const group_system *s, int i) { return isinf(s->lo[i]) && isinf(s->hi[i]); }

/* Only tangential friction at points, unbounded rows and rows with the bound 0 from below. */
bool cones_know(const group_system *s) {
    for (int i = 0; i < s->face_count; i++)
        if (s->faces[i].face->mode == FRICTION_SLIP) return false;
    for (int k = 0; k < s->cone_count; k++)
        if (s->cones[k].kind != CONE_FRICTION && s->cones[k].mode != FRICTION_FREE) return false;
    for (int i = 0; i < s->count; i++)
        if (!bilateral(s, i) && !(s->lo[i] == 0 && isinf(s->hi[i]))) return false;
    return true;
}

static cone_row row_part(const dense *d, const row *r, double factor, int first[2]) {
    cone_row out = {{{0}}};
    system_space_parts(&d->space, d->s->g, r, first, out.value);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < CONE_SPAN; i++) out.value[k][i] *= factor;
    return out;
}

/* Blocks for the unknowns that may carry something (NULL: all): a normal with its sticking directions. */
static bool assemble(const dense *d, const bool *may, const row *rows, arena *scratch, assembly *a) {
    const group_system *s = d->s;
    size_t m = (size_t)s->count + 1;
    *a = (assembly){.s = s, .d = d};
    a->p.size = d->space.dimension;
    a->p.blocks = arena_alloc(scratch, m, sizeof *a->p.blocks);
    a->p.equations = arena_alloc(scratch, m, sizeof *a->p.equations);
    a->p.x = arena_alloc(scratch, (size_t)a->p.size + 1, sizeof(double));
    a->unknown = arena_alloc(scratch, m, sizeof(int));
    a->held = arena_alloc(scratch, m, sizeof(int));
    a->laws = arena_alloc(scratch, m, sizeof *a->laws);
    const cone **law_of = arena_alloc(scratch, m, sizeof *law_of);
    bool *tangent = arena_alloc(scratch, m, 1);
    if (!a->p.blocks || !a->p.equations || !a->p.x || !a->unknown || !a->held || !a->laws || !law_of ||
        !tangent)
        return false;
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        if (law->mode != FRICTION_STICK) continue;
        law_of[s->normal_of[law->contact]] = law;
        for (int i = 0; i < law->dimension; i++) tangent[law->first + i] = true;
    }
    for (int i = 0; i < s->count; i++) {
        if (tangent[i] || (may && !may[i])) continue;
        if (bilateral(s, i)) {
            cone_equation *e = &a->p.equations[a->p.equation_count];
            e->row = row_part(d, &rows[i], 1, e->first);
            a->held[a->p.equation_count++] = i;
            continue;
        }
        int k = a->p.block_count++;
        cone_block *b = &a->p.blocks[k];
        const cone *law = law_of[i] && law_of[i]->stick > 0 ? law_of[i] : NULL;
        a->unknown[k] = i, a->laws[k] = law;
        b->dimension = law ? 3 : 1;
        b->row[0] = row_part(d, &rows[i], 1, b->first);
        for (int t = 0; law && t < 2; t++) {
            int ignored[2];
            b->row[1 + t] = row_part(d, &rows[law->first + t], law->stick, ignored);
        }
    }
    return true;
}

/* Multipliers of the system from those of the program. */
static void read_multipliers(const assembly *a, double *z) {
    for (int k = 0; k < a->p.block_count; k++) {
        const cone_block *b = &a->p.blocks[k];
        z[a->unknown[k]] = b->z[0];
        for (int t = 0; a->laws[k] && t < 2; t++) z[a->laws[k]->first + t] = a->laws[k]->stick * b->z[1 + t];
    }
    for (int k = 0; k < a->p.equation_count; k++) z[a->held[k]] = a->p.equations[k].y;
}

/* ---- share */

static double part_times(const cone_row *r, const int first[2], const double *x) {
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; first[k] >= 0 && i < CONE_SPAN; i++) sum += r->value[k][i] * x[first[k] + i];
    return sum;
}

/* The nearest point to y of all sums of J^T z: offsets -J y. */
bool cones_share(const dense *d, const bool *may, const double *y, arena *scratch, double *z, bool *found,
                 bool *none) {
    const group_system *s = d->s;
    assembly a;
    cone_result result;
    int n = d->space.dimension;
    *found = *none = false;
    if (!cones_know(s)) return true;
    double *rest = arena_alloc(scratch, (size_t)n + 1, sizeof(double));
    if (!rest || !assemble(d, may, s->columns, scratch, &a)) return false;
    memcpy(rest, y, (size_t)n * sizeof(double));
    for (int i = 0; i < s->count; i++)
        if (!may[i] && z[i] != 0) dense_push(d, i, -z[i], rest);
    for (int k = 0; k < a.p.block_count; k++) {
        cone_block *b = &a.p.blocks[k];
        for (int i = 0; i < b->dimension; i++) b->offset[i] = -part_times(&b->row[i], b->first, rest);
    }
    for (int k = 0; k < a.p.equation_count; k++) {
        cone_equation *e = &a.p.equations[k];
        e->offset = -part_times(&e->row, e->first, rest);
    }
    if (cone_program_solve(&a.p, scratch, &result) != ABUT_OK) return false;
    double miss = 0, size = dense_dot(rest, rest, n);
    for (int i = 0; i < n; i++) miss += (a.p.x[i] - rest[i]) * (a.p.x[i] - rest[i]);
    *found = result.solved && miss <= 1e-18 * size;
    *none = result.solved && miss > 1e-12 * size;
    if (*found) read_multipliers(&a, z);
    return true;
}

/* ---- choose */

/* What one convex problem needs beside its matrix: lifts of the normals, and friction of points that slip. */
typedef struct lifting {
    double *lift;   /* per block */
    double *drag;   /* sum of N (v - w) over slipping points, in the space of unit masses */
    double *normal; /* per unknown: N of the problem before */
    double scale;
} lifting;

static void set_offsets(assembly *a, const lifting *l) {
    const group_system *s = a->s;
    for (int k = 0; k < a->p.block_count; k++) {
        cone_block *b = &a->p.blocks[k];
        const cone *law = a->laws[k];
        b->offset[0] = s->b[a->unknown[k]] + l->lift[k] + part_times(&b->row[0], b->first, l->drag);
        for (int t = 0; law && t < 2; t++)
            b->offset[1 + t] =
                law->stick * s->b[law->first + t] + part_times(&b->row[1 + t], b->first, l->drag);
    }
    for (int k = 0; k < a->p.equation_count; k++) {
        cone_equation *e = &a->p.equations[k];
        e->offset = s->b[a->held[k]] + part_times(&e->row, e->first, l->drag);
    }
}

/* New lifts and drags from the solution; the largest change relative to the scale. */
static double follow(const assembly *a, lifting *l) {
    const group_system *s = a->s;
    int n = a->d->space.dimension;
    double change = 0;
    for (int k = 0; k < a->p.block_count; k++) {
        const cone_block *b = &a->p.blocks[k];
        int i = a->unknown[k];
        double lift = a->laws[k] ? sqrt(b->s[1] * b->s[1] + b->s[2] * b->s[2]) : 0;
        change = fmax(change, fabs(lift - l->lift[k]));
        l->lift[k] = lift;
        if (s->columns == s->rows) continue;
        const double *w = a->d->w + (size_t)n * i, *v = a->d->v + (size_t)n * i;
        double more = b->z[0] - l->normal[i], effect = 0;
        for (int j = 0; j < n; j++)
            l->drag[j] += more * (v[j] - w[j]), effect += (v[j] - w[j]) * (v[j] - w[j]);
        change = fmax(change, fabs(more) * sqrt(effect * dense_dot(w, w, n)));
        l->normal[i] = b->z[0];
    }
    return change / l->scale;
}

static bool make_lifting(const assembly *a, arena *scratch, lifting *l) {
    l->lift = arena_alloc(scratch, (size_t)a->p.block_count + 1, sizeof(double));
    l->drag = arena_alloc(scratch, (size_t)a->p.size + 1, sizeof(double));
    l->normal = arena_alloc(scratch, (size_t)a->s->count + 1, sizeof(double));
    l->scale = 0;
    for (int i = 0; i < a->s->count; i++) l->scale = fmax(l->scale, fabs(a->s->b[i]));
    if (!(l->scale > 0)) l->scale = 1;
    return l->lift && l->drag && l->normal;
}

/* Convex problems until the lifts stay, at most so many.  *change: the last one. */
static abut_status iterate(assembly *a, lifting *l, arena *scratch, double enough, int rounds, bool *found,
                           double *change) {
    *found = false, *change = INFINITY;
    for (int round = 0; round<rounds && * change> enough; round++) {
        cone_result result;
        set_offsets(a, l);
        abut_status status = cone_program_solve(&a->p, scratch, &result);
        if (status == ABUT_OK && !result.solved && a->p.compliance == 0) {
            a->p.compliance = 1e-7; /* points that contradict each other: share the contradiction */
            status = cone_program_solve(&a->p, scratch, &result);
        }
        if (status != ABUT_OK) return status;
        if (!result.solved) return ABUT_OK;
        *change = follow(a, l);
    }
    *found = true;
    return ABUT_OK;
}

/* A point is pressed, sticks or slips by which of two complementary quantities is the larger, both as
 * rates. */
static void read_modes(const assembly *a, group *g, const coulomb_config *config) {
    const group_system *s = a->s;
    int n = a->d->space.dimension;
    for (int i = 0; i < g->contact_count; i++) g->contacts[i].pressed = false;
    for (int k = 0; k < a->p.block_count; k++) {
        const cone_block *b = &a->p.blocks[k];
        const double *w = a->d->w + (size_t)n * a->unknown[k];
        double mobility = dense_dot(w, w, n), lift = sqrt(b->s[1] * b->s[1] + b->s[2] * b->s[2]);
        for (int i = 0; i < g->contact_count; i++)
            if (s->normal_of[i] == a->unknown[k])
                g->contacts[i].pressed = b->z[0] * mobility >= b->s[0] - (a->laws[k] ? lift : 0);
        const cone *law = a->laws[k];
        if (!law || !config->candidate[law->contact * CONE_KINDS + law->kind]) continue;
        group_contact *c = &g->contacts[law->contact];
        double room = (b->z[0] - sqrt(b->z[1] * b->z[1] + b->z[2] * b->z[2])) * mobility;
        vec3 along = vec3_axpy(vec3_scale(law->axis[0], b->s[1]), b->s[2], law->axis[1]);
        if (!c->pressed)
            coulomb_set_mode(c, law->kind, FRICTION_FREE, vec3_zero());
        else if (lift > room)
            coulomb_set_mode(c, law->kind, FRICTION_SLIP, vec3_unit(along));
        else
            coulomb_set_mode(c, law->kind, FRICTION_STICK, vec3_zero());
    }
}

static void all_candidates_stick(group *g, const bool *candidate) {
    for (int i = 0; i < g->contact_count; i++)
        for (int k = 0; k < CONE_KINDS; k++)
            if (candidate[i * CONE_KINDS + k])
                coulomb_set_mode(&g->contacts[i], (cone_kind)k, FRICTION_STICK, vec3_zero());
}

/* z, w, x of the last convex problem, as a solution of the system with all candidates sticking. */
static bool read_solution(const assembly *a, arena *scratch, double change, system_solution *out) {
    const group_system *s = a->s;
    size_t n = (size_t)s->count + 1;
    out->z = arena_alloc(scratch, n, sizeof(double));
    out->w = arena_alloc(scratch, n, sizeof(double));
    out->state = arena_alloc(scratch, n, 1);
    out->x = arena_alloc(scratch, (size_t)s->g->body_count + 1, sizeof(spatial));
    if (!out->z || !out->w || !out->state || !out->x) return false;
    read_multipliers(a, out->z);
    system_apply(s, out->z, out->x);
    system_rates(s, out->x, out->w);
    out->outcome = SYSTEM_SOLVED, out->residual = change;
    return true;
}

abut_status cones_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                         group_system *system, system_solution *solution, bool *found, abut_error *error) {
    dense d;
    assembly a;
    lifting l;
    double change;
    *found = false;
    all_candidates_stick(g, config->candidate);
    abut_status status = system_build(g, &config->build, scratch->arena, system, error);
    if (status != ABUT_OK || !cones_know(system)) return status;
    if (!dense_make(system, scratch->arena, &d) || !assemble(&d, NULL, system->rows, scratch->arena, &a) ||
        !make_lifting(&a, scratch->arena, &l) ||
        iterate(&a, &l, scratch->arena, 1e-9, LIFTS, found, &change) != ABUT_OK)
        return fail_memory(error);
    if (!*found) return ABUT_OK;
    read_modes(&a, g, config);
    return read_solution(&a, scratch->arena, change, solution) ? ABUT_OK : fail_memory(error);
}

/* ---- step */

/* The unknowns of given impulses; false where all are zero. */
static bool guess(const group_system *s, const double *normals, const vec3 *frictions, const double *rows,
                  double *z) {
    const group *g = s->g;
    bool any = false;
    for (int i = 0; i < g->row_count; i++)
        if (s->row_of[i] >= 0) z[s->row_of[i]] = rows[i];
    for (int i = 0; i < g->contact_count; i++)
        if (s->normal_of[i] >= 0) z[s->normal_of[i]] = normals[i], any |= normals[i] > 0;
    for (int k = 0; k < s->cone_count; k++)
        for (int i = 0; s->cones[k].mode == FRICTION_STICK && i < s->cones[k].dimension; i++)
            z[s->cones[k].first + i] = vec3_dot(frictions[s->cones[k].contact], s->cones[k].axis[i]);
    return any;
}

/* Newton's method on the modes, from the forces z or from none.  False when memory is out. */
static bool step_modes(const group_system *s, const double *start, modes_effort effort, arena *scratch,
                       double *z, bool *found) {
    modes m;
    if (!modes_solve(s, NULL, start, effort, 1e-9, scratch, &m, found)) return false;
    if (*found) memcpy(z, m.z, (size_t)s->count * sizeof(double));
    return true;
}

/* Multipliers of a step from z, those of another (near: there are some): by Newton's method on the modes,
 * from there, from none, or from a convex problem with the lifts of its own first one; or by convex problems
 * alone. False when memory is out. */
static bool step_multipliers(const group_system *s, bool near, arena *scratch, double *z, bool *found,
                             double *residual) {
    *residual = 0, *found = false;
    if (!step_modes(s, near ? z : NULL, MODES_SWEPT_START, scratch, z, found)) return false;
    if (*found) return true;
    dense d;
    assembly a;
    lifting l;
    if (!dense_make(s, scratch, &d) || !assemble(&d, NULL, s->rows, scratch, &a) ||
        !make_lifting(&a, scratch, &l) ||
        iterate(&a, &l, scratch, 1e-7, FIRST_LIFTS, found, residual) != ABUT_OK)
        return false;
    if (!*found) return true;
    read_multipliers(&a, z);
    bool exact;
    if (!step_modes(s, z, MODES_ONE_START, scratch, z, &exact)) return false;
    if (exact) *residual = 0;
    if (exact || *residual <= 1e-7) return true;
    if (iterate(&a, &l, scratch, 1e-7, STEP_LIFTS - FIRST_LIFTS, found, residual) != ABUT_OK) return false;
    if (*found) read_multipliers(&a, z);
    return true;
}

/* A step of bodies that all hang together. */
static abut_status step_island(group *g, const system_config *build, const group_scratch *scratch, spatial *x,
                               double *normals, vec3 *frictions, double *rows, bool *found, double *residual,
                               abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    group_system s;
    *found = false;
    for (int i = 0; i < g->contact_count; i++) {
        group_contact *c = &g->contacts[i];
        bool rough = c->friction.stick > 0;
        coulomb_set_mode(c, CONE_FRICTION, rough ? FRICTION_STICK : FRICTION_FREE, vec3_zero());
        coulomb_set_mode(c, CONE_ROLLING, FRICTION_FREE, vec3_zero());
        coulomb_set_mode(c, CONE_SPINNING, FRICTION_FREE, vec3_zero());
    }
    abut_status status = system_build(g, build, scratch->arena, &s, error);
    if (status == ABUT_OK && cones_know(&s)) {
        double *z = arena_alloc(scratch->arena, (size_t)s.count + 1, sizeof(double));
        bool near = z && guess(&s, normals, frictions, rows, z);
        if (!z || !step_multipliers(&s, near, scratch->arena, z, found, residual))
            status = fail_memory(error);
        if (status == ABUT_OK && *found) {
            system_apply(&s, z, x);
            for (int i = 0; i < g->contact_count; i++)
                normals[i] = s.normal_of[i] >= 0 ? z[s.normal_of[i]] : 0, frictions[i] = vec3_zero();
            for (int k = 0; k < s.cone_count; k++)
                if (s.cones[k].kind == CONE_FRICTION)
                    frictions[s.cones[k].contact] = system_cone_force(&s, &s.cones[k], z);
            for (int i = 0; i < g->row_count; i++) rows[i] = s.row_of[i] >= 0 ? z[s.row_of[i]] : 0;
        }
    }
    arena_restore(scratch->arena, mark);
    return status;
}

/* The step of one island; x, impulses and rows are those of the whole group. */
static abut_status step_part(islands *all, int which, group *g, const system_config *build,
                             const group_scratch *scratch, spatial *x, double *normals, vec3 *frictions,
                             double *rows, bool *found, double *residual, abut_error *error) {
    island i;
    arena *a = scratch->arena;
    if (!islands_take(all, g, which, a, &i)) return fail_memory(error);
    size_t n = (size_t)i.g.contact_count + 1, m = (size_t)i.g.body_count + 1;
    spatial *base = arena_alloc(a, m, sizeof *base), *after = arena_alloc(a, m, sizeof *after);
    double *offsets = arena_alloc(a, 2 * n, sizeof *offsets), *normal = offsets + n;
    vec3 *friction = arena_alloc(a, n, sizeof *friction);
    double *held = arena_alloc(a, (size_t)i.g.row_count + 1, sizeof *held);
    if (!base || !after || !offsets || !friction || !held) return fail_memory(error);
    for (int k = 0; k < i.g.body_count; k++) base[k] = build->base[i.bodies[k]];
    for (int k = 0; k < i.g.row_count; k++) held[k] = rows[i.rows[k]];
    for (int k = 0; k < i.g.contact_count; k++) {
        int from = i.contacts[k];
        offsets[k] = build->normal_offset ? build->normal_offset[from] : 0;
        normal[k] = normals[from], friction[k] = frictions[from];
    }
    system_config part = {.level = build->level,
                          .base = base,
                          .normal_offset = build->normal_offset ? offsets : NULL,
                          .slip_speed = build->slip_speed};
    abut_status status =
        step_island(&i.g, &part, scratch, after, normal, friction, held, found, residual, error);
    if (status != ABUT_OK || !*found) return status;
    islands_return(&i, g);
    for (int k = 0; k < i.g.body_count; k++) x[i.bodies[k]] = after[k];
    for (int k = 0; k < i.g.row_count; k++) rows[i.rows[k]] = held[k];
    for (int k = 0; k < i.g.contact_count; k++)
        normals[i.contacts[k]] = normal[k], frictions[i.contacts[k]] = friction[k];
    return ABUT_OK;
}

abut_status cones_step(group *g, const system_config *build, const group_scratch *scratch, spatial *x,
                       double *normals, vec3 *frictions, double *rows, bool *found, double *residual,
                       abut_error *error) {
    arena_mark mark = arena_save(scratch->arena);
    islands all;
    if (!islands_make(g, scratch->arena, &all)) return fail_memory(error);
    abut_status status = ABUT_OK;
    *found = true, *residual = 0;
    if (all.count == 1 || build->part || build->least) {
        status = step_island(g, build, scratch, x, normals, frictions, rows, found, residual, error);
    } else {
        memcpy(x, build->base, (size_t)g->body_count * sizeof *x);
        for (int i = 0; i < all.count && status == ABUT_OK && *found; i++) {
            arena_mark inner = arena_save(scratch->arena);
            double left = 0;
            status = step_part(&all, i, g, build, scratch, x, normals, frictions, rows, found, &left, error);
            *residual = fmax(*residual, left);
            arena_restore(scratch->arena, inner);
        }
    }
    arena_restore(scratch->arena, mark);
    return status;
}

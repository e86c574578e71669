/* Newton's method on the modes of friction (see modes.h). */
#include "dynamics/modes.h"

#include "abut/complementarity.h"
#include "dynamics/cones.h"

enum { STEPS = 40 };
/* The law holds when directions and bounds are met to this, relative to the scale of the rates. */
#define LAW_TOLERANCE 1e-12

/* ---- points */

static bool make_points(const group_system *s, const bool *candidate, arena *scratch, modes *out) {
    out->points = arena_alloc(scratch, (size_t)s->g->contact_count + 1, sizeof *out->points);
    out->raw = arena_alloc(scratch, (size_t)s->count + 1, sizeof *out->raw);
    out->z = arena_alloc(scratch, (size_t)s->count + 1, sizeof *out->z);
    int *place = arena_alloc(scratch, (size_t)s->g->contact_count + 1, sizeof *place);
    if (!out->points || !out->raw || !out->z || !place || !states_make(s, scratch, &out->t)) return false;
    memcpy(out->raw, out->t.rows, (size_t)s->count * sizeof *out->raw);
    for (int i = 0; i < s->g->contact_count; i++) {
        if (s->normal_of[i] < 0) continue;
        place[i] = out->point_count;
        out->points[out->point_count++] = (modes_point){.contact = i, .normal = s->normal_of[i]};
    }
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        bool chosen = !candidate || candidate[law->contact * CONE_KINDS + law->kind];
        if (law->kind == CONE_FRICTION && law->mode == FRICTION_STICK && chosen)
            out->points[place[law->contact]].law = law;
    }
    return true;
}

/* The row a x + b y, of two between the same bodies. */
static void combine(double a, const coupled_row *x, double b, const coupled_row *y, coupled_row *to) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < BLOCK_SIDE; i++) to->w[k][i] = a * x->w[k][i] + b * y->w[k][i];
}

/* The rows of a point that slips along d: its friction hangs on the normal force; what is across has the
 * compliance c. */
static void set_slip(modes *m, const modes_point *p, double c) {
    coupled_row *normal = &m->t.rows[p->normal], *across = &m->t.rows[p->law->first];
    const coupled_row *n = &m->raw[p->normal], *t1 = &m->raw[p->law->first], *t2 = t1 + 1;
    coupled_row along, push;
    combine(p->d[0], t1, p->d[1], t2, &along);
    combine(1, n, -p->law->slide, &along, &push);
    memcpy(normal->v, push.w, sizeof push.w);
    combine(-p->d[1], t1, p->d[0], t2, across);
    memcpy(across->v, across->w, sizeof across->v);
    across->b = -p->d[1] * t1->b + p->d[0] * t2->b, across->compliance = c;
    across->holds = isfinite(c), across->z = 0;
    across[1].holds = false, across[1].z = 0;
    coupled_measure(across);
}

static void set_stick(modes *m, const modes_point *p) {
    coupled_row *rows = &m->t.rows[p->law->first];
    memcpy(m->t.rows[p->normal].v, m->raw[p->normal].v, sizeof m->raw->v);
    for (int k = 0; k < 2; k++) {
        rows[k] = m->raw[p->law->first + k];
        rows[k].holds = p->closed, rows[k].z = p->closed ? p->force[k] : 0;
    }
}

static void set_point(modes *m, const modes_point *p, double c) {
    coupled_row *normal = &m->t.rows[p->normal];
    normal->holds = p->closed;
    normal->z = p->closed ? p->normal_force : 0;
    if (!p->law) return;
    if (p->closed && p->mode == FRICTION_SLIP)
        set_slip(m, p, c);
    else
        set_stick(m, p);
}

/* Forces and rates of a point in the solution of the equations. */
static void read_point(const modes *m, modes_point *p) {
    const double *y = m->t.equations.y;
    const coupled_row *normal = &m->t.rows[p->normal];
    p->normal_force = normal->z, p->normal_rate = normal->r;
    if (!p->law) return;
    const coupled_row *rows = &m->t.rows[p->law->first], *raw = &m->raw[p->law->first];
    for (int k = 0; k < 2; k++) p->rate[k] = coupled_rate(&raw[k], y) + raw[k].b;
    if (p->closed && p->mode == FRICTION_SLIP) {
        double pull = -p->law->slide * normal->z;
        p->force[0] = pull * p->d[0] - rows->z * p->d[1], p->force[1] = pull * p->d[1] + rows->z * p->d[0];
    } else {
        p->force[0] = rows[0].z, p->force[1] = rows[1].z;
    }
}

/* ---- a step */

static double mobility_of(const modes *m, const modes_point *p) {
    const coupled_row *raw = &m->raw[p->law->first];
    return fmax(raw[0].size, raw[1].size);
}

/* The mode that the forces and rates of a point ask for; how far it was from the one it has, as a rate. */
static double change_point(modes *m, modes_point *p) {
    double size = m->raw[p->normal].size, pushed = size * p->normal_force - p->normal_rate, far = 0, c = 0;
    bool closed = pushed > (p->closed ? -1 : 1) * LAW_TOLERANCE * m->scale;
    if (closed != p->closed) far = fabs(pushed);
    if (p->law && closed) {
        double mobility = mobility_of(m, p), pull[2], before[2] = {p->d[0], p->d[1]};
        bool slipped = p->closed && p->mode == FRICTION_SLIP;
        double mu = slipped ? p->law->slide : p->law->stick, room = mu * mobility * fmax(pushed, 0) / size;
        for (int k = 0; k < 2; k++) pull[k] = mobility * p->force[k] - p->rate[k];
        double strength = sqrt(pull[0] * pull[0] + pull[1] * pull[1]);
        bool slips = strength > room + (slipped ? -1 : 1) * LAW_TOLERANCE * m->scale && strength > 0;
        if (slips) {
            for (int k = 0; k < 2; k++) p->d[k] = -pull[k] / strength;
            c = room > 0 ? fmax(strength / room - 1, 0) * mobility : INFINITY;
        }
        if (slips != slipped) far = fmax(far, fabs(strength - room));
        if (slips && slipped)
            far = fmax(far, room * sqrt((p->d[0] - before[0]) * (p->d[0] - before[0]) +
                                        (p->d[1] - before[1]) * (p->d[1] - before[1])));
        p->mode = slips ? FRICTION_SLIP : FRICTION_STICK;
    }
    p->closed = closed;
    set_point(m, p, c);
    return far;
}

/* A row with bounds: free between them. */
static double change_row(modes *m, int i) {
    const group_system *s = m->t.s;
    coupled_row *r = &m->t.rows[i];
    if (isinf(s->lo[i]) && isinf(s->hi[i])) return 0;
    double wish = r->z - (r->size > 0 ? r->r / r->size : 0),
           tiny = LAW_TOLERANCE * m->scale / fmax(r->size, 1e-300);
    bool below = wish<s->lo[i] + (r->holds ? -tiny : 0), above = wish> s->hi[i] + (r->holds ? tiny : 0);
    double bound = below ? s->lo[i] : s->hi[i];
    double far = (below || above) == r->holds ? fabs(wish - bound) * r->size : 0;
    r->holds = !below && !above;
    if (!r->holds) r->z = bound;
    return far;
}

static bool solve_equations(modes *m) {
    memset(m->t.equations.y, 0, (size_t)m->t.space.dimension * sizeof(double));
    bool solved = coupled_solve(&m->t.equations, m->scale);
    for (int i = 0; i < m->point_count; i++) read_point(m, &m->points[i]);
    return solved;
}

/* At the start all points that do not separate are closed and stick. */
static void begin(modes *m) {
    const group_system *s = m->t.s;
    int rows = m->point_count > 0 ? m->points[0].normal : s->count;
    m->scale = 0;
    for (int i = 0; i < s->count; i++) m->scale = fmax(m->scale, fabs(s->b[i]));
    if (!(m->scale > 0)) m->scale = 1;
    for (int i = 0; i < s->count; i++) m->t.rows[i].holds = i >= rows || (isinf(s->lo[i]) && isinf(s->hi[i]));
    for (int i = 0; i < rows; i++)
        if (!m->t.rows[i].holds) m->t.rows[i].holds = s->b[i] <= 0 && s->lo[i] == 0;
    for (int i = 0; i < m->point_count; i++) {
        modes_point *p = &m->points[i];
        p->closed = s->b[p->normal] <= 1e-9 * m->scale, p->mode = FRICTION_STICK;
        set_point(m, p, 0);
    }
}

bool modes_solve(const group_system *s, const bool *candidate, arena *scratch, modes *out, bool *found) {
    *out = (modes){.t = {.s = s}};
    *found = false;
    if (!cones_know(s)) return true;
    if (!make_points(s, candidate, scratch, out)) return false;
    begin(out);
    int rows = out->point_count > 0 ? out->points[0].normal : s->count;
    for (out->steps = 1; out->steps <= STEPS && !*found; out->steps++) {
        bool solved = solve_equations(out);
        double far = 0;
        for (int i = 0; i < rows; i++) far = fmax(far, change_row(out, i));
        for (int i = 0; i < out->point_count; i++) far = fmax(far, change_point(out, &out->points[i]));
        *found = solved && far <= 10 * LAW_TOLERANCE * out->scale;
    }
    for (int i = 0; i < rows; i++) out->z[i] = out->t.rows[i].z;
    for (int i = 0; i < out->point_count; i++) {
        const modes_point *p = &out->points[i];
        out->z[p->normal] = p->closed ? p->normal_force : 0;
        for (int k = 0; p->law && p->closed && k < 2; k++) out->z[p->law->first + k] = p->force[k];
    }
    return true;
}

/* ---- choosing */

static void write_modes(const modes *m, group *g) {
    for (int i = 0; i < m->point_count; i++) {
        const modes_point *p = &m->points[i];
        group_contact *c = &g->contacts[p->contact];
        c->pressed = p->closed;
        if (!p->law) continue;
        vec3 along = vec3_axpy(vec3_scale(p->law->axis[0], p->d[0]), p->d[1], p->law->axis[1]);
        if (!p->closed)
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_FREE, vec3_zero());
        else if (p->mode == FRICTION_SLIP)
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_SLIP, along);
        else
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_STICK, vec3_zero());
    }
}

abut_status modes_choose(group *g, const coulomb_config *config, const group_scratch *scratch,
                         group_system *system, system_solution *solution, bool *found, abut_error *error) {
    modes m;
    *found = false;
    for (int i = 0; i < g->contact_count; i++)
        for (int k = 0; k < CONE_KINDS; k++)
            if (config->candidate[i * CONE_KINDS + k])
                coulomb_set_mode(&g->contacts[i], (cone_kind)k, FRICTION_STICK, vec3_zero());
    abut_status status = system_build(g, &config->build, scratch->arena, system, error);
    if (status != ABUT_OK) return status;
    if (!modes_solve(system, config->candidate, scratch->arena, &m, found)) return fail_memory(error);
    if (!*found) return ABUT_OK;
    write_modes(&m, g);
    size_t n = (size_t)system->count + 1;
    solution->z = m.z;
    solution->w = arena_alloc(scratch->arena, n, sizeof(double));
    solution->state = arena_alloc(scratch->arena, n, 1);
    solution->x = arena_alloc(scratch->arena, (size_t)g->body_count + 1, sizeof(spatial));
    if (!solution->w || !solution->state || !solution->x) return fail_memory(error);
    system_apply(system, solution->z, solution->x);
    system_rates(system, solution->x, solution->w);
    solution->outcome = SYSTEM_SOLVED, solution->residual = LAW_TOLERANCE, solution->scale = m.scale;
    return ABUT_OK;
}

/* Newton's method on the modes of friction (see modes.h). */
#include "dynamics/modes.h"

#include "abut/complementarity.h"
#include "dynamics/cones.h"

/* Steps of Newton's method from each start; after the first, sweeps of Gauss and Seidel make others. */
enum { FIRST_STEPS = 15, STARTS = 2 };
static const int sweeps_of_start[STARTS] = {50, 500};
/* Rates below this, relative to the largest, are rounding. */
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

/* |m T - the nearest to m T' = m T - r inside the bound|: how far friction is from the law, as a rate; less
 * the rounding of that difference. */
static double miss(const modes_point *p, double mobility, const double pull[2], double strength,
                   double room) {
    if (strength <= room) return sqrt(p->rate[0] * p->rate[0] + p->rate[1] * p->rate[1]);
    double part = room / strength;
    double a = mobility * p->force[0] - part * pull[0], b = mobility * p->force[1] - part * pull[1];
    return fmax(sqrt(a * a + b * b) - 1e-15 * strength, 0);
}

/* Gives the point the mode that its forces and rates ask for.  Returns how far they are from the law, as a
 * rate; a point that carries nothing may go from one mode to the other for ever without being far from it. */
static double change_point(modes *m, modes_point *p) {
    double size = m->raw[p->normal].size, pushed = size * p->normal_force - p->normal_rate, c = 0;
    /* |m N - max(m N - r_n, 0)| */
    double far = pushed > 0 ? fabs(p->normal_rate) : fabs(size * p->normal_force),
           tiny = LAW_TOLERANCE * m->scale;
    bool closed = pushed > (p->closed ? -tiny : tiny);
    if (p->law) {
        double mobility = mobility_of(m, p), pull[2];
        bool slipped = p->closed && p->mode == FRICTION_SLIP;
        double mu = slipped ? p->law->slide : p->law->stick, room = mu * mobility * fmax(pushed, 0) / size;
        for (int k = 0; k < 2; k++) pull[k] = mobility * p->force[k] - p->rate[k];
        double strength = sqrt(pull[0] * pull[0] + pull[1] * pull[1]);
        far = fmax(far, miss(p, mobility, pull, strength, room));
        bool slips = strength > room + (slipped ? -tiny : tiny) && strength > 0;
        if (slips && closed) {
            for (int k = 0; k < 2; k++) p->d[k] = -pull[k] / strength;
            c = room > 0 ? fmax(strength / room - 1, 0) * mobility : INFINITY;
        }
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

static double scale_of(const group_system *s) {
    double scale = 0;
    for (int i = 0; i < s->count; i++) scale = fmax(scale, fabs(s->b[i]));
    return scale > 0 ? scale : 1;
}

/* At the start all points that do not separate are closed and stick. */
static void begin(modes *m) {
    const group_system *s = m->t.s;
    int rows = m->point_count > 0 ? m->points[0].normal : s->count;
    for (int i = 0; i < s->count; i++) m->t.rows[i].holds = i >= rows || (isinf(s->lo[i]) && isinf(s->hi[i]));
    for (int i = 0; i < rows; i++)
        if (!m->t.rows[i].holds) m->t.rows[i].holds = s->b[i] <= 0 && s->lo[i] == 0;
    for (int i = 0; i < m->point_count; i++) {
        modes_point *p = &m->points[i];
        p->closed = s->b[p->normal] <= 1e-9 * m->scale, p->mode = FRICTION_STICK;
        set_point(m, p, 0);
    }
}

/* ---- another start: projected Gauss-Seidel sweeps */

/* N <- max(N - r_n / m, 0),  T <- the nearest to T - r / m with |T| <= mu N */
static void sweep_point(const modes *m, modes_point *p, double *y) {
    const coupled_row *n = &m->raw[p->normal];
    if (!(n->size > 0)) return;
    double next = fmax(p->normal_force - (coupled_rate(n, y) + n->b) / n->size, 0);
    coupled_push(n, next - p->normal_force, y);
    p->normal_force = next;
    if (!p->law) return;
    const coupled_row *t = &m->raw[p->law->first];
    double mobility = mobility_of(m, p), bound = p->law->stick * next, wish[2];
    for (int k = 0; k < 2; k++) wish[k] = p->force[k] - (coupled_rate(&t[k], y) + t[k].b) / mobility;
    double size = sqrt(wish[0] * wish[0] + wish[1] * wish[1]), part = size > bound ? bound / size : 1;
    for (int k = 0; k < 2; k++) {
        coupled_push(&t[k], part * wish[k] - p->force[k], y);
        p->force[k] = part * wish[k];
    }
}

static void sweep_row(const modes *m, int i, double *y) {
    const group_system *s = m->t.s;
    coupled_row *r = &m->t.rows[i];
    if (!(r->size > 0)) return;
    double next = fmin(fmax(r->z - (coupled_rate(r, y) + r->b) / r->size, s->lo[i]), s->hi[i]);
    coupled_push(r, next - r->z, y);
    r->z = next;
}

/* The forces of the unknowns z (NULL: none) become those of the points and rows. */
static void give_forces(modes *m, const double *z) {
    int rows = m->point_count > 0 ? m->points[0].normal : m->t.s->count;
    for (int i = 0; i < m->point_count; i++) {
        modes_point *p = &m->points[i];
        p->normal_force = z ? fmax(z[p->normal], 0) : 0;
        for (int k = 0; k < 2; k++) p->force[k] = z && p->law ? z[p->law->first + k] : 0;
    }
    for (int i = 0; i < m->t.s->count; i++) m->t.rows[i].holds = true, m->t.rows[i].z = z ? z[i] : 0;
    for (int i = 0; i < rows; i++) m->t.rows[i].z = fmin(fmax(m->t.rows[i].z, m->t.s->lo[i]), m->t.s->hi[i]);
}

/* Sweeps from the given forces, and the modes that they lead to. */
static void sweep(modes *m, int sweeps, const double *start) {
    double *y = m->t.equations.y;
    int rows = m->point_count > 0 ? m->points[0].normal : m->t.s->count;
    give_forces(m, start);
    memset(y, 0, (size_t)m->t.space.dimension * sizeof(double));
    for (int i = 0; i < rows; i++) coupled_push(&m->raw[i], m->t.rows[i].z, y);
    for (int i = 0; i < m->point_count; i++) {
        const modes_point *p = &m->points[i];
        coupled_push(&m->raw[p->normal], p->normal_force, y);
        for (int k = 0; p->law && k < 2; k++) coupled_push(&m->raw[p->law->first + k], p->force[k], y);
    }
    for (int k = 0; k < sweeps; k++) {
        for (int i = 0; i < rows; i++) sweep_row(m, i, y);
        for (int i = 0; i < m->point_count; i++) sweep_point(m, &m->points[i], y);
    }
    for (int i = 0; i < rows; i++) {
        m->t.rows[i].r = coupled_rate(&m->t.rows[i], y) + m->t.rows[i].b;
        m->t.rows[i].holds = true;
        change_row(m, i);
    }
    for (int i = 0; i < m->point_count; i++) {
        modes_point *p = &m->points[i];
        p->closed = true, p->mode = FRICTION_STICK;
        p->normal_rate = coupled_rate(&m->raw[p->normal], y) + m->raw[p->normal].b;
        for (int k = 0; p->law && k < 2; k++)
            p->rate[k] = coupled_rate(&m->raw[p->law->first + k], y) + m->raw[p->law->first + k].b;
        change_point(m, p);
    }
}

/* ---- the call */

/* Newton's steps from the modes at hand: true when they end. */
static bool newton(modes *m, int steps) {
    int rows = m->point_count > 0 ? m->points[0].normal : m->t.s->count;
    for (int step = 0; step < steps; step++) {
        bool solved = solve_equations(m);
        double far = 0;
        m->steps++;
        for (int i = 0; i < rows; i++) far = fmax(far, change_row(m, i));
        for (int i = 0; i < m->point_count; i++) far = fmax(far, change_point(m, &m->points[i]));
        /* rows that contradict each other keep what they miss, whatever the modes */
        if (solved && far <= (m->accuracy + 4 * m->t.equations.left) * m->scale) return true;
    }
    return false;
}

bool modes_solve(const group_system *s, const bool *candidate, const double *start, modes_effort effort,
                 double accuracy, arena *scratch, modes *out, bool *found) {
    *out = (modes){.t = {.s = s}, .accuracy = fmax(accuracy, 10 * LAW_TOLERANCE)};
    *found = false;
    if (!cones_know(s)) return true;
    if (!make_points(s, candidate, scratch, out)) return false;
    out->t.equations.slight = fmax(1e-6, 1e5 * accuracy);
    out->scale = scale_of(s);
    if (start) {
        sweep(out, 0, start);
        *found = newton(out, FIRST_STEPS);
    }
    if (!start || (!*found && effort == MODES_ALL_STARTS)) {
        begin(out);
        *found = newton(out, FIRST_STEPS);
    }
    if (!*found && effort == MODES_SWEPT_START) {
        sweep(out, sweeps_of_start[0], start);
        *found = newton(out, FIRST_STEPS);
    }
    for (int k = 0; k < STARTS && !*found && effort == MODES_ALL_STARTS; k++) {
        sweep(out, sweeps_of_start[k], NULL);
        *found = newton(out, FIRST_STEPS);
    }
    for (int i = 0; i < s->count; i++) out->z[i] = out->t.rows[i].z;
    for (int i = 0; i < out->point_count; i++) {
        const modes_point *p = &out->points[i];
        out->z[p->normal] = p->closed ? p->normal_force : 0;
        for (int k = 0; p->law && k < 2; k++) out->z[p->law->first + k] = p->closed ? p->force[k] : 0;
    }
    return true;
}

/* ---- choosing */

/* A slip this slow beside the largest rate is none: redundant points at the edge of their cones that stick as
 * well. */
#define NO_SLIP 1e-10

static bool slips(const modes *m, const modes_point *p) {
    double rate = sqrt(p->rate[0] * p->rate[0] + p->rate[1] * p->rate[1]);
    return p->mode == FRICTION_SLIP && rate > NO_SLIP * m->scale;
}

static void write_modes(const modes *m, group *g, bool forces) {
    for (int i = 0; i < m->point_count; i++) {
        const modes_point *p = &m->points[i];
        group_contact *c = &g->contacts[p->contact];
        c->pressed = p->closed, c->idle = false;
        if (forces) c->push = vec3_scale(c->point.normal, p->closed ? p->normal_force : 0);
        if (!p->law) continue;
        for (int k = 0; forces && p->closed && k < 2; k++)
            c->push = vec3_axpy(c->push, p->force[k], p->law->axis[k]);
        vec3 along = vec3_axpy(vec3_scale(p->law->axis[0], p->d[0]), p->d[1], p->law->axis[1]);
        if (!p->closed)
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_FREE, vec3_zero());
        else if (slips(m, p))
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_SLIP, along);
        else
            coulomb_set_mode(c, CONE_FRICTION, FRICTION_STICK, vec3_zero());
    }
}

/* Friction of a lightly loaded point at the edge of its cone is as good as the largest loads are: beyond the
 * edge by rounding, it goes back to it. */
static void into_cones(const modes *m, double *z) {
    for (int i = 0; i < m->point_count; i++) {
        const modes_point *p = &m->points[i];
        if (!p->law) continue;
        double *t = z + p->law->first, bound = p->law->stick * fmax(z[p->normal], 0);
        double size = sqrt(t[0] * t[0] + t[1] * t[1]);
        for (int k = 0; k < 2 && size > bound; k++) t[k] *= bound / size;
    }
}

bool modes_share(const group_system *s, const double *start, arena *scratch, double *z, bool *found) {
    modes m;
    if (!modes_solve(s, NULL, start, MODES_ONE_START, 1e-11, scratch, &m, found)) return false;
    if (!*found) return true;
    for (int i = 0; i < m.point_count; i++)
        if (m.points[i].law && slips(&m, &m.points[i])) return true;
    memcpy(z, m.z, (size_t)s->count * sizeof(double));
    into_cones(&m, z);
    return true;
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
    bool forces = config->build.level == SYSTEM_FORCES;
    double *start = arena_alloc(scratch->arena, (size_t)system->count + 1, sizeof(double));
    if (!start) return fail_memory(error);
    bool near = forces && states_recall_forces(system, start);
    if (!modes_solve(system, config->candidate, near ? start : NULL, MODES_ALL_STARTS,
                     fmin(config->tolerance, 1e-11), scratch->arena, &m, found))
        return fail_memory(error);
    if (!*found) return ABUT_OK;
    write_modes(&m, g, forces);
    size_t n = (size_t)system->count + 1;
    solution->z = m.z;
    solution->w = arena_alloc(scratch->arena, n, sizeof(double));
    solution->state = arena_alloc(scratch->arena, n, 1);
    solution->x = arena_alloc(scratch->arena, (size_t)g->body_count + 1, sizeof(spatial));
    if (!solution->w || !solution->state || !solution->x) return fail_memory(error);
    solution->wide = m.t.equations.is_wide;
    if (solution->wide)
        states_motion(&m.t, solution->x);
    else
        system_apply(system, solution->z, solution->x);
    system_rates(system, solution->x, solution->w);
    solution->outcome = SYSTEM_SOLVED, solution->residual = LAW_TOLERANCE, solution->scale = m.scale;
    return ABUT_OK;
}

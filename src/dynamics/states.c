/* Given states, over the bodies (see states.h). */
#include "dynamics/states.h"

#include "abut/complementarity.h"

static void to_blocks(const int first[2], int block[2]) {
    for (int k = 0; k < 2; k++) block[k] = first[k] >= 0 ? first[k] / BLOCK_SIDE : -1;
}

/* How much a force, or a torque, between two bodies moves them without levers: the same for all points of a
 * face, so that the load is linear over it where the equations leave it open. */
static double ease_of(const group *g, const row *r) {
    double ease = 0;
    bool force = vec3_length2(r->ja.linear) + vec3_length2(r->jb.linear) > 0;
    if (force && r->a >= 0) ease += g->inertias[r->a].inverse_mass;
    if (force && r->b >= 0) ease += g->inertias[r->b].inverse_mass;
    return ease;
}

bool states_make(const group_system *s, arena *scratch, states *out) {
    out->s = s;
    out->rows = arena_alloc(scratch, (size_t)s->count + 1, sizeof *out->rows);
    if (!out->rows || !system_space_make(s->g, scratch, &out->space)) return false;
    for (int i = 0; i < s->count; i++) {
        coupled_row *r = &out->rows[i];
        int first[2];
        system_space_parts(&out->space, s->g, &s->rows[i], first, r->w);
        if (s->columns == s->rows)
            memcpy(r->v, r->w, sizeof r->v);
        else
            system_space_parts(&out->space, s->g, &s->columns[i], first, r->v);
        to_blocks(first, r->block);
        r->b = s->b[i], r->ease = ease_of(s->g, &s->rows[i]);
    }
    out->loads = arena_alloc(scratch, (size_t)out->space.dimension / BLOCK_SIDE + 1, sizeof(double));
    if (!out->loads ||
        !coupled_make(out->space.dimension / BLOCK_SIDE, out->rows, s->count, scratch, &out->equations))
        return false;
    out->equations.thorough = s->g->row_count > 0;
    return true;
}

bool states_solve(states *t, const uint8_t *state, double scale, const double *start, double *z) {
    const group_system *s = t->s;
    memset(t->equations.y, 0, (size_t)t->space.dimension * sizeof(double));
    for (int i = 0; i < s->count; i++) {
        coupled_row *r = &t->rows[i];
        r->holds = state[i] == ABUT_LCP_FREE;
        r->z = state[i] == ABUT_LCP_AT_LOWER ? s->lo[i] : s->hi[i];
        if (r->holds) r->z = start ? start[i] : 0;
    }
    if (!coupled_solve(&t->equations, scale)) return false;
    for (int i = 0; i < s->count; i++) z[i] = t->rows[i].z;
    return true;
}

void states_motion(const states *t, spatial *x) {
    memcpy(x, t->s->base, (size_t)t->s->g->body_count * sizeof(spatial));
    system_space_add(&t->space, t->s->g, t->equations.y, x);
}

bool states_recall_forces(const group_system *s, double *z) {
    const group *g = s->g;
    bool any = false;
    if (s->count <= STATES_SMALL) return false;
    for (int i = 0; i < s->count; i++) z[i] = 0;
    for (int i = 0; i < g->contact_count; i++) {
        const group_contact *c = &g->contacts[i];
        if (s->normal_of[i] < 0) continue;
        z[s->normal_of[i]] = fmax(vec3_dot(c->push, c->point.normal), 0);
        any |= z[s->normal_of[i]] > 0;
    }
    for (int k = 0; k < s->cone_count; k++) {
        const cone *law = &s->cones[k];
        for (int i = 0; law->kind == CONE_FRICTION && law->mode == FRICTION_STICK && i < 2; i++)
            z[law->first + i] = vec3_dot(g->contacts[law->contact].push, law->axis[i]);
    }
    return any;
}

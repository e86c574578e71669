/* Rows of the contacts of bodies on loose hinges, and of those hinges that have bounds or give.
 *
 * The law is that of batches (live_kernels.h) without their springs, which are as stiff as a body of its own
 * mass asks for, while a link of a rope over a beam bears all of the rope:
 *
 *     gap > 0:    u + gap / h >= 0             may just close the gap in this sub-step
 *     gap <= 0:   u + rate gap >= 0            afterwards relaxed to  u >= 0
 *
 * Friction is one block a manifold. */
#include "sim/live_loose.h"

#define MOST_TURN 0.02 /* radians within a step by which points of faceted shapes are moved along */
#define MOST_WAY  0.1  /* and of the smallest body, by which they are */
enum { ROWS = MANIFOLD_POINTS + 5 };

/* ---- for the step */

static void add_member(live_loose *s, int body) {
    if (body < 0 || s->member_of[body] >= 0) return;
    s->member_of[body] = s->members, s->body[s->members++] = body;
}

static bool is_ours(const live *w, const live_link *c) {
    return c->count > 0 && (w->hung[c->a + 1] || w->hung[c->b + 1]);
}

static bool allocate(live *w, live_loose *s, int contacts) {
    arena *m = &w->loose_memory;
    size_t bodies = 2 * (size_t)(contacts + w->loose_hinges.count) + 1,
           rows = ROWS * (size_t)contacts + 3 * (size_t)w->loose_hinges.count + 1;
    s->body = arena_alloc(m, bodies, sizeof *s->body);
    s->mobility = arena_alloc(m, bodies * BLOCK_AREA, sizeof *s->mobility);
    s->velocity = arena_alloc(m, bodies, sizeof *s->velocity);
    s->wrench = arena_alloc(m, bodies, sizeof *s->wrench);
    s->answer = arena_alloc(m, bodies, sizeof *s->answer);
    s->known_of = arena_alloc(m, bodies, sizeof *s->known_of);
    s->borne = arena_alloc(m, bodies, sizeof *s->borne);
    s->burden = arena_alloc(m, bodies, sizeof *s->burden);
    s->response = arena_alloc(m, (size_t)LOOSE_KNOWN * LOOSE_KNOWN * BLOCK_AREA, sizeof *s->response);
    s->wide = arena_alloc(m, (size_t)w->loose_hinges.count * BLOCK_AREA, sizeof *s->wide);
    s->wide_work = arena_alloc(m, (size_t)w->loose_hinges.count * BLOCK_AREA, sizeof *s->wide_work);
    s->used = arena_alloc(m, 2 * (size_t)w->loose_hinges.count, sizeof *s->used);
    s->saved = arena_alloc(m, 2 * bodies, sizeof *s->saved);
    s->saved_rows = arena_alloc(m, rows + LIVE_HINGE_ROWS * (size_t)w->loose_hinges.count, sizeof(double));
    s->contact = arena_alloc(m, (size_t)contacts + 1, sizeof *s->contact);
    s->row = arena_alloc(m, rows, sizeof *s->row);
    s->driven_row = arena_alloc(m, rows, sizeof *s->driven_row);
    s->member_of = arena_alloc(m, (size_t)w->bodies + 1, sizeof *s->member_of);
    return s->body && s->mobility && s->velocity && s->wrench && s->answer && s->contact && s->row &&
           s->driven_row && s->member_of && s->saved && s->saved_rows && s->known_of && s->borne &&
           s->burden && s->response && s->wide && s->wide_work && s->used;
}

bool loose_plan_contacts(live *w) {
    live_loose *s = w->loose;
    int contacts = 0;
    for (int64_t i = 0; i < w->links.count; i++) contacts += is_ours(w, &w->links.data[i]);
    if (!allocate(w, s, contacts)) return false;
    for (int i = 0; i < w->bodies; i++) s->member_of[i] = -1;
    for (int64_t k = 0; k < w->loose_hinges.count; k++) {
        const hinge *h = &w->model->hinges[w->loose_hinges.data[k]].h;
        add_member(s, h->a), add_member(s, h->b);
    }
    for (int64_t i = 0; i < w->links.count; i++) {
        const live_link *c = &w->links.data[i];
        if (!is_ours(w, c)) continue;
        const live_contact *of = &w->contacts.data[i];
        const model_material *m = live_material(w, of->a, of->b);
        s->contact[s->contacts++] = (loose_contact){.contact = (int)i,
                                                    .coefficient = live_coefficient_of(of, m),
                                                    .spinning = m->friction.spinning,
                                                    .rolling = m->friction.rolling};
        add_member(s, c->a), add_member(s, c->b);
        s->mixed |=
            (w->movable[c->a + 1] && !w->hung[c->a + 1]) || (w->movable[c->b + 1] && !w->hung[c->b + 1]);
    }
    return true;
}

/* ---- rows */

static spatial apply(const double *mobility, spatial j) {
    enum { N = BLOCK_SIDE };
    double in[N] = {j.linear.x, j.linear.y, j.linear.z, j.angular.x, j.angular.y, j.angular.z}, out[N] = {0};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) out[i] += mobility[N * i + k] * in[k];
    return (spatial){{out[0], out[1], out[2]}, {out[3], out[4], out[5]}};
}

static loose_row *add_row(live_loose *s, int a, int b, spatial ja, spatial jb) {
    loose_row *r = &s->row[s->rows++];
    *r = (loose_row){.a = a, .b = b, .ja = ja, .jb = jb, .lo = -INFINITY, .hi = INFINITY};
    r->wa = apply(&s->mobility[(size_t)a * BLOCK_AREA], ja);
    if (b >= 0) r->wb = apply(&s->mobility[(size_t)b * BLOCK_AREA], jb);
    r->own = spatial_dot(ja, r->wa) + spatial_dot(jb, r->wb);
    return r;
}

/* Limits, motors and springs of the hinges. */
static void add_driven(live *w) {
    live_loose *s = w->loose;
    for (int64_t i = 0; i < w->rows.count; i++) {
        const live_hinge_row *h = &w->rows.data[i];
        if (loose_holds(h)) continue;
        s->driven_row[s->rows] = (int)i;
        loose_row *r =
            add_row(s, s->member_of[h->r.a], h->r.b >= 0 ? s->member_of[h->r.b] : -1, h->r.ja, h->r.jb);
        r->bias = h->bias, r->give = h->give, r->lo = h->lo, r->hi = h->hi;
        r->impulse = h->impulse;
    }
    s->driven = s->rows;
}

static loose_row *add_force(live_loose *s, const live_contact *c, vec3 ra, vec3 rb, vec3 along) {
    return add_row(s, s->member_of[c->a], s->member_of[c->b], spatial_force_at(along, ra),
                   spatial_scale(spatial_force_at(along, rb), -1));
}

static loose_row *add_couple(live_loose *s, const live_contact *c, vec3 axis) {
    return add_row(s, s->member_of[c->a], s->member_of[c->b], (spatial){vec3_zero(), axis},
                   (spatial){vec3_zero(), vec3_neg(axis)});
}

static vec3 middle_of(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    return vec3_lerp(vec3_add(a->center, quat_rotate(a->rotation, p->on_a)),
                     vec3_add(b->center, quat_rotate(b->rotation, p->on_b)), 0.5);
}

static void fill_point(const live *w, const live_contact *c, int i, bool relax, loose_row *r) {
    double gap = c->points[i].gap + live_moved_gap(w, c, &c->points[i]);
    r->lo = 0, r->impulse = c->loads[i].normal / (1 << w->hinge_pace);
    if (gap > 0)
        r->bias = gap / w->h;
    else if (!relax)
        r->bias = fmax(w->soft[w->hinge_pace].rate * gap, -w->push);
}

static void add_contact(live *w, loose_contact *l, bool relax) {
    live_loose *s = w->loose;
    const live_contact *c = &w->contacts.data[l->contact];
    vec3 at[MANIFOLD_POINTS], middle = vec3_zero(), ca = w->motions[c->a].center,
                              cb = w->motions[c->b].center;
    double part = 1.0 / (1 << w->hinge_pace);
    l->first = s->rows, l->points = c->count;
    for (int i = 0; i < c->count; i++) {
        at[i] = middle_of(w, c, &c->points[i]);
        middle = vec3_axpy(middle, 1.0 / c->count, at[i]);
    }
    for (int i = 0; i < c->count; i++) {
        loose_row *r = add_force(s, c, vec3_sub(at[i], ca), vec3_sub(at[i], cb), c->normal);
        fill_point(w, c, i, relax, r);
        r->lever = vec3_distance(at[i], middle);
    }
    vec3 t1 = vec3_orthogonal(c->normal), t2 = vec3_cross(c->normal, t1);
    vec3 ra = vec3_sub(middle, ca), rb = vec3_sub(middle, cb);
    add_force(s, c, ra, rb, t1)->impulse = part * vec3_dot(c->friction, t1);
    add_force(s, c, ra, rb, t2)->impulse = part * vec3_dot(c->friction, t2);
    add_couple(s, c, c->normal)->impulse = part * c->twist;
    l->rows = s->rows - l->first;
    if (!(l->rolling > 0)) return;
    add_couple(s, c, t1)->impulse = part * vec3_dot(c->rolling, t1);
    add_couple(s, c, t2)->impulse = part * vec3_dot(c->rolling, t2);
    l->rows += 2;
}

/* Within a step, what is curved rolls, what turns comes down on other corners, and what comes from afar meets
 * others. */
static void find_again(live *w, live_contact *c) {
    const live_velocity *a = &w->moved[c->a + 1], *b = &w->moved[c->b + 1];
    bool slight = vec3_length(live_vec3(a->w - b->w)) <= MOST_TURN &&
                  vec3_length(live_vec3(a->v - b->v)) <= MOST_WAY * w->size;
    if (w->faceted[c->a] && w->faceted[c->b] && slight) return;
    if (!w->body[c->a].light || !w->body[c->b].light) return;
    if (!live_collide_again(w, c)) live_place_again(w, c);
    live_take_back(w, c);
}

/* Of bodies that have rows. */
static void find_mobilities(live *w) {
    live_loose *s = w->loose;
    memset(s->borne, 0, (size_t)s->members);
    for (int64_t i = 0; i < w->rows.count; i++) {
        const row *r = &w->rows.data[i].r;
        if (loose_holds(&w->rows.data[i])) continue;
        s->borne[s->member_of[r->a]] = true;
        if (r->b >= 0) s->borne[s->member_of[r->b]] = true;
    }
    for (int i = 0; i < s->contacts; i++) {
        const live_contact *c = &w->contacts.data[s->contact[i].contact];
        s->borne[s->member_of[c->a]] = s->borne[s->member_of[c->b]] = true;
    }
    bool any = memchr(s->borne, true, (size_t)s->members);
    if (any && s->solvable) block_lu_invert(&s->matrix);
    for (int i = 0; i < s->members; i++)
        if (s->borne[i]) loose_mobility(w, s->body[i], &s->mobility[(size_t)i * BLOCK_AREA]);
}

void loose_find_rows(live *w, bool relax, int number) {
    bool moved = relax || number == 0; /* a sub-step begins where the last one was relaxed */

    live_loose *s = w->loose;
    s->rows = s->driven = 0, s->still = false;
    if (moved) find_mobilities(w);
    add_driven(w);
    for (int i = 0; i < s->contacts; i++) {
        if (number > 0 && !relax) find_again(w, &w->contacts.data[s->contact[i].contact]);
        add_contact(w, &s->contact[i], relax);
    }
}

/* ---- and back */

/* The sum of its impulses. */
static vec3 keep_contact(live *w, const loose_contact *l) {
    live_contact *c = &w->contacts.data[l->contact];
    const loose_row *r = &w->loose->row[l->first], *f = r + l->points;
    double all = 1 << w->hinge_pace, pressure = 0;
    for (int i = 0; i < l->points; i++) c->loads[i].normal = all * r[i].impulse, pressure += r[i].impulse;
    vec3 t1 = f[0].ja.linear, t2 = f[1].ja.linear;
    vec3 friction = vec3_axpy(vec3_scale(t1, f[0].impulse), f[1].impulse, t2);
    c->friction = vec3_scale(friction, all), c->twist = all * f[2].impulse;
    if (l->rolling > 0)
        c->rolling = vec3_scale(vec3_axpy(vec3_scale(t1, f[3].impulse), f[4].impulse, t2), all);
    return vec3_axpy(friction, pressure, c->normal);
}

void loose_keep_rows(live *w) {
    live_loose *s = w->loose;
    for (int i = 0; i < s->contacts; i++) keep_contact(w, &s->contact[i]);
}

void loose_note_pressed(live *w) {
    const live_loose *s = w->loose;
    for (int i = s->driven; i < s->rows; i++)
        if (s->row[i].impulse != 0)
            w->bounces[s->body[s->row[i].a] + 1] = w->bounces[s->body[s->row[i].b] + 1] = false;
}

void loose_end_rows(live *w, int number, bool last) {
    live_loose *s = w->loose;
    for (int i = 0; i < s->contacts; i++) {
        const loose_contact *l = &s->contact[i];
        live_contact *c = &w->contacts.data[l->contact];
        double inverse = (w->masses[c->a + 1].inverse + w->masses[c->b + 1].inverse) / w->unit;
        live_note_pushed(w, c, keep_contact(w, l), inverse, number == 0);
        if (last) live_settle_contact(w, c, l->coefficient);
    }
}

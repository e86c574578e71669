/* The flat end of a cylinder that lies on a plane (a half-space, a face, the end of another cylinder).
 *
 * The end is a disc, and the plane carries it at any of its points.  Normal velocities and accelerations of
 * the points of a rigid body against a plane are affine, so over the rim
 *
 *     f(u) = alpha + r beta . u,  u unit in the plane,     least:  alpha - r |beta|  at  u = -beta/|beta|,
 *
 * and the disc stays out of the plane just when that least value is not negative.  The contact problem is
 * solved over few points of the rim; where the least value of its solution is negative that point of the rim
 * is added, and it is solved again (a cutting plane for each point, which ends when the disc is carried).
 * Points that carry nothing are forgotten.
 *
 * Where the rim leans, its deepest point is in closed form (contact/element.h), and is the only one. */
#include "contact/flat.h"
#include "sim/exact.h"

typedef struct disc {
    int a, b;       /* local */
    bool first;     /* the cylinder is a */
    int32_t end;    /* 0: lower, 1: upper */
    int32_t ground; /* face of the other */
    vec3 normal;    /* of the contact, from b to a */
} disc;

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

static bool is_cut(contact_feature f) {
    return f.kind == FEATURE_EDGE && f.id >= SHAPE_FIRST_CUT && f.id < SHAPE_FIRST_CUT + 2 * SHAPE_RIM_CUTS;
}

static bool is_cylinder(const contact_shape *s) { return s->shape.kind == ABUT_SHAPE_CYLINDER; }

/* The touch is a point of a rim that was added here. */
static bool is_cut_touch(const exact *x, int64_t i) {
    const near_pair *p = &x->touches.data[i].pair;
    const group_contact *c = &x->contacts.data[i];
    return (is_cylinder(shape_of(x, c->a)) && is_cut(p->fa)) ||
           (is_cylinder(shape_of(x, c->b)) && is_cut(p->fb));
}

/* The disc of body a (first) or b that the contact is part of. */
static bool disc_of(const exact *x, int64_t i, bool first, disc *out) {
    const group_contact *c = &x->contacts.data[i];
    const near_pair *p = &x->touches.data[i].pair;
    const contact_shape *a = shape_of(x, c->a), *b = shape_of(x, c->b);
    if (!is_cylinder(first ? a : b)) return false;
    vec3 n = c->point.normal;
    int32_t fa = flat_face(a, p->fa, quat_unrotate(x->motions[c->a].rotation, vec3_neg(n)));
    int32_t fb = flat_face(b, p->fb, quat_unrotate(x->motions[c->b].rotation, n));
    if (fa < 0 || fb < 0) return false;
    *out = (disc){c->a, c->b, first, first ? fa : fb, first ? fb : fa, n};
    return true;
}

static bool same_disc(const disc *p, const disc *q) {
    return p->a == q->a && p->b == q->b && p->first == q->first && p->end == q->end && p->ground == q->ground;
}

/* Contacts before i have said it. */
static bool is_known(const exact *x, int64_t i, const disc *d) {
    disc other;
    for (int64_t k = 0; k < i; k++)
        if (disc_of(x, k, d->first, &other) && same_disc(&other, d)) return true;
    return false;
}

/* The point of the rim in direction u (world) with the plane it lies on, as a pair of features; `slot` names
 * it. */
static near_pair pair_at(const exact *x, const disc *d, vec3 u, int slot) {
    int cylinder = d->first ? d->a : d->b, other = d->first ? d->b : d->a;
    const contact_shape *s = shape_of(x, cylinder), *o = shape_of(x, other);
    const element *rim = &s->elements[2 * d->end]; /* rim, end, rim, end */
    element point = {.kind = ELEMENT_POINT,
                     .p = vec3_axpy(rim->p, rim->r, quat_unrotate(x->motions[cylinder].rotation, u)),
                     .d = rim->d};
    contact_feature on_rim = {FEATURE_EDGE, SHAPE_FIRST_CUT + d->end * SHAPE_RIM_CUTS + slot},
                    on_face = {FEATURE_FACE, d->ground};
    element plane;
    if (o->shape.kind == ABUT_SHAPE_SOLID) {
        plane = contact_shape_face(o, d->ground);
    } else {
        int k = is_cylinder(o) ? 2 * d->ground + 1 : 0;
        plane = o->elements[k], on_face = o->features[k];
    }
    if (d->first) return (near_pair){point, plane, on_rim, on_face, 1};
    return (near_pair){plane, point, on_face, on_rim, 1};
}

/* A name that no cut of the end has; -1: there is none. */
static int free_slot(const exact *x, const disc *d) {
    for (int slot = 0; slot < SHAPE_RIM_CUTS; slot++) {
        bool used = false;
        for (int64_t i = 0; i < x->contacts.count && !used; i++) {
            const group_contact *c = &x->contacts.data[i];
            const near_pair *p = &x->touches.data[i].pair;
            int32_t id = SHAPE_FIRST_CUT + d->end * SHAPE_RIM_CUTS + slot;
            used =
                c->a == d->a && c->b == d->b && is_cut_touch(x, i) && (d->first ? p->fa.id : p->fb.id) == id;
        }
        if (!used) return slot;
    }
    return -1;
}

/* gap'' of a point of the rim. */
static double gap_acceleration(const exact *x, const disc *d, const contact_point *p) {
    const motion *a = &x->motions[d->a], *b = &x->motions[d->b];
    const spatial *aa = d->a < x->movable ? &x->accelerations[d->a] : &x->prescribed[d->a],
                  *ab = d->b < x->movable ? &x->accelerations[d->b] : &x->prescribed[d->b];
    vec3 of_a = vec3_add(aa->linear, vec3_cross(aa->angular, vec3_sub(p->at, a->center)));
    vec3 of_b = vec3_add(ab->linear, vec3_cross(ab->angular, vec3_sub(p->at, b->center)));
    return vec3_dot(p->normal, vec3_sub(of_a, of_b)) + contact_gap_drift(p, a, b);
}

/* A point of the rim, and how its gap changes. */
typedef struct rim_point {
    exact_near near;
    contact_point at;
    double rate, acceleration;
    bool faces;
} rim_point;

static bool look(const exact *x, const disc *d, vec3 u, int slot, rim_point *p) {
    p->near = (exact_near){.pair = pair_at(x, d, u, slot), .a = d->a, .b = d->b};
    if (!exact_near_at(x, &p->near, &p->at, &p->faces)) return false;
    p->rate = exact_gap_rate(x, d->a, d->b, &p->at), p->acceleration = gap_acceleration(x, d, &p->at);
    return true;
}

/* The direction in which an affine function over the rim is least, from its values in directions s, -s and t;
 * and by how much it is below that of the middle. */
static double least(const double f[3], vec3 s, vec3 t, vec3 *u) {
    double middle = (f[0] + f[1]) / 2, along = (f[0] - f[1]) / 2, across = f[2] - middle;
    double length = sqrt(along * along + across * across);
    *u = length > 0 ? vec3_axpy(vec3_scale(s, -along / length), -across / length, t) : s;
    return length;
}

/* The point at which the rate is least, or among those that have none the acceleration: where the disc turns
 * over a point of its rim, all others are on their way. */
static bool least_over_rim(const exact *x, const disc *d, disc_order order, double limit, vec3 *u) {
    vec3 s = vec3_orthogonal(d->normal), t = vec3_cross(d->normal, s);
    const vec3 around[3] = {s, vec3_neg(s), t};
    double rate[3], acceleration[3];
    rim_point p;
    for (int k = 0; k < 3; k++) {
        if (!look(x, d, around[k], 0, &p)) return false;
        rate[k] = p.rate, acceleration[k] = p.acceleration;
    }
    double tilting = least(rate, s, t, u);
    if (order == DISC_ACCELERATION)
        return tilting <= exact_approach_limit(x) && least(acceleration, s, t, u) > limit;
    return tilting > limit;
}

/* Some touch is there already, to a part of the radius at which the disc between differs by rounding. */
static bool is_there(const exact *x, const disc *d, vec3 at) {
    double r = shape_of(x, d->first ? d->a : d->b)->shape.radius;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        const group_contact *c = &x->contacts.data[i];
        if (c->a == d->a && c->b == d->b && vec3_distance(c->point.at, at) <= 1e-7 * r) return true;
    }
    return false;
}

static vec3 middle_of(const exact *x, const disc *d) {
    int cylinder = d->first ? d->a : d->b;
    const motion *m = &x->motions[cylinder];
    return vec3_add(m->center, quat_rotate(m->rotation, shape_of(x, cylinder)->elements[2 * d->end].p));
}

static double radius_of(const exact *x, const disc *d) {
    return shape_of(x, d->first ? d->a : d->b)->shape.radius;
}

/* Where the load of a disc lies: its direction from the middle, and how far from there on the rim the points
 * are that carry it. */
typedef struct disc_load {
    vec3 u;
    double width;
} disc_load;

/* Load of contact i if it is one of the disc, otherwise 0. */
static double load_of(const exact *x, const disc *d, int64_t i) {
    disc other;
    double n = x->loads.data[i].normal;
    return n > 0 && disc_of(x, i, d->first, &other) && same_disc(&other, d) ? n : 0;
}

/* False where the load lies well inside.  Points with less than a thousandth of it do not count for the
 * width: the solution of least norm gives crumbs to all that touch. */
static bool find_load(const exact *x, const disc *d, disc_load *out) {
    vec3 middle = middle_of(x, d), sum = vec3_zero();
    double load = 0, r = radius_of(x, d);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        double n = load_of(x, d, i);
        sum = vec3_axpy(sum, n, vec3_sub(x->contacts.data[i].point.at, middle)), load += n;
    }
    sum = vec3_axpy(sum, -vec3_dot(sum, d->normal), d->normal);
    double length = vec3_length(sum);
    if (!(length > 0.5 * load * r)) return false;
    out->u = vec3_scale(sum, 1 / length);
    vec3 at = vec3_axpy(middle, r, out->u);
    out->width = 0;
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (load_of(x, d, i) > 1e-3 * load)
            out->width = fmax(out->width, vec3_distance(x->contacts.data[i].point.at, at));
    return true;
}

/* Points that carry the disc nearer to each other than this part of the radius are replaced by one, where
 * their load lies: it misses by the square of this, and points that nearly coincide make a bad problem. */
#define ONE_POINT 1e-3

/* A cut that a round asks for. */
typedef struct cut {
    rim_point point;
    bool replaces; /* the others of the disc */
} cut;

/* Where two points carry the disc and the load lies beyond their chord, the disc will turn about a point of
 * the rim near the load: the cut is there, and its error is of second order in the chord.  Where one carries
 * it, or none, the cut is at the least value: so the point about which it turns is between the two. */
static bool needs_cut(const exact *x, const disc *d, disc_order order, double limit, cut *out) {
    vec3 u;
    rim_point *p = &out->point, loaded;
    disc_load load;
    int slot = free_slot(x, d);
    out->replaces = false;
    if (slot < 0 || !least_over_rim(x, d, order, limit, &u) || !look(x, d, u, slot, p) || !p->faces)
        return false;
    if (p->at.gap > exact_touching_gap(x, false, p->rate)) return false;
    if ((order == DISC_RATE ? p->rate : p->acceleration) >= -limit) return false;
    if (order == DISC_ACCELERATION && find_load(x, d, &load) && load.width > 1e-9 * radius_of(x, d) &&
        look(x, d, load.u, slot, &loaded) && loaded.faces) {
        out->replaces = load.width <= ONE_POINT * radius_of(x, d);
        if (out->replaces || !is_there(x, d, loaded.at.at)) *p = loaded;
    }
    return out->replaces || !is_there(x, d, p->at.at);
}

/* Forgets the cuts of the disc. */
static abut_status forget_cuts(exact *x, const disc *d, abut_error *error) {
    arena_mark mark = arena_save(x->arena);
    bool *kept = arena_alloc(x->arena, (size_t)x->contacts.count + 1, sizeof *kept);
    if (!kept) return fail_memory(error);
    for (int64_t i = 0; i < x->contacts.count; i++) {
        disc other;
        kept[i] = !is_cut_touch(x, i) || !disc_of(x, i, d->first, &other) || !same_disc(&other, d);
    }
    exact_keep_touches(x, kept);
    arena_restore(x->arena, mark);
    return ABUT_OK;
}

/* The next disc from contact *i on; false at the end. */
static bool next_disc(const exact *x, int64_t *i, disc *d) {
    for (; *i < 2 * x->contacts.count; ++*i)
        if (disc_of(x, *i / 2, *i % 2 == 0, d) && !is_known(x, *i / 2, d)) return true;
    return false;
}

abut_status exact_disc_cut(exact *x, disc_order order, double limit, bool *added, abut_error *error) {
    disc d;
    *added = false;
    for (int64_t i = 0; next_disc(x, &i, &d); i++) {
        cut c;
        if (!needs_cut(x, &d, order, limit, &c)) continue;
        abut_status status = c.replaces ? forget_cuts(x, &d, error) : ABUT_OK;
        if (status != ABUT_OK) return status;
        if (!exact_add_touch(x, &c.point.near)) return fail_memory(error);
        *added = true;
        if (c.replaces) return ABUT_OK; /* contacts have moved: the next round has the others */
    }
    return ABUT_OK;
}

/* ---- points of a rim, and the place of a rim that leans */

/* Part of the radius within which the two are one place: far less than the points of a disc are apart, far
 * more than rounding moves the place of a rim that has just come to lean. */
#define SAME_PLACE 1e-2

bool exact_disc_is_point(const exact *x, const exact_near *n) {
    bool a =
        n->pair.a.kind == ELEMENT_POINT && n->pair.b.kind == ELEMENT_PLANE && is_cylinder(shape_of(x, n->a));
    return a || (n->pair.b.kind == ELEMENT_POINT && n->pair.a.kind == ELEMENT_PLANE &&
                 is_cylinder(shape_of(x, n->b)));
}

bool exact_disc_yields(const exact *x, const exact_near *n, const contact_point *point) {
    if (!exact_disc_is_point(x, n)) return false;
    bool first = n->pair.a.kind == ELEMENT_POINT;
    const contact_shape *s = shape_of(x, first ? n->a : n->b);
    const element *spot = first ? &n->pair.a : &n->pair.b;
    element rim = s->elements[spot->d.z > 0 ? 2 : 0];
    contact_point p;
    near_pair leaning = {first ? rim : n->pair.a, first ? n->pair.b : rim, n->pair.fa, n->pair.fb, 1};
    if (!element_contact(&leaning.a, &x->motions[n->a], &leaning.b, &x->motions[n->b], 1, &p, NULL, NULL))
        return false;
    return vec3_distance(p.at, point->at) <= SAME_PLACE * rim.r;
}

bool exact_disc_keeps(const exact *x, int64_t item, near_pair *pair, contact_point *point) {
    double epsilon = x->model->tolerance.touching;
    const group_contact *c = &x->contacts.data[item];
    if (!is_cut_touch(x, item) || !c->pressed || c->idle) return false;
    exact_near n = {.pair = x->touches.data[item].pair, .a = c->a, .b = c->b};
    bool faces;
    *pair = n.pair;
    return exact_near_at(x, &n, point, &faces) && faces && fabs(point->gap) <= epsilon &&
           !exact_disc_yields(x, &n, point);
}

int64_t exact_disc_before(const exact *x, int64_t count, const exact_near *n, const contact_point *point) {
    if (!exact_disc_is_rim(&n->pair)) return -1;
    double r = n->pair.a.kind == ELEMENT_CIRCLE ? n->pair.a.r : n->pair.b.r;
    for (int64_t i = 0; i < count; i++) {
        const group_contact *c = &x->contacts.data[i];
        exact_near old = {.pair = x->touches.data[i].pair, .a = c->a, .b = c->b};
        if (c->a == n->a && c->b == n->b && exact_disc_is_point(x, &old) &&
            vec3_distance(c->point.at, point->at) <= SAME_PLACE * r)
            return i;
    }
    return -1;
}

bool exact_disc_is_rim(const near_pair *p) {
    bool a = p->a.kind == ELEMENT_CIRCLE, b = p->b.kind == ELEMENT_CIRCLE;
    const element *other = a ? &p->b : &p->a;
    return (a || b) && (other->kind == ELEMENT_PLANE || other->kind == ELEMENT_CAVITY);
}

/* A rim that leans on a wall, with the motions of both. */
typedef struct rim_on_wall {
    element *rim;
    const element *wall;
    const motion *of_rim, *of_wall;
} rim_on_wall;

static bool rim_of(const exact *x, int64_t item, rim_on_wall *out) {
    const group_contact *c = &x->contacts.data[item];
    near_pair *p = &x->touches.data[item].pair;
    const motion *a = &x->motions[c->a], *b = &x->motions[c->b];
    bool first = p->a.kind == ELEMENT_CIRCLE;
    *out = first ? (rim_on_wall){&p->a, &p->b, a, b} : (rim_on_wall){&p->b, &p->a, b, a};
    return exact_disc_is_rim(p);
}

void exact_disc_remember(exact *x) {
    rim_on_wall r;
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (rim_of(x, i, &r)) element_remember_tip(r.rim, r.of_rim, r.wall, r.of_wall);
}

bool exact_disc_turned(const exact *x, int64_t item) {
    rim_on_wall r;
    return rim_of(x, item, &r) && element_tip_turned(r.rim, r.of_rim, r.wall, r.of_wall);
}

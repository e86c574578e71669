/* Smooth surfaces in contact: evaluating and following a place over the atlas. */
#include "contact/smooth.h"
#include "contact/patch.h"

enum { CROSSINGS = 64 };

/* ---- evaluating */

typedef struct placed {
    contact_point point;
    patch_place places[2]; /* on a and on b, where they are patches */
    bool inside;           /* the domains of the patches */
    bool faces;            /* and the features of the other face it */
} placed;

/* The other element's own question, for a pair patch (of x) against e (of y); the normal from y to x. */
static bool other_faces(const contact_shape *y, const motion *my, const element *e, contact_feature f,
                        const element *patch, const contact_point *p, double t, double slack) {
    vec3 at = quat_unrotate(my->rotation, vec3_sub(p->at, my->center));
    return near_feature_faces(y, e, f, patch, quat_unrotate(my->rotation, p->normal), at, t, slack);
}

/* A patch of x against an element of y that is no patch; the normal points from y to x. */
static bool evaluate_one(const contact_shape *x, const motion *mx, const element *patch,
                         const contact_shape *y, const motion *my, const element *e, contact_feature f,
                         double slack, placed *out, patch_place *place) {
    double t = 0;
    bool found = e->kind == ELEMENT_PLANE
                     ? patch_plane(x->atlas, patch, mx, e, my, slack, &out->point, &out->inside, place)
                     : patch_point(x->atlas, patch, mx, e, my, slack, &out->point, &out->inside, place, &t);
    out->faces = found && out->inside && other_faces(y, my, e, f, patch, &out->point, t, slack);
    return found;
}

static bool evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                     const motion *mb, double slack, placed *out) {
    if (pair->a.kind == ELEMENT_PATCH && pair->b.kind == ELEMENT_PATCH) {
        bool found = patch_patch(a->atlas, &pair->a, ma, b->atlas, &pair->b, mb, slack, &out->point,
                                 &out->inside, out->places);
        out->faces = found && out->inside;
        return found;
    }
    if (pair->a.kind == ELEMENT_PATCH)
        return evaluate_one(a, ma, &pair->a, b, mb, &pair->b, pair->fb, slack, out, &out->places[0]);
    if (!evaluate_one(b, mb, &pair->b, a, ma, &pair->a, pair->fa, slack, out, &out->places[1])) return false;
    out->point.normal = vec3_neg(out->point.normal);
    out->point.normal_rate = vec3_neg(out->point.normal_rate);
    return true;
}

bool smooth_evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                     const motion *mb, double slack, contact_point *point, bool *faces) {
    placed p;
    if (!evaluate(pair, a, ma, b, mb, slack, &p)) return false;
    *point = p.point;
    if (faces) *faces = p.faces;
    return true;
}

/* ---- following */

/* Twice the width of the extended boundary, in parameters: abut_surface_settle() crosses there for certain.
 * The wider it is, the more the patches beyond their border differ in the velocity of the gap (difference of
 * curvatures times width times speed); this one keeps that below what counts as an approach. */
static const double extended = 2e-9;

static bool is_outside(const contact_shape *s, const element *e, const patch_place *place) {
    return e->kind == ELEMENT_PATCH &&
           abut_surface_outside(s->atlas, (abut_surface_point){e->patch, place->u, place->v}, NULL) >
               extended;
}

bool smooth_leaves(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack) {
    placed p;
    return !evaluate(pair, a, ma, b, mb, slack, &p) || !p.faces || is_outside(a, &pair->a, &p.places[0]) ||
           is_outside(b, &pair->b, &p.places[1]);
}

/* Moves the element to the place found on it, over borders; how many were crossed, -1 where the surface ends.
 */
static int move_to(const contact_shape *s, element *e, contact_feature *f, const patch_place *place) {
    abut_surface_point at = {e->patch, place->u, place->v};
    double rate[2] = {place->u_rate, place->v_rate};
    int crossings = 0;
    abut_status status = abut_surface_settle(s->atlas, &at, rate, NULL, &crossings, NULL);
    e->patch = at.patch, e->u = at.u, e->v = at.v;
    f->id = at.patch;
    return status == ABUT_OK ? crossings : -1;
}

/* A place against a plane that is no longer the deepest near it moves on to the one that is. */
static bool descend(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                    const motion *mb, double flat) {
    bool first = pair->a.kind == ELEMENT_PATCH;
    const element *plane = first ? &pair->b : &pair->a;
    if (plane->kind != ELEMENT_PLANE) return false;
    const motion *m = first ? ma : mb, *mp = first ? mb : ma;
    vec3 n = quat_unrotate(m->rotation, quat_rotate(mp->rotation, plane->d));
    return patch_descend((first ? a : b)->atlas, first ? &pair->a : &pair->b, n, flat);
}

/* How many rounds of Newton's method are left for the walk; 0: no walk. */
static void set_walking(near_pair *pair, int rounds) {
    if (pair->a.kind == ELEMENT_PATCH) pair->a.branch = rounds;
    if (pair->b.kind == ELEMENT_PATCH) pair->b.branch = rounds;
}

/* Where Newton's method from far away finds nothing, or goes round in circles over the borders: down from the
 * start, with every step lower than the one before, which ends at the place that is deepest or closest near
 * it. */
static bool go_down(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                    const motion *mb) {
    bool first = pair->a.kind == ELEMENT_PATCH;
    bool found;
    if (first && pair->b.kind == ELEMENT_PATCH)
        found = smooth_descend_between(a, &pair->a, ma, b, &pair->b, mb);
    else if (first)
        found = smooth_descend(a->atlas, &pair->a, ma, &pair->b, mb);
    else
        found = smooth_descend(b->atlas, &pair->b, mb, &pair->a, ma);
    if (first) pair->fa.id = pair->a.patch;
    if (pair->b.kind == ELEMENT_PATCH) pair->fb.id = pair->b.patch;
    return found;
}

/* Over borders to where the place is; and, where it has ended there, down to the next (`descends`). */
static bool walk(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                 const motion *mb, double slack, bool descends, contact_point *point, bool *faces,
                 int *crossings) {
    placed p;
    bool ends = false, there = false;
    int descended = descends ? 0 : 1, left = PATCH_ROUNDS_OF_WALK;
    if (crossings) *crossings = 0;
    for (int round = 0; round < CROSSINGS && !there; round++) {
        set_walking(pair, left);
        if (left <= 0 || !evaluate(pair, a, ma, b, mb, slack, &p)) {
            set_walking(pair, 0);
            return false;
        }
        left -= p.places[pair->a.kind == ELEMENT_PATCH ? 0 : 1].rounds;
        int crossed = 0, one;
        if (pair->a.kind == ELEMENT_PATCH) {
            one = move_to(a, &pair->a, &pair->fa, &p.places[0]);
            ends |= one<0, crossed += one> 0 ? one : 0;
        }
        if (pair->b.kind == ELEMENT_PATCH) {
            one = move_to(b, &pair->b, &pair->fb, &p.places[1]);
            ends |= one<0, crossed += one> 0 ? one : 0;
        }
        if (crossings) *crossings += crossed;
        there = ends || (crossed == 0 && (p.faces || descended++ || !descend(pair, a, ma, b, mb, 0)));
    }
    set_walking(pair, 0);
    *point = p.point;
    *faces = p.faces;
    return there; /* or it goes round in circles */
}

static bool follow(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, bool descends, contact_point *point, bool *faces,
                   int *crossings) {
    near_pair start = *pair;
    if (walk(pair, a, ma, b, mb, slack, descends, point, faces, crossings)) return true;
    *pair = start;
    if (!go_down(pair, a, ma, b, mb)) return false;
    bool found = walk(pair, a, ma, b, mb, slack, descends, point, faces, crossings);
    if (crossings && found && *crossings == 0)
        *crossings = pair->fa.id != start.fa.id || pair->fb.id != start.fb.id;
    return found;
}

bool smooth_follow(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, contact_point *point, bool *faces, int *crossings) {
    return follow(pair, a, ma, b, mb, slack, true, point, faces, crossings);
}

bool smooth_follow_same(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                        const motion *mb, double slack, contact_point *point, bool *faces) {
    return follow(pair, a, ma, b, mb, slack, false, point, faces, NULL);
}

bool smooth_jump(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                 const motion *mb, double slack, contact_point *point, bool *faces) {
    return descend(pair, a, ma, b, mb, 0.05) && smooth_follow(pair, a, ma, b, mb, slack, point, faces, NULL);
}

bool smooth_fix_place(near_pair *pair, const contact_shape *a, const contact_shape *b) {
    bool first = pair->a.kind == ELEMENT_PATCH;
    element *e = first ? &pair->a : &pair->b;
    const element *other = first ? &pair->b : &pair->a;
    abut_partials p;
    if (e->kind != ELEMENT_PATCH || other->kind != ELEMENT_PLANE ||
        !abut_surface_evaluate((first ? a : b)->atlas, e->patch, e->u, e->v, 0, &p))
        return false;
    *e = (element){.kind = ELEMENT_POINT, .p = vec3_add(p.c, e->p)};
    return true;
}

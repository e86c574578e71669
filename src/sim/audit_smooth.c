/* How deep a smooth surface reaches into another body, by another way than the places that the clock follows,
 * so that a collision which those miss does not pass for a kept promise: a closed surface into other shapes
 * by its samples (what lies between them is not seen: the depth is a lower bound).  Two surfaces:
 * audit_surfaces.c. */
#include "contact/smooth.h"
#include "sim/start.h"

typedef struct looker {
    const contact_shape *x, *y;
    pose x_in_y;
    const ready_solid *solid; /* of y, if it is one */
    double depth;
} looker;

/* Depth of a point (axes of y, from its centre of mass) in an analytic shape; negative outside. */
static double depth_in(const contact_shape *y, vec3 p) {
    const element *e = &y->elements[0];
    const abut_shape *s = &y->shape;
    vec3 q = vec3_add(p, y->center);
    switch (s->kind) {
    case ABUT_SHAPE_HALFSPACE: return -vec3_dot(e->d, vec3_sub(p, e->p));
    case ABUT_SHAPE_SPHERE: return s->radius - vec3_length(q);
    case ABUT_SHAPE_CAVITY: return vec3_length(q) - s->radius;
    case ABUT_SHAPE_CYLINDER: return fmin(s->radius - sqrt(q.x * q.x + q.y * q.y), s->length / 2 - fabs(q.z));
    case ABUT_SHAPE_CAPSULE: {
        double half = s->length / 2, z = fmin(fmax(q.z, -half), half);
        return s->radius - vec3_length(vec3_make(q.x, q.y, q.z - z));
    }
    case ABUT_SHAPE_ELLIPSOID: { /* the smaller ellipsoid through q is as far inside as its shortest axis is
                                    less */
        vec3 a = s->axes, r = {q.x / a.x, q.y / a.y, q.z / a.z};
        return (1 - vec3_length(r)) * fmin(a.x, fmin(a.y, a.z));
    }
    default: return 0;
    }
}

/* Whether a point is deeper in the solid than the least depth of interest; then how deep, to a factor of two.
 */
static double depth_in_solid(const looker *l, vec3 p, double least) {
    vec3 q = vec3_add(p, l->y->center);
    double depth = 0;
    while (abut_index_point(l->solid->index, l->solid->solid, q, least).kind == ABUT_INSIDE)
        depth = least, least *= 2;
    return depth;
}

static bool visit(void *user, int32_t patch) {
    looker *l = user;
    const smooth_samples *all = l->x->smooth;
    for (int32_t i = all->first[patch]; i < all->first[patch + 1]; i++) {
        vec3 p = pose_point(l->x_in_y, all->samples[i].at);
        double depth = l->solid ? depth_in_solid(l, p, l->depth) : depth_in(l->y, p);
        l->depth = fmax(l->depth, depth);
    }
    return true;
}

abut_status audit_smooth_depth(checker *c, int surface, int other, double least, double *depth,
                               abut_error *error) {
    const model_body *x = &c->model->bodies[surface], *y = &c->model->bodies[other];
    vec3 where, away;
    *depth = 0;
    if (y->shape.shape.kind == ABUT_SHAPE_SURFACE)
        return audit_surfaces_depth(c, surface, other, least, depth, &where, &away, error);
    if (!abut_surface_is_closed(x->shape.atlas)) return ABUT_OK;
    pose px = {c->now[surface].center, c->now[surface].rotation},
         py = {c->now[other].center, c->now[other].rotation};
    looker l = {.x = &x->shape, .y = &y->shape, .x_in_y = pose_relative(px, py), .depth = least};
    if (y->shape.shape.kind == ABUT_SHAPE_SOLID) {
        ready_solid *r = start_ready(c, y->shape.shape.solid);
        if (!r) return fail_memory(error);
        abut_status status =
            r->index ? ABUT_OK : abut_index_build(c->context, r->solid, NULL, &r->index, error);
        if (status != ABUT_OK) return status;
        l.solid = r;
    }
    if (y->shape.shape.kind == ABUT_SHAPE_HALFSPACE) {
        const element *e = &y->shape.elements[0];
        vec3 n = quat_unrotate(px.rotation, quat_rotate(py.rotation, e->d));
        vec3 p = pose_unpoint(px, pose_point(py, e->p));
        box_tree_below(&x->shape.faces, n, vec3_dot(n, p), visit, &l);
    } else {
        box all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        double r = y->shape.radius;
        vec3 at = pose_unpoint(px, py.position);
        if (isfinite(r)) all = (box){vec3_sub(at, vec3_make(r, r, r)), vec3_add(at, vec3_make(r, r, r))};
        box_tree_query(&x->shape.faces, all, visit, &l);
    }
    if (l.depth > least) *depth = l.depth;
    return ABUT_OK;
}

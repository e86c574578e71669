/* Elements of every shape.  An analytic shape is a short list of them:
 *
 *   sphere      one point with its radius          capsule     the two end points and the axis between them,
 * with the radius half-space  one plane                          cylinder    two rims, two caps, the axis
 * with the radius, and on each rim eight cavity      one cavity                                     points,
 * which carry it where it stands flat and the rim has no ellipsoid   one ellipsoid single deepest point */
#include "contact/shape.h"
#include "contact/smooth.h"
#include "solid/solid.h"

static void add(contact_shape *s, element e, feature_kind kind) {
    assert(s->element_count < SHAPE_ELEMENTS);
    s->features[s->element_count] = (contact_feature){kind, s->element_count};
    s->elements[s->element_count++] = e;
}

static void make_round(contact_shape *s) {
    const abut_shape *shape = &s->shape;
    vec3 o = vec3_neg(s->center);
    switch (shape->kind) {
    case ABUT_SHAPE_SPHERE:
        add(s, (element){.kind = ELEMENT_POINT, .p = o, .r = shape->radius}, FEATURE_SMOOTH);
        break;
    case ABUT_SHAPE_CAVITY:
        add(s, (element){.kind = ELEMENT_CAVITY, .p = o, .r = shape->radius}, FEATURE_SMOOTH);
        break;
    case ABUT_SHAPE_ELLIPSOID:
        add(s, (element){.kind = ELEMENT_ELLIPSOID, .p = o, .axes = shape->axes}, FEATURE_SMOOTH);
        break;
    case ABUT_SHAPE_HALFSPACE: {
        double length = vec3_length(shape->normal);
        vec3 n = vec3_scale(shape->normal, 1 / length);
        add(s, (element){.kind = ELEMENT_PLANE, .p = vec3_axpy(o, shape->offset / length, n), .d = n},
            FEATURE_FACE);
        break;
    }
    default: break;
    }
}

static void make_capsule(contact_shape *s) {
    double r = s->shape.radius, half = s->shape.length / 2;
    vec3 o = vec3_neg(s->center), z = {0, 0, 1};
    add(s, (element){.kind = ELEMENT_POINT, .p = vec3_axpy(o, half, z), .d = z, .r = r}, FEATURE_SMOOTH);
    add(s, (element){.kind = ELEMENT_POINT, .p = vec3_axpy(o, -half, z), .d = vec3_neg(z), .r = r},
        FEATURE_SMOOTH);
    add(s, (element){.kind = ELEMENT_LINE, .p = o, .d = z, .lo = -half, .hi = half, .r = r}, FEATURE_SMOOTH);
}

/* cos and sin of multiples of 45 degrees, so that the bits do not depend on libm */
static const double rim_cosine[SHAPE_RIM_POINTS] = {1,  0.70710678118654752440,  0, -0.70710678118654752440,
                                                    -1, -0.70710678118654752440, 0, 0.70710678118654752440};

static void make_cylinder(contact_shape *s) {
    double r = s->shape.radius, half = s->shape.length / 2;
    vec3 o = vec3_neg(s->center), z = {0, 0, 1};
    for (int side = -1; side <= 1; side += 2) {
        vec3 c = vec3_axpy(o, side * half, z), n = {0, 0, side};
        add(s, (element){.kind = ELEMENT_CIRCLE, .p = c, .d = n, .r = r}, FEATURE_EDGE);
        add(s, (element){.kind = ELEMENT_PLANE, .p = c, .d = n, .r = 0}, FEATURE_FACE);
    }
    add(s, (element){.kind = ELEMENT_LINE, .p = o, .d = z, .lo = -half, .hi = half, .r = r}, FEATURE_SMOOTH);
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < SHAPE_RIM_POINTS; i++) {
            double x = r * rim_cosine[i], y = r * rim_cosine[(i + 6) % SHAPE_RIM_POINTS];
            add(s,
                (element){
                    .kind = ELEMENT_POINT, .p = vec3_add(o, vec3_make(x, y, side * half)), .d = {0, 0, side}},
                FEATURE_EDGE);
        }
}

/* In the order of make_cylinder: rim and face of the lower end, of the upper end, mantle, points of both
 * rims. */
contact_feature contact_shape_named(const contact_shape *s, contact_feature f) {
    enum { MANTLE = 4, LOWER_POINTS, UPPER_POINTS = LOWER_POINTS + SHAPE_RIM_POINTS };
    if (s->shape.kind != ABUT_SHAPE_CYLINDER) return f;
    bool upper = f.id < MANTLE            ? f.id >= 2
                 : f.id < SHAPE_FIRST_CUT ? f.id >= UPPER_POINTS
                                          : f.id >= SHAPE_FIRST_CUT + SHAPE_RIM_CUTS;
    return (contact_feature){f.kind, f.kind != FEATURE_SMOOTH && upper};
}

element contact_shape_vertex(const contact_shape *s, int32_t vertex) {
    return (element){.kind = ELEMENT_POINT, .p = vec3_add(solid_position(s->shape.solid, vertex), s->origin)};
}

element contact_shape_edge(const contact_shape *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s->shape.solid)[edge];
    vec3 a = vec3_add(solid_position(s->shape.solid, e->vertex[0]), s->origin);
    vec3 b = vec3_add(solid_position(s->shape.solid, e->vertex[1]), s->origin);
    double length = vec3_distance(a, b);
    return (element){
        .kind = ELEMENT_LINE, .p = a, .d = vec3_scale(vec3_sub(b, a), 1 / length), .lo = 0, .hi = length};
}

element contact_shape_face(const contact_shape *s, int32_t face) {
    const solid_face *f = &solid_faces(s->shape.solid)[face];
    vec3 foot = vec3_scale(f->plane.n, f->plane.d);
    return (element){.kind = ELEMENT_PLANE, .p = vec3_add(foot, s->origin), .d = f->plane.n};
}

static box edge_box(const contact_shape *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s->shape.solid)[edge];
    box b = box_add_point(box_empty(), vec3_add(solid_position(s->shape.solid, e->vertex[0]), s->origin));
    return box_add_point(b, vec3_add(solid_position(s->shape.solid, e->vertex[1]), s->origin));
}

box contact_shape_face_box(const contact_shape *s, int32_t face) {
    const abut_solid *solid = s->shape.solid;
    const solid_coedge *coedges = solid_coedges(solid);
    const solid_loop *outer = &solid_loops(solid)[solid_faces(solid)[face].first_loop];
    box b = box_empty();
    for (int32_t i = 0, c = outer->coedge; i < outer->count; i++, c = coedges[c].next)
        b = box_add_point(b, vec3_add(solid_position(solid, coedges[c].vertex), s->origin));
    return b;
}

static box vertex_box(const contact_shape *s, int32_t vertex) {
    return box_add_point(box_empty(), vec3_add(solid_position(s->shape.solid, vertex), s->origin));
}

static bool make_tree(const abut_context *context, const contact_shape *s, int64_t count,
                      box (*bound)(const contact_shape *, int32_t), box_tree *tree) {
    box *boxes = mem_alloc(context, (size_t)count, sizeof *boxes);
    if (!boxes) return false;
    for (int32_t i = 0; i < count; i++) boxes[i] = bound(s, i);
    bool fine = box_tree_build(context, boxes, (int32_t)count, tree);
    mem_free(context, boxes, (size_t)count, sizeof *boxes);
    return fine;
}

static bool make_solid(const abut_context *context, contact_shape *s) {
    const abut_solid *solid = s->shape.solid;
    s->origin = vec3_sub(solid->origin, s->center);
    if (!make_tree(context, s, solid->vertex_count, vertex_box, &s->vertices)) return false;
    if (!make_tree(context, s, solid->edge_count, edge_box, &s->edges)) return false;
    if (!make_tree(context, s, solid->face_count, contact_shape_face_box, &s->faces)) return false;
    s->bounds = s->vertices.nodes[0].bounds;
    for (int32_t i = 0; i < solid->vertex_count; i++)
        s->radius = fmax(s->radius, vec3_length(contact_shape_vertex(s, i).p));
    return true;
}

/* Box and radius of an analytic shape about the centre of mass. */
static void measure(contact_shape *s) {
    const abut_shape *shape = &s->shape;
    vec3 half = {INFINITY, INFINITY, INFINITY};
    double r = shape->radius;
    if (shape->kind == ABUT_SHAPE_SPHERE) half = vec3_make(r, r, r);
    if (shape->kind == ABUT_SHAPE_ELLIPSOID) half = shape->axes;
    if (shape->kind == ABUT_SHAPE_CAPSULE) half = vec3_make(r, r, shape->length / 2 + r);
    if (shape->kind == ABUT_SHAPE_CYLINDER) half = vec3_make(r, r, shape->length / 2);
    vec3 o = vec3_neg(s->center);
    s->bounds = (box){vec3_sub(o, half), vec3_add(o, half)};
    double reach = vec3_max_abs(half);
    if (shape->kind == ABUT_SHAPE_CYLINDER) reach = sqrt(r * r + shape->length * shape->length / 4);
    s->radius = vec3_length(s->center) + reach;
}

abut_status contact_shape_create(const abut_context *context, const abut_shape *shape, vec3 center,
                                 contact_shape *out, abut_error *error) {
    *out = (contact_shape){.shape = *shape, .center = center};
    switch (shape->kind) {
    case ABUT_SHAPE_NONE: return ABUT_OK;
    case ABUT_SHAPE_SOLID:
        if (make_solid(context, out)) return ABUT_OK;
        contact_shape_free(context, out);
        return fail_memory(error);
    case ABUT_SHAPE_CAPSULE: make_capsule(out); break;
    case ABUT_SHAPE_CYLINDER: make_cylinder(out); break;
    case ABUT_SHAPE_SURFACE: return smooth_shape_make(context, out, error);
    default: make_round(out); break;
    }
    measure(out);
    return ABUT_OK;
}

void contact_shape_free(const abut_context *context, contact_shape *shape) {
    box_tree_free(context, &shape->vertices);
    box_tree_free(context, &shape->edges);
    box_tree_free(context, &shape->faces);
    smooth_shape_free(context, shape);
}

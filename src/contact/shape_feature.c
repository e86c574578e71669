/* On which feature of a shape a point of its surface lies: of those within a distance the one of the lowest
 * dimension (vertex, edge, face), and of several the nearest.  The distance begins at what witness points are
 * right to, and grows where nothing is found: a point of a manifold can lie beside the surface by what its
 * features lean. */
#include "contact/shape.h"
#include "index/index.h"

#define NEAREST  1e-6 /* of the radius of the shape */
#define FARTHEST 0.1

/* The nearest so far of one kind. */
typedef struct search {
    const contact_shape *s;
    vec3 x;       /* where the solid is stored */
    double least; /* how far it may be, and was so far */
    int32_t item;
} search;

static bool offer(search *q, int32_t item, double distance) {
    if (distance <= q->least) q->least = distance, q->item = item;
    return true;
}

static bool visit_vertex(void *user, int32_t item) {
    search *q = user;
    return offer(q, item, vec3_distance(q->x, solid_position(q->s->shape.solid, item)));
}

static bool visit_edge(void *user, int32_t item) {
    search *q = user;
    double t;
    return offer(q, item, sqrt(index_edge_distance2(q->s->shape.solid, item, q->x, &t)));
}

static bool visit_face(void *user, int32_t item) {
    search *q = user;
    const abut_solid *solid = q->s->shape.solid;
    if (!index_face_contains(solid, item, q->x)) return true;
    return offer(q, item, fabs(plane_distance(solid_faces(solid)[item].plane, q->x)));
}

static bool of_solid(const contact_shape *s, vec3 x, contact_feature *out) {
    const struct {
        const box_tree *tree;
        box_tree_one *visit;
        feature_kind kind;
    } kinds[] = {{&s->vertices, visit_vertex, FEATURE_VERTEX},
                 {&s->edges, visit_edge, FEATURE_EDGE},
                 {&s->faces, visit_face, FEATURE_FACE}};
    for (double near = NEAREST * s->radius; near <= FARTHEST * s->radius; near *= 10)
        for (int k = 0; k < COUNT_OF(kinds); k++) {
            search q = {s, vec3_sub(x, s->origin), near, -1};
            box_tree_query(kinds[k].tree, box_grow((box){x, x}, near), kinds[k].visit, &q);
            *out = (contact_feature){kinds[k].kind, q.item};
            if (q.item >= 0) return true;
        }
    return false;
}

/* Ends: the upper one is 0, the lower 1; between them 2 (shape.c). */
static contact_feature of_capsule(const contact_shape *s, vec3 x) {
    double z = x.z + s->center.z, half = s->shape.length / 2, near = NEAREST * s->radius;
    return (contact_feature){FEATURE_SMOOTH, z >= half - near ? 0 : z <= near - half ? 1 : 2};
}

/* Rims and flat ends: the lower is 0, the upper 1. */
static contact_feature of_cylinder(const contact_shape *s, vec3 x) {
    vec3 p = vec3_add(x, s->center);
    double half = s->shape.length / 2, near = 1e3 * NEAREST * s->radius;
    bool at_end = fabs(p.z) >= half - near, at_side = sqrt(p.x * p.x + p.y * p.y) >= s->shape.radius - near;
    return (contact_feature){at_end && at_side ? FEATURE_EDGE
                             : at_end          ? FEATURE_FACE
                                               : FEATURE_SMOOTH,
                             at_end && p.z > 0};
}

bool contact_shape_feature_at(const contact_shape *s, vec3 x, contact_feature *out) {
    switch (s->shape.kind) {
    case ABUT_SHAPE_SOLID: return of_solid(s, x, out);
    case ABUT_SHAPE_CAPSULE: *out = of_capsule(s, x); return true;
    case ABUT_SHAPE_CYLINDER: *out = of_cylinder(s, x); return true;
    case ABUT_SHAPE_HALFSPACE: *out = (contact_feature){FEATURE_FACE, 0}; return true;
    default: *out = (contact_feature){FEATURE_SMOOTH, 0}; return true;
    }
}

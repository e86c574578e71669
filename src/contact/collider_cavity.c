/* A shape inside a cavity, the world outside a ball of radius R about c: gap R - |x - c| where |x - c| is
 * largest.  The distance from c is convex, so it is largest at vertices of a hull, whatever dents the solid
 * has; on a curved shape S(d), its support mapping, leads uphill:
 *
 *     x' = S(x - c):  (x' - c).(x - c) >= (x - c).(x - c), so |x' - c| >= |x - c|.
 *
 * Each point has its own normal, from x to c. */
#include "contact/collider_parts.h"

enum { CLIMB_STEPS = 200, MOST_PLACES = 16 };

typedef struct places {
    vec3 center; /* of the ball, from the shape's centre, shape axes */
    double radius, reach;
    vec3 at[MOST_PLACES];
    int32_t id[MOST_PLACES];
    double gap[MOST_PLACES];
    int count;
} places;

/* Keeps the sixteen deepest, in the order in which they came. */
static void keep(places *p, vec3 x, int32_t id) {
    double gap = p->radius - vec3_distance(x, p->center);
    if (gap > p->reach) return;
    if (p->count == MOST_PLACES) {
        int worst = 0;
        for (int i = 1; i < MOST_PLACES; i++)
            if (p->gap[i] > p->gap[worst]) worst = i;
        if (gap >= p->gap[worst]) return;
        for (int i = worst; i + 1 < MOST_PLACES; i++)
            p->at[i] = p->at[i + 1], p->id[i] = p->id[i + 1], p->gap[i] = p->gap[i + 1];
        p->count--;
    }
    p->at[p->count] = x, p->id[p->count] = id, p->gap[p->count++] = gap;
}

static bool is_new(const places *p, vec3 x, double size) {
    for (int i = 0; i < p->count; i++)
        if (vec3_distance(p->at[i], x) < 1e-3 * size) return false;
    return true;
}

/* The point of the shape farthest along d. */
static vec3 farthest(const collider *a, vec3 d) {
    if (a->kind == COLLIDER_SURFACE) return abut_surface_support(a->shape.surface, a->tree, d).point;
    return shape_support_curved(&a->convex.convex, d);
}

/* Climbs from each end of each axis; a rim that is level all round gives the ends of its diameters. */
static void climb(places *p, const collider *a) {
    /* a surface answers slowly, and climbs in fewer, larger steps from fewer places */
    const bool is_surface = a->kind == COLLIDER_SURFACE;
    const double size = box_diagonal(a->bounds), enough = (is_surface ? 1e-8 : 1e-14) * size;
    const int most = is_surface ? 30 : CLIMB_STEPS;
    for (int k = 0; k < (is_surface ? 4 : 12); k++) {
        /* +-x +-y with both ends of z, and +-z */
        vec3 d = vec3_make(k % 4 == 0   ? 1
                           : k % 4 == 1 ? -1
                                        : 0,
                           k % 4 == 2   ? 1
                           : k % 4 == 3 ? -1
                                        : 0,
                           k < 4   ? 0
                           : k < 8 ? 1e-3
                                   : -1e-3);
        vec3 x = farthest(a, d), from = vec3_sub(x, p->center);
        for (int step = 0; step < most && vec3_length2(from) > 0; step++) {
            vec3 next = farthest(a, from);
            double moved = vec3_distance(next, x);
            x = next, from = vec3_sub(x, p->center);
            if (moved <= enough) break;
        }
        if (is_new(p, x, size)) keep(p, x, k);
    }
}

static void find_places(places *p, const collider *a, double radius) {
    const abut_convex *s = &a->convex.convex;
    if (a->hull) {
        for (int32_t v = 0; v < a->hull->vertex_count; v++) keep(p, hull_vertex(a->hull, v), v);
        return;
    }
    p->radius -= radius;
    if (s->kind == ABUT_CONVEX_SPHERE)
        keep(p, vec3_zero(), 0);
    else if (s->kind == ABUT_CONVEX_CAPSULE)
        for (int k = 0; k < 2; k++) keep(p, vec3_make(0, 0, k ? s->length / 2 : -s->length / 2), k);
    else
        climb(p, a);
}

int collider_collide_cavity(const collider *a, pose pa, const collider *b, pose pb,
                            const manifold_config *config, manifold *out, int room) {
    const abut_convex *s = &a->convex.convex;
    bool is_round = s->kind == ABUT_CONVEX_SPHERE || s->kind == ABUT_CONVEX_CAPSULE;
    double thick = is_round ? s->radius : 0; /* a sphere is a point with a radius, a capsule two */
    places p = {.radius = b->shape.radius, .reach = config->reach};
    p.center = vec3_sub(pose_unpoint(pa, pb.position), shape_center(s));
    find_places(&p, a, thick);
    int count = 0;
    for (int i = 0; i < p.count && count < room; i++) {
        vec3 in = vec3_sub(p.center, p.at[i]);
        if (!(vec3_length2(in) > 0)) continue; /* in the middle: no direction is nearer than another */
        in = vec3_unit(in);
        vec3 x = vec3_axpy(p.at[i], -thick - p.gap[i] / 2, in);
        const abut_feature mine = {ABUT_FEATURE_VERTEX, p.id[i]}, other = {ABUT_FEATURE_FACE, 0};
        out[count++] = (manifold){
            .normal = quat_rotate(pa.rotation, in),
            .key = (uint64_t)p.id[i] << 32,
            .count = 1,
            .points[0] = {pose_point(pa, vec3_add(shape_center(s), x)), p.gap[i], manifold_id(mine, other)}};
    }
    return count;
}

/* Distance of two solids, and a lower bound of the time until they touch. */
#include "contact/touch.h"

/* ---- distance: the least over vertex-face, face-vertex and edge-edge pairs */

typedef struct meter {
    const abut_touch_solid *a, *b;
    pose b_in_a, a_in_b;
    double best;
} meter;

static vec3 vertex_of(const abut_touch_solid *s, int32_t v) {
    return vec3_add(solid_position(s->solid, v), s->solid->origin);
}

/* Of a vertex (shape axes) above a face; outside of the face its edges are nearer, and they are asked. */
static void measure_face(meter *m, const abut_solid *s, int32_t face, vec3 x) {
    vec3 local = vec3_sub(x, s->origin);
    double d = fabs(plane_distance(solid_faces(s)[face].plane, local));
    if (d < m->best && index_face_contains(s, face, local)) m->best = d;
}

static bool vertex_face(void *user, int32_t v, int32_t f) {
    meter *m = user;
    measure_face(m, m->b->solid, f, pose_point(m->a_in_b, vertex_of(m->a, v)));
    return true;
}

static bool face_vertex(void *user, int32_t f, int32_t v) {
    meter *m = user;
    measure_face(m, m->a->solid, f, pose_point(m->b_in_a, vertex_of(m->b, v)));
    return true;
}

static double clamp(double t) { return !(t > 0) ? 0 : t > 1 ? 1 : t; }

/* Of two segments: the closest points of the lines where they are within, else of an end to the other. */
static double segments_distance(vec3 p, vec3 p1, vec3 q, vec3 q1) {
    vec3 u = vec3_sub(p1, p), v = vec3_sub(q1, q), w = vec3_sub(p, q);
    double a = vec3_dot(u, u), b = vec3_dot(u, v), c = vec3_dot(v, v), d = vec3_dot(u, w), e = vec3_dot(v, w);
    double det = a * c - b * b, s = det > 1e-14 * a * c ? clamp((b * e - c * d) / det) : 0;
    double t = clamp((b * s + e) / c);
    s = clamp((b * t - d) / a);
    return vec3_length(vec3_sub(vec3_axpy(w, s, u), vec3_scale(v, t)));
}

static bool edge_edge(void *user, int32_t i, int32_t j) {
    meter *m = user;
    const int32_t *p = solid_edges(m->a->solid)[i].vertex, *q = solid_edges(m->b->solid)[j].vertex;
    double d = segments_distance(vertex_of(m->a, p[0]), vertex_of(m->a, p[1]),
                                 pose_point(m->b_in_a, vertex_of(m->b, q[0])),
                                 pose_point(m->b_in_a, vertex_of(m->b, q[1])));
    if (d < m->best) m->best = d;
    return true;
}

/* Pairs within a reach that is doubled until it holds the nearest pair. */
double abut_touch_distance(const abut_touch_solid *a, abut_pose pose_a, const abut_touch_solid *b,
                           abut_pose pose_b) {
    meter m = {a, b, pose_relative(pose_b, pose_a), pose_relative(pose_a, pose_b), INFINITY};
    double far = vec3_distance(pose_point(pose_a, a->center), pose_point(pose_b, b->center));
    double reach = fmax(far - a->radius - b->radius, 0) + 0.01 * fmin(a->radius, b->radius);
    for (int budget = 64; budget > 0; budget--, reach *= 2) {
        box_tree_pairs(&a->shape.vertices, &b->shape.faces, m.b_in_a, reach, vertex_face, &m);
        box_tree_pairs(&a->shape.faces, &b->shape.vertices, m.b_in_a, reach, face_vertex, &m);
        box_tree_pairs(&a->shape.edges, &b->shape.edges, m.b_in_a, reach, edge_edge, &m);
        if (m.best <= reach) return m.best;
    }
    return fmin(reach, m.best);
}

/* ---- time */

/* The ball around a solid against that of the other, in relative translation: first t with |c + v t| <= r. */
static double balls_meet(vec3 c, vec3 v, double r) {
    double cc = vec3_length2(c) - r * r, b = vec3_dot(c, v), vv = vec3_length2(v);
    if (cc <= 0) return 0;
    double root = b * b - vv * cc;
    return b >= 0 || root < 0 ? INFINITY : cc / (-b + sqrt(root));
}

/* No point of A nears any point of B faster than |v_A - v_B| + |w_A| R_A + |w_B| R_B, so distance / speed is
 * a bound (the estimates of Vanecek 1990, section 3, hold for one vertex or edge; corrected: ERRATA).  The
 * balls about the centres of mass give another, which spins do not change; the later one counts. */
double abut_touch_time(const abut_touch_solid *a, abut_pose pose_a, abut_twist velocity_a,
                       const abut_touch_solid *b, abut_pose pose_b, abut_twist velocity_b, double epsilon) {
    vec3 c = vec3_sub(pose_point(pose_a, a->center), pose_point(pose_b, b->center));
    vec3 v = vec3_sub(velocity_a.linear, velocity_b.linear);
    double speed = vec3_length(v) + vec3_length(velocity_a.angular) * a->radius +
                   vec3_length(velocity_b.angular) * b->radius;
    double gap = abut_touch_distance(a, pose_a, b, pose_b) - epsilon;
    if (gap <= 0) return 0;
    if (speed == 0) return INFINITY;
    return fmax(gap / speed, balls_meet(c, v, a->radius + b->radius + epsilon));
}

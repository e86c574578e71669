/* Distance of two solids, and a lower bound of the time until they touch. */
#include "contact/touch.h"

/* ---- distance: the least over vertex-face, face-vertex and edge-edge pairs of pieces, nearest boxes first
 */

typedef struct meter {
    const touch_tree *a, *b;
    touch_placing at, back; /* B in the frame of A, and A in that of B */
    double best;
} meter;

static meter meter_at(const abut_touch_solid *a, pose pose_a, const abut_touch_solid *b, pose pose_b) {
    pose fa = touch_tree_frame(&a->tree, a->solid, pose_a), fb = touch_tree_frame(&b->tree, b->solid, pose_b);
    return (meter){&a->tree, &b->tree, touch_place(&a->tree, &b->tree, pose_relative(fb, fa)),
                   touch_place(&b->tree, &a->tree, pose_relative(fa, fb)), INFINITY};
}

static vec3 placed(const touch_placing *p, vec3 x) { return vec3_add(mat3_mul_vec(p->turn, x), p->shift); }

/* Of the corners of piece q (placed by `at` in the frame of p's tree) above piece p; beside it its sides are
 * nearer, and they are asked.  False when all corners are on one side of the plane, farther than best. */
static bool measure_corners(meter *m, const touch_tree *t, const touch_piece *p, const touch_tree *u,
                            const touch_piece *q, const touch_placing *at) {
    const touch_corner *c = t->corners + p->first, *x = u->corners + q->first;
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < q->count; i++) {
        vec3 y = placed(at, x[i].at);
        double d = plane_distance(p->plane, y);
        low = d < low ? d : low, high = d > high ? d : high;
        bool above = fabs(d) < m->best;
        for (int32_t k = 0; above && k < p->count; k++)
            above = vec3_dot(c[k].side, vec3_sub(y, c[k].at)) <= 0;
        if (above) m->best = fabs(d);
    }
    return low <= m->best && high >= -m->best;
}

static double clamp(double t) { return !(t > 0) ? 0 : t > 1 ? 1 : t; }

/* Of two segments: the closest points of the lines where they are within, else of an end to the other. */
double touch_segments_distance(vec3 p, vec3 p1, vec3 q, vec3 q1) {
    vec3 u = vec3_sub(p1, p), v = vec3_sub(q1, q), w = vec3_sub(p, q);
    double a = vec3_dot(u, u), b = vec3_dot(u, v), c = vec3_dot(v, v), d = vec3_dot(u, w), e = vec3_dot(v, w);
    double det = a * c - b * b, s = det > 1e-14 * a * c ? clamp((b * e - c * d) / det) : 0;
    double t = clamp((b * s + e) / c);
    s = clamp((b * t - d) / a);
    return vec3_length(vec3_sub(vec3_axpy(w, s, u), vec3_scale(v, t)));
}

static void measure_pieces(meter *m, const touch_piece *p, const touch_piece *q) {
    if (!measure_corners(m, m->a, p, m->b, q, &m->at) || !measure_corners(m, m->b, q, m->a, p, &m->back))
        return;
    const touch_corner *c = m->a->corners + p->first, *d = m->b->corners + q->first;
    vec3 from = placed(&m->at, d[q->count - 1].at);
    for (int32_t j = 0; j < q->count; j++) {
        vec3 to = placed(&m->at, d[j].at);
        for (int32_t i = 0; i < p->count; i++)
            m->best =
                fmin(m->best, touch_segments_distance(c[i].at, c[i + 1 < p->count ? i + 1 : 0].at, from, to));
        from = to;
    }
}

typedef struct node_pair {
    int32_t a, b;
    double gap;
} node_pair;

static node_pair pair_of(const meter *m, int32_t a, int32_t b) {
    touch_turned turned = touch_turn(&m->at, &m->b->nodes[b]);
    return (node_pair){a, b, touch_gap(&m->a->nodes[a], &turned) - m->at.rounding};
}

double abut_touch_distance(const abut_touch_solid *a, abut_pose pose_a, const abut_touch_solid *b,
                           abut_pose pose_b) {
    enum { DEPTH = 256 }; /* each tree is at most 80 high */
    meter m = meter_at(a, pose_a, b, pose_b);
    node_pair stack[DEPTH];
    int depth = 0;
    stack[depth++] = pair_of(&m, 0, 0);
    while (depth) {
        node_pair at = stack[--depth];
        const touch_node *na = &m.a->nodes[at.a], *nb = &m.b->nodes[at.b];
        if (at.gap >= m.best) continue;
        if (na->right < 0 && nb->right < 0) {
            measure_pieces(&m, &m.a->pieces[~na->right], &m.b->pieces[~nb->right]);
            continue;
        }
        bool split_a = na->right >= 0 && (nb->right < 0 || touch_node_size(na) >= touch_node_size(nb));
        node_pair left = split_a ? pair_of(&m, at.a + 1, at.b) : pair_of(&m, at.a, at.b + 1);
        node_pair right = split_a ? pair_of(&m, na->right, at.b) : pair_of(&m, at.a, nb->right);
        bool order = left.gap <= right.gap;
        stack[depth++] = order ? right : left;
        stack[depth++] = order ? left : right;
    }
    return m.best;
}

double touch_faces_distance(const touch_work *w, int32_t face_a, int32_t face_b) {
    meter m = meter_at(w->s[0], w->p[0], w->s[1], w->p[1]);
    for (int32_t i = 0; i < m.a->piece_count; i++)
        for (int32_t j = 0; m.a->pieces[i].face == face_a && j < m.b->piece_count; j++)
            if (m.b->pieces[j].face == face_b) measure_pieces(&m, &m.a->pieces[i], &m.b->pieces[j]);
    return m.best;
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

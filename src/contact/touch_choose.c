/* The needed regions R (Bouma and Vanecek 1992, definitions 1 and 2).
 *
 * A region r of lower dimension is needed when something of s_1 or s_2 is left over around it after the parts
 * that adjacent higher-dimensional regions constrain are taken away: a_i = s_i -* H_i(r_1) -* H_i(r_2) ...
 * All sets are cones bounded by planes through the point, so the regularised difference is empty when no cell
 * of the arrangement of these planes belongs to it.  A cell on the sphere of directions has a corner where
 * two planes meet; the cells around a corner are the sectors between the planes through it, and one direction
 * in each is asked:
 *
 *            \  m  /           u  corner, direction along which planes i and j meet
 *         m   \   /   m        m  the middle of a sector; asked: u + 0.02 m, for a 1D region m itself,
 *         _____ u _____           with u along the region
 */
#include "contact/touch.h"

/* H_i(r'): at most two half-spaces n . x < 0, joined by intersection or union. */
typedef struct wedge {
    vec3 n[2];
    int count;
    bool both;
} wedge;
typedef ARRAY(wedge) wedge_array;
typedef ARRAY(vec3) vec3_array;

enum { FAN = 64 };
static const double thin = 1e-4;       /* sectors and angles between planes below this are rounding */
static const double look_aside = 0.02; /* from a corner of the arrangement into a cell */

static bool wedge_contains(const wedge *h, vec3 u) {
    bool first = vec3_dot(h->n[0], u) < 0;
    if (h->count == 1) return first;
    bool second = vec3_dot(h->n[1], u) < 0;
    return h->both ? first && second : first || second;
}

/* Definition 1.  For a reflex edge the half-spaces must contain its faces but not the interior of the other
 * solid: h_1 and h_4 of figure 6 are the faces of the other's convex edge, turned around. */
static bool wedge_of(const touch_work *w, const abut_touch_region *r, int i, wedge *h) {
    touch_cone own, other;
    bool good = touch_cone_make(w->context, w->s[i], w->p[i], i ? r->b : r->a, &own);
    if (!touch_cone_make(w->context, w->s[!i], w->p[!i], i ? r->a : r->b, &other)) good = false;
    if (good) {
        bool edge = own.place.kind == ABUT_ON_EDGE, turn = edge && own.reflex && other.normals.count == 2;
        const vec3 *n = turn ? other.normals.data : own.normals.data;
        *h = (wedge){{n[0], n[edge]}, edge ? 2 : 1, edge && !own.reflex};
        if (turn) h->n[0] = vec3_neg(h->n[0]), h->n[1] = vec3_neg(h->n[1]);
    }
    touch_cone_free(w->context, &own), touch_cone_free(w->context, &other);
    return good;
}

/* ---- adjacency: r lies in the closure of the other region */

static double segment_distance(vec3 x, vec3 p, vec3 q) {
    vec3 d = vec3_sub(q, p), e = vec3_sub(x, p);
    double t = vec3_dot(e, d) / vec3_length2(d);
    t = !(t > 0) ? 0 : t > 1 ? 1 : t;
    return vec3_length(vec3_axpy(e, -t, d));
}

static bool closure_holds(const touch_work *w, const abut_touch_region *r, vec3 x, double tolerance) {
    const abut_touch *out = w->out;
    bool inside = false;
    vec3 n = r->dimension == 2 ? pose_vector(w->p[1], solid_faces(w->s[1]->solid)[r->b.id].plane.n)
                               : vec3_make(0, 0, 1);
    vec3 u = vec3_orthogonal(n), v = vec3_cross(n, u);
    for (int32_t l = r->first_loop; l < r->first_loop + r->loops; l++) {
        int32_t first = out->loop_start[l], last = out->loop_start[l + 1];
        for (int32_t c = first; c < last; c++) {
            vec3 p = out->points[c], q = out->points[c + 1 < last ? c + 1 : first];
            if (segment_distance(x, p, q) <= tolerance) return true;
            p = vec3_sub(p, x), q = vec3_sub(q, x);
            double pv = vec3_dot(v, p), qv = vec3_dot(v, q);
            if ((pv > 0) != (qv > 0) && vec3_dot(u, p) + pv / (pv - qv) * vec3_dot(u, vec3_sub(q, p)) > 0)
                inside = !inside;
        }
    }
    return r->dimension == 2 && inside &&
           fabs(vec3_dot(n, vec3_sub(x, out->points[out->loop_start[r->first_loop]]))) <= tolerance;
}

/* The wedges H_0 and H_1 of all needed regions of higher dimension that r borders. */
static abut_status gather(const touch_work *w, const abut_touch_region *r, wedge_array h[2]) {
    for (int64_t k = 0; k < w->out->region_count; k++) {
        const abut_touch_region *big = &w->out->regions[k];
        if (big->dimension <= r->dimension || !big->needed ||
            !closure_holds(w, big, r->center, 4 * w->epsilon))
            continue;
        for (int i = 0; i < 2; i++) {
            wedge one;
            if (!wedge_of(w, big, i, &one) || !array_push(w->context, &h[i], one))
                return fail_memory(w->error);
        }
    }
    return ABUT_OK;
}

/* ---- the arrangement */

static bool left_over(const touch_cone *cone, const wedge_array *h, vec3 u) {
    for (int64_t i = 0; i < h->count; i++)
        if (wedge_contains(&h->data[i], u)) return false;
    return touch_cone_contains(cone, u);
}

/* Grows with the angle of (x, y) from 0 to 4; no libm. */
static double turn_of(double x, double y) {
    double p = x / (fabs(x) + fabs(y));
    return y < 0 ? 3 + p : 1 - p;
}

/* The middles of the sectors between the planes through the line u; returns how many. */
static int sectors(const vec3_array *planes, vec3 u, vec3 *middles) {
    vec3 e = vec3_orthogonal(u), f = vec3_cross(u, e);
    double angle[FAN], x[FAN], y[FAN];
    int count = 0;
    for (int64_t i = 0; i < planes->count && count + 2 <= FAN; i++) {
        vec3 n = planes->data[i];
        if (fabs(vec3_dot(n, u)) > 1e-5) continue;
        vec3 t = vec3_unit(vec3_cross(u, n));
        for (int sign = -1; sign <= 1; sign += 2) {
            double tx = sign * vec3_dot(t, e), ty = sign * vec3_dot(t, f), at = turn_of(tx, ty);
            int k = count++;
            for (; k > 0 && angle[k - 1] > at; k--) angle[k] = angle[k - 1], x[k] = x[k - 1], y[k] = y[k - 1];
            angle[k] = at, x[k] = tx, y[k] = ty;
        }
    }
    int found = 0;
    for (int k = 0; k < count; k++) {
        int next = k + 1 < count ? k + 1 : 0;
        double dx = x[next] - x[k], dy = y[next] - y[k];
        if (dx * dx + dy * dy < thin * thin) continue;
        double mx = x[next] + x[k], my = y[next] + y[k];
        if (mx * mx + my * my < 1e-6) mx = -y[k], my = x[k];
        middles[found++] = vec3_unit(vec3_add(vec3_scale(e, mx), vec3_scale(f, my)));
    }
    return found;
}

static bool any_left_along(const touch_cone *cone, const wedge_array *h, const vec3_array *planes, vec3 u,
                           bool is_line) {
    vec3 middles[FAN];
    int count = sectors(planes, u, middles);
    for (int k = 0; k < count; k++)
        if (left_over(cone, h, is_line ? middles[k] : vec3_unit(vec3_axpy(u, look_aside, middles[k]))))
            return true;
    return false;
}

static bool any_left(const touch_cone *cone, const wedge_array *h, const vec3_array *planes) {
    for (int64_t i = 0; i < planes->count; i++)
        for (int64_t j = i + 1; j < planes->count; j++) {
            vec3 u = vec3_cross(planes->data[i], planes->data[j]);
            if (vec3_length(u) < thin) continue;
            u = vec3_unit(u);
            if (any_left_along(cone, h, planes, u, false) ||
                any_left_along(cone, h, planes, vec3_neg(u), false))
                return true;
        }
    return false;
}

/* Whether N_a(p) of one solid is not empty. */
static abut_status leaves_something(const touch_work *w, const abut_touch_region *r, int i,
                                    const wedge_array *h, bool *leaves) {
    const abut_context *context = w->context;
    touch_cone cone;
    vec3_array planes = {0};
    bool good = touch_cone_make(context, w->s[i], w->p[i], i ? r->b : r->a, &cone);
    for (int64_t k = 0; good && k < cone.normals.count; k++)
        good = array_push(context, &planes, cone.normals.data[k]);
    for (int64_t k = 0; good && k < h->count; k++)
        for (int c = 0; good && c < h->data[k].count; c++)
            good = array_push(context, &planes, h->data[k].n[c]);
    if (good && r->dimension == 1) {
        const vec3 *p = &w->out->points[w->out->loop_start[r->first_loop]];
        vec3 along = cone.place.kind == ABUT_ON_EDGE ? cone.along : vec3_unit(vec3_sub(p[1], p[0]));
        for (int64_t k = 0; k < planes.count; k++) /* all planes hold the line, up to epsilon */
            planes.data[k] = vec3_unit(vec3_axpy(planes.data[k], -vec3_dot(planes.data[k], along), along));
        *leaves = any_left_along(&cone, h, &planes, along, true);
    } else if (good)
        *leaves = any_left(&cone, h, &planes);
    array_free(context, &planes);
    touch_cone_free(context, &cone);
    return good ? ABUT_OK : fail_memory(w->error);
}

static abut_status choose(const touch_work *w, abut_touch_region *r) {
    wedge_array h[2] = {{0}, {0}};
    abut_status status = gather(w, r, h);
    r->needed = h[0].count == 0;
    for (int i = 0; i < 2 && status == ABUT_OK && !r->needed; i++)
        status = leaves_something(w, r, i, &h[i], &r->needed);
    array_free(w->context, &h[0]), array_free(w->context, &h[1]);
    return status;
}

/* ---- clusters (Vanecek 1990, section 4): of needed points closer than 4 epsilon one stays, that whose
 * tangent plane is best known: vertex/face, edge/edge, vertex/edge, vertex/vertex; then the first. */

static int priority(const abut_touch_region *r) {
    if (r->a.kind == ABUT_ON_FACE || r->b.kind == ABUT_ON_FACE) return 3;
    if (r->a.kind == ABUT_ON_EDGE && r->b.kind == ABUT_ON_EDGE) return 2;
    return r->a.kind == ABUT_ON_EDGE || r->b.kind == ABUT_ON_EDGE ? 1 : 0;
}

static void reduce_clusters(touch_work *w) {
    abut_touch_region *regions = w->out->regions;
    for (int64_t i = 0; i < w->out->region_count; i++)
        for (int64_t k = i + 1; k < w->out->region_count && regions[i].dimension == 0; k++) {
            abut_touch_region *p = &regions[i], *q = &regions[k];
            if (!p->needed || !q->needed || vec3_distance(p->center, q->center) >= 4 * w->epsilon) continue;
            if (priority(q) > priority(p))
                p->needed = false;
            else
                q->needed = false;
        }
}

abut_status touch_choose(touch_work *w) {
    for (int dimension = 2; dimension >= 0; dimension--)
        for (int64_t i = 0; i < w->out->region_count; i++) {
            abut_touch_region *r = &w->out->regions[i];
            if (r->dimension != dimension) continue;
            r->needed = dimension == 2;
            abut_status status = dimension == 2 ? ABUT_OK : choose(w, r);
            if (status != ABUT_OK) return status;
        }
    reduce_clusters(w);
    return ABUT_OK;
}

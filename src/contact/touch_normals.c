/* Contact normals, from B to A (Bouma and Vanecek 1992, section 3; Vanecek 1990, section 4).
 *
 *   2D                        the normal of face y
 *   edge-face, vertex-face    the normal of the face
 *   reflex edge or corner     the normals of its faces that have the other solid in front, at most 3 - k of
 *                             them, the most transversal
 *   edge-edge, transversal    the cross product of the edges
 *   all others                not determined: the tangent plane holds p, v_1 x v_2 and v_1 + v_2, where v_1
 * and v_2 are the mean outward normals, so its normal is v_2 - v_1; with an edge, all in the plane across the
 * edge
 */
#include "contact/touch.h"

static const double flat = 1e-6; /* slope below which a direction counts as in a plane */

static bool in_front(const touch_cone *c, vec3 n) {
    for (int64_t i = 0; i < c->rays.count; i++)
        if (vec3_dot(n, c->rays.data[i]) < -1e-4) return false;
    return true;
}

/* Of the n's keep the most transversal ones: those two or three with the largest |cross| or |det|. */
static int most_transversal(vec3 *n, int count, int most) {
    if (count <= most) return count;
    double best = -1;
    int keep[3] = {0, 1, 2};
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            if (most == 2) {
                double size = vec3_length(vec3_cross(n[i], n[j]));
                if (size > best) best = size, keep[0] = i, keep[1] = j;
            }
            for (int k = j + 1; most == 3 && k < count; k++) {
                double size = fabs(vec3_triple(n[i], n[j], n[k]));
                if (size > best) best = size, keep[0] = i, keep[1] = j, keep[2] = k;
            }
        }
    vec3 kept[3] = {n[keep[0]], n[keep[1]], n[keep[2]]};
    for (int i = 0; i < most; i++) n[i] = kept[i];
    return most;
}

/* The faces of a reflex edge or corner that the other solid stands before.  sign: +1 when the corner is B's.
 */
static void corner(const touch_cone *c, const touch_cone *other, double sign, abut_touch_region *r) {
    enum { MOST = 32 };
    vec3 n[MOST];
    int count = 0;
    for (int64_t i = 0; i < c->normals.count && count < MOST; i++) {
        vec3 candidate = c->normals.data[i];
        bool fresh = in_front(other, candidate);
        for (int k = 0; k < count && fresh; k++) fresh = vec3_distance(n[k], candidate) > 1e-4;
        if (fresh) n[count++] = candidate;
    }
    count = most_transversal(n, count, 3 - r->dimension);
    for (int i = 0; i < count; i++) r->normals[i] = vec3_scale(n[i], sign);
    r->normal_count = count;
}

static vec3 without(vec3 v, vec3 along) { return vec3_axpy(v, -vec3_dot(v, along), along); }

/* The rule for what geometry leaves open; where its plane cuts a solid, the best of the faces and of the
 * planes through two edges takes its place. */
static vec3 open_normal(const touch_cone *a, const touch_cone *b) {
    vec3 va = touch_cone_outward(a), vb = touch_cone_outward(b);
    const touch_cone *edges[2] = {a, b};
    for (int i = 0; i < 2; i++)
        if (edges[i]->place.kind == ABUT_ON_EDGE)
            va = vec3_unit(without(va, edges[i]->along)), vb = vec3_unit(without(vb, edges[i]->along));
    vec3 best = vec3_unit(vec3_sub(vb, va));
    double least = vec3_length(best) > 0 ? touch_cone_excess(a, b, best) : INFINITY;
    if (least <= flat) return best;
    for (int64_t i = 0; i < a->normals.count + b->normals.count; i++) {
        vec3 n = i < a->normals.count ? vec3_neg(a->normals.data[i]) : b->normals.data[i - a->normals.count];
        double e = touch_cone_excess(a, b, n);
        if (e < least) least = e, best = n;
    }
    for (int64_t i = 0; i < a->rays.count && least > flat; i++)
        for (int64_t j = 0; j < b->rays.count && least > flat; j++) {
            vec3 n = vec3_cross(a->rays.data[i], b->rays.data[j]);
            if (vec3_length(n) < flat) continue;
            n = vec3_unit(n);
            if (vec3_dot(n, vec3_sub(vb, va)) < 0) n = vec3_neg(n);
            double e = touch_cone_excess(a, b, n);
            if (e < least) least = e, best = n;
        }
    return best;
}

static void set_normals(const touch_cone *a, const touch_cone *b, abut_touch_region *r) {
    r->determinate = true, r->normal_count = 1;
    if (b->place.kind == ABUT_ON_FACE) {
        r->normals[0] = b->normals.data[0];
        return;
    }
    if (a->place.kind == ABUT_ON_FACE) {
        r->normals[0] = vec3_neg(a->normals.data[0]);
        return;
    }
    if (b->reflex) corner(b, a, 1, r);
    if (!b->reflex || r->normal_count == 0) {
        r->normal_count = 1;
        if (a->reflex) corner(a, b, -1, r);
    }
    if ((a->reflex || b->reflex) && r->normal_count > 0 && vec3_length(r->normals[0]) > 0) return;
    r->normal_count = 1;
    if (a->place.kind == ABUT_ON_EDGE && b->place.kind == ABUT_ON_EDGE && r->dimension == 0) {
        vec3 n = vec3_cross(a->along, b->along),
             towards = vec3_sub(touch_cone_outward(b), touch_cone_outward(a));
        if (vec3_length(n) > flat) {
            r->normals[0] = vec3_scale(vec3_unit(n), vec3_dot(n, towards) < 0 ? -1 : 1);
            return;
        }
    }
    r->determinate = false;
    r->normals[0] = open_normal(a, b);
}

abut_status touch_normals(touch_work *w) {
    for (int64_t i = 0; i < w->out->region_count; i++) {
        abut_touch_region *r = &w->out->regions[i];
        touch_cone a, b;
        bool good = touch_cone_make(w->context, w->s[0], w->p[0], r->a, &a);
        if (!touch_cone_make(w->context, w->s[1], w->p[1], r->b, &b)) good = false;
        abut_status status = ABUT_OK;
        if (good) {
            set_normals(&a, &b, r);
            if (!r->determinate) status = touch_remember(w, r, &a, &b);
        }
        touch_cone_free(w->context, &a), touch_cone_free(w->context, &b);
        if (!good || status != ABUT_OK) return fail_memory(w->error);
    }
    return ABUT_OK;
}

/* Back-face culling by velocity (Bouma and Vanecek 1992, section 4.1, equations 9 to 13).
 *
 * A face of i all of whose points move, relative to j, against its normal cannot come into contact or rest.
 * The relative velocity is linear in the point (equation 12), so over a face it is extreme at corners of its
 * outer loop.  An edge or vertex is culled when all its faces are and it is convex: then a contact normal is
 * minus a sum of face normals with weights >= 0, and every such contact separates.  At reflex edges and
 * corners the normal is not such a sum, and they stay. */
#include "contact/touch.h"

/* Velocity of the point p of solid i relative to the other (equation 9). */
static vec3 relative_velocity(const touch_work *w, int i, vec3 p) {
    vec3 v[2];
    for (int k = 0; k < 2; k++) {
        const abut_twist *t = w->options->velocity[k];
        vec3 arm = vec3_sub(p, pose_point(w->p[k], w->s[k]->center));
        v[k] = vec3_add(t->linear, vec3_cross(t->angular, arm));
    }
    return vec3_sub(v[i], v[!i]);
}

/* Equation 13, with a margin for rounding, so that rest is never taken for motion. */
static bool face_recedes(const touch_work *w, int i, int32_t face) {
    const abut_solid *s = w->s[i]->solid;
    const solid_face *f = &solid_faces(s)[face];
    const solid_loop *outer = &solid_loops(s)[f->first_loop];
    pose frame = solid_frame(s, w->p[i]);
    vec3 n = pose_vector(frame, f->plane.n);
    int32_t c = outer->coedge;
    for (int32_t k = 0; k < outer->count; k++, c = solid_coedges(s)[c].next) {
        vec3 v = relative_velocity(w, i, pose_point(frame, solid_position(s, solid_coedges(s)[c].vertex)));
        if (!(vec3_dot(v, n) < -1e-9 * vec3_length(v))) return false;
    }
    return true;
}

static bool edge_stays(const touch_work *w, const abut_solid *s, int32_t edge, int i) {
    const solid_edge *e = &solid_edges(s)[edge];
    return e->convexity < 0 || w->near[i][INDEX_FACE][solid_coedges(s)[e->coedge[0]].face] ||
           w->near[i][INDEX_FACE][solid_coedges(s)[e->coedge[1]].face];
}

static void cull(touch_work *w, int i) {
    const abut_solid *s = w->s[i]->solid;
    const solid_coedge *coedges = solid_coedges(s);
    for (int32_t f = 0; f < s->face_count; f++)
        if (w->near[i][INDEX_FACE][f] && face_recedes(w, i, f)) w->near[i][INDEX_FACE][f] = 0;
    for (int32_t e = 0; e < s->edge_count; e++)
        if (w->near[i][INDEX_EDGE][e] && !edge_stays(w, s, e, i)) w->near[i][INDEX_EDGE][e] = 0;
    for (int32_t v = 0; v < s->vertex_count; v++) {
        if (!w->near[i][INDEX_VERTEX][v]) continue;
        bool stays = false;
        int32_t c = solid_vertices(s)[v].coedge, first = c;
        for (int32_t budget = 2 * solid_vertices(s)[v].valence + 8; budget > 0 && !stays; budget--) {
            stays = edge_stays(w, s, coedges[c].edge, i);
            c = solid_twin(s, coedges[c].prev);
            if (c == first) break;
        }
        if (!stays) w->near[i][INDEX_VERTEX][v] = 0;
    }
}

void touch_cull(touch_work *w) {
    if (!w->options->velocity[0] || !w->options->velocity[1]) return;
    for (int i = 0; i < 2; i++) cull(w, i);
}

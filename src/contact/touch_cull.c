/* Back-face culling by velocity (Bouma and Vanecek 1992, section 4.1, equations 9 to 13).
 *
 * A face of i all of whose points move, relative to j, against its normal cannot come into contact or rest.
 * The relative velocity is linear in the point (equation 12), so over a face it is extreme at corners of its
 * outer loop.  An edge or vertex is culled when all its faces are and it is convex: then a contact normal is
 * minus a sum of face normals with weights >= 0, and every such contact separates.  At reflex edges and
 * corners the normal is not such a sum, and they stay.
 *
 * What stays may still find contacts that separate, at an edge of a face that recedes beside one that slides;
 * they are left out when their normals are known. */
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

static bool face_stays(const touch_work *w, int i, int32_t face) {
    return touch_marks(w, i, INDEX_FACE, face) != 0;
}

static bool edge_stays(const touch_work *w, const abut_solid *s, int32_t edge, int i) {
    const solid_edge *e = &solid_edges(s)[edge];
    return e->convexity < 0 || face_stays(w, i, solid_coedges(s)[e->coedge[0]].face) ||
           face_stays(w, i, solid_coedges(s)[e->coedge[1]].face);
}

static bool vertex_stays(const touch_work *w, const abut_solid *s, int32_t vertex, int i) {
    const solid_coedge *coedges = solid_coedges(s);
    int32_t c = solid_vertices(s)[vertex].coedge, first = c;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        if (edge_stays(w, s, coedges[c].edge, i)) return true;
        c = solid_twin(s, coedges[c].prev);
        if (c == first) break;
    }
    return false;
}

static void cull(touch_work *w, int i) {
    const abut_solid *s = w->s[i]->solid;
    const touch_ids *faces = &w->marked[i][INDEX_FACE], *edges = &w->marked[i][INDEX_EDGE],
                    *vertices = &w->marked[i][INDEX_VERTEX];
    for (int64_t k = 0; k < faces->count; k++)
        if (face_recedes(w, i, faces->data[k])) touch_unmark(w, i, INDEX_FACE, faces->data[k]);
    for (int64_t k = 0; k < edges->count; k++)
        if (!edge_stays(w, s, edges->data[k], i)) touch_unmark(w, i, INDEX_EDGE, edges->data[k]);
    for (int64_t k = 0; k < vertices->count; k++)
        if (!vertex_stays(w, s, vertices->data[k], i)) touch_unmark(w, i, INDEX_VERTEX, vertices->data[k]);
}

void touch_cull(touch_work *w) {
    if (!w->options->velocity[0] || !w->options->velocity[1]) return;
    for (int i = 0; i < 2; i++) cull(w, i);
}

/* Whether the velocity of A relative to B, linear in the point, leads away from B along each normal at each
 * corner of the region.  Where the normal is open, another one may be in the way. */
static bool recedes(const touch_work *w, const abut_touch_region *r) {
    const abut_touch *t = w->out;
    for (int32_t c = t->loop_start[r->first_loop]; c < t->loop_start[r->first_loop + r->loops]; c++) {
        vec3 v = relative_velocity(w, 0, t->points[c]);
        for (int k = 0; k < r->normal_count; k++)
            if (!(vec3_dot(v, r->normals[k]) > 1e-9 * vec3_length(v))) return false;
    }
    return r->determinate;
}

void touch_cull_regions(touch_work *w) {
    abut_touch *t = w->out;
    if (!w->options->velocity[0] || !w->options->velocity[1]) return;
    int64_t kept = 0;
    for (int64_t i = 0; i < t->region_count; i++)
        if (!recedes(w, &t->regions[i])) t->regions[kept++] = t->regions[i];
    t->region_count = kept;
    if (kept == 0) t->status = ABUT_APART;
}

/* Temporal coherence (Bouma and Vanecek 1992, section 3, conditions 6 to 8): where geometry leaves the normal
 * of a region open, a temporary contact of the previous step gives it, so that a block that slides over the
 * edge of its support slides on (figure 8).
 *
 *   6   the same two entities were in contact
 *   7   each entity is the same as one in contact or adjacent to it, and the neighbourhoods of those were
 * convex 8   neither: the region is new, its normal comes from the geometry of this step
 *
 * Normals that geometry determines are the same whether remembered or computed, and are computed. */
#include "contact/touch.h"

/* A normal that has come to cut a solid by more than this slope is not kept. */
static const double slope = 1e-3;

static bool vertex_of_face(const abut_solid *s, int32_t vertex, int32_t face) {
    int32_t c = solid_vertices(s)[vertex].coedge, first = c;
    for (int32_t budget = 2 * solid_vertices(s)[vertex].valence + 8; budget > 0; budget--) {
        if (solid_coedges(s)[c].face == face) return true;
        c = solid_twin(s, solid_coedges(s)[c].prev);
        if (c == first) return false;
    }
    return false;
}

static bool adjacent(const abut_solid *s, abut_place x, abut_place y) {
    if (x.kind > y.kind) return adjacent(s, y, x);
    const solid_edge *edges = solid_edges(s);
    if (x.kind == ABUT_ON_VERTEX && y.kind == ABUT_ON_EDGE)
        return edges[y.id].vertex[0] == x.id || edges[y.id].vertex[1] == x.id;
    if (x.kind == ABUT_ON_EDGE && y.kind == ABUT_ON_FACE)
        return solid_coedges(s)[edges[x.id].coedge[0]].face == y.id ||
               solid_coedges(s)[edges[x.id].coedge[1]].face == y.id;
    return x.kind == ABUT_ON_VERTEX && y.kind == ABUT_ON_FACE && vertex_of_face(s, x.id, y.id);
}

static bool same(abut_place x, abut_place y) { return x.kind == y.kind && x.id == y.id; }

/* 6 or 7 as a number, 8 when neither holds. */
static abut_status condition(const touch_work *w, const abut_touch_region *r, const abut_touch_region *old,
                             int *number) {
    bool same_a = same(r->a, old->a), same_b = same(r->b, old->b);
    *number = same_a && same_b ? 6 : 8;
    if (*number == 6) return ABUT_OK;
    if (!(same_a || adjacent(w->s[0]->solid, r->a, old->a)) ||
        !(same_b || adjacent(w->s[1]->solid, r->b, old->b)))
        return ABUT_OK;
    touch_cone a, b;
    bool good = touch_cone_make(w->context, w->s[0], w->p[0], old->a, &a);
    if (!touch_cone_make(w->context, w->s[1], w->p[1], old->b, &b)) good = false;
    if (good && a.convex && b.convex) *number = 7;
    touch_cone_free(w->context, &a), touch_cone_free(w->context, &b);
    return good ? ABUT_OK : ABUT_NO_MEMORY;
}

/* The normal moves with the solid that has the face it came from; with B where there was none. */
static vec3 carried(const touch_work *w, const abut_touch_region *old) {
    int i = old->b.kind != ABUT_ON_FACE && old->a.kind == ABUT_ON_FACE ? 0 : 1;
    return pose_vector(w->p[i], pose_unvector(w->options->previous->pose[i], old->normals[0]));
}

abut_status touch_remember(const touch_work *w, abut_touch_region *r, const touch_cone *a,
                           const touch_cone *b) {
    const abut_touch *previous = w->options->previous;
    int best = 8;
    for (int64_t i = 0; previous && i < previous->region_count && best > 6; i++) {
        const abut_touch_region *old = &previous->regions[i];
        int number;
        if (!old->temporary || old->normal_count == 0) continue;
        abut_status status = condition(w, r, old, &number);
        if (status != ABUT_OK) return status;
        vec3 n = carried(w, old);
        if (number >= best || touch_cone_excess(a, b, n) > slope) continue;
        best = number;
        r->normals[0] = n, r->normal_count = 1;
    }
    return ABUT_OK;
}

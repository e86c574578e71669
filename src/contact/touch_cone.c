/* Neighbourhoods: what a solid looks like from one of its points, as a cone of directions. */
#include "contact/touch.h"

/* From the edge of a coedge into its face: n x (direction of the coedge), unit, solid axes. */
static vec3 into_face(const abut_solid *s, int32_t coedge) {
    const solid_coedge *c = &solid_coedges(s)[coedge];
    vec3 along = vec3_sub(solid_position(s, solid_coedges(s)[c->next].vertex), solid_position(s, c->vertex));
    return vec3_unit(vec3_cross(solid_faces(s)[c->face].plane.n, along));
}

static bool add(const abut_context *context, touch_cone *cone, vec3 normal, vec3 ray) {
    return array_push(context, &cone->normals, pose_vector(cone->p, normal)) &&
           array_push(context, &cone->rays, pose_vector(cone->p, ray));
}

static bool make_edge(const abut_context *context, touch_cone *cone) {
    const abut_solid *s = cone->s->solid;
    const solid_edge *e = &solid_edges(s)[cone->place.id];
    vec3 d = vec3_sub(solid_position(s, e->vertex[1]), solid_position(s, e->vertex[0]));
    cone->along = pose_vector(cone->p, vec3_unit(d));
    cone->reflex = e->convexity < 0, cone->convex = !cone->reflex;
    for (int i = 0; i < 2; i++) {
        vec3 n = solid_faces(s)[solid_coedges(s)[e->coedge[i]].face].plane.n;
        if (!add(context, cone, n, into_face(s, e->coedge[i]))) return false;
    }
    return array_push(context, &cone->rays, cone->along) &&
           array_push(context, &cone->rays, vec3_neg(cone->along));
}

/* A hundredth of the shortest edge at the vertex is near enough to see nothing but the faces that meet there
 * (the smallest feature of a solid is known to be far larger than the weld distance). */
static bool make_vertex(const abut_context *context, touch_cone *cone) {
    const abut_solid *s = cone->s->solid;
    const solid_coedge *coedges = solid_coedges(s);
    const solid_vertex *v = &solid_vertices(s)[cone->place.id];
    double shortest = INFINITY;
    cone->convex = true;
    int32_t c = v->coedge;
    for (int32_t budget = 2 * v->valence + 8; budget > 0; budget--) {
        vec3 d = vec3_sub(solid_position(s, coedges[coedges[c].next].vertex), v->position);
        double length = vec3_length(d);
        shortest = fmin(shortest, length);
        if (solid_edges(s)[coedges[c].edge].convexity < 0) cone->reflex = true, cone->convex = false;
        if (!add(context, cone, solid_faces(s)[coedges[c].face].plane.n, vec3_scale(d, 1 / length)))
            return false;
        c = solid_twin(s, coedges[c].prev);
        if (c == v->coedge) break;
    }
    cone->step = 0.01 * shortest;
    return true;
}

bool touch_cone_make(const abut_context *context, const abut_touch_solid *s, pose p, abut_place place,
                     touch_cone *cone) {
    *cone = (touch_cone){.s = s, .p = p, .place = place};
    if (place.kind == ABUT_ON_EDGE) return make_edge(context, cone);
    if (place.kind == ABUT_ON_VERTEX) return make_vertex(context, cone);
    cone->convex = true;
    return array_push(context, &cone->normals, pose_vector(p, solid_faces(s->solid)[place.id].plane.n));
}

void touch_cone_free(const abut_context *context, touch_cone *cone) {
    array_free(context, &cone->normals);
    array_free(context, &cone->rays);
}

bool touch_cone_contains(const touch_cone *cone, vec3 direction) {
    const vec3 *n = cone->normals.data;
    if (cone->place.kind == ABUT_ON_FACE) return vec3_dot(n[0], direction) < 0;
    if (cone->place.kind == ABUT_ON_EDGE) {
        bool below0 = vec3_dot(n[0], direction) < 0, below1 = vec3_dot(n[1], direction) < 0;
        return cone->reflex ? below0 || below1 : below0 && below1;
    }
    vec3 at = solid_position(cone->s->solid, cone->place.id);
    vec3 look = vec3_axpy(at, cone->step, pose_unvector(cone->p, direction));
    return index_side(cone->s->index, look) == INDEX_IN;
}

vec3 touch_cone_outward(const touch_cone *cone) {
    vec3 sum = {0, 0, 0};
    for (int64_t i = 0; i < cone->normals.count; i++) sum = vec3_add(sum, cone->normals.data[i]);
    return vec3_unit(sum);
}

double touch_cone_excess(const touch_cone *a, const touch_cone *b, vec3 n) {
    double worst = 0;
    for (int64_t i = 0; i < a->rays.count; i++) worst = fmax(worst, -vec3_dot(n, a->rays.data[i]));
    for (int64_t i = 0; i < b->rays.count; i++) worst = fmax(worst, vec3_dot(n, b->rays.data[i]));
    return worst;
}

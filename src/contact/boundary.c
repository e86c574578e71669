/* Boundaries: creation, and a collision of two of them (boundary.h). */
#include "contact/boundary_search.h"

/* ---- creation */

typedef ARRAY(box) box_array;

/* Vertices that can touch something convex: all of them but those of reflex edges only. */
static bool stands_out(const abut_solid *s, int32_t vertex) {
    int32_t first = solid_vertices(s)[vertex].coedge, c = first;
    do {
        if (solid_edges(s)[solid_coedges(s)[c].edge].convexity > 0) return true;
        c = solid_twin(s, solid_coedges(s)[c].prev);
    } while (c != first);
    return false;
}

static box edge_box(const abut_solid *s, int32_t edge) {
    const solid_edge *e = &solid_edges(s)[edge];
    return box_add_point(box_add_point(box_empty(), solid_position(s, e->vertex[0])),
                         solid_position(s, e->vertex[1]));
}

static box face_box(const abut_solid *s, int32_t face) {
    const solid_loop *loop = &solid_loops(s)[solid_faces(s)[face].first_loop];
    box b = box_empty();
    for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next)
        b = box_add_point(b, solid_position(s, solid_coedges(s)[c].vertex));
    return b;
}

/* The tree numbers the boxes it is given; `numbers` are the features behind them. */
static bool build(const abut_context *context, const box_array *boxes, const int_array *numbers,
                  box_tree *tree) {
    if (!box_tree_build(context, boxes->data, (int32_t)boxes->count, tree)) return false;
    for (int32_t i = 0; i < tree->item_count; i++) tree->items[i] = numbers->data[tree->items[i]];
    return true;
}

static bool build_trees(const abut_context *context, boundary *b, box_array *boxes, int_array *numbers) {
    const abut_solid *s = b->solid;
    bool fits = array_reserve(context, boxes, 1) && array_reserve(context, numbers, 1);
    for (int32_t v = 0; fits && v < s->vertex_count; v++)
        if (stands_out(s, v))
            fits = array_push(context, boxes, box_add_point(box_empty(), solid_position(s, v))) &&
                   array_push(context, numbers, v);
    fits = fits && build(context, boxes, numbers, &b->vertices);
    boxes->count = numbers->count = 0;
    for (int32_t e = 0; fits && e < s->edge_count; e++)
        if (solid_edges(s)[e].convexity > 0)
            fits = array_push(context, boxes, edge_box(s, e)) && array_push(context, numbers, e);
    fits = fits && build(context, boxes, numbers, &b->edges);
    boxes->count = numbers->count = 0;
    for (int32_t f = 0; fits && f < s->face_count; f++)
        fits = array_push(context, boxes, face_box(s, f)) && array_push(context, numbers, f);
    return fits && build(context, boxes, numbers, &b->faces);
}

/* The face of a coedge lies left of it, seen from outside: n x e leads into the face. */
static boundary_wedge make_wedge(const abut_solid *s, const solid_edge *e) {
    boundary_wedge w = {.p = solid_position(s, e->vertex[0])};
    w.e = vec3_sub(solid_position(s, e->vertex[1]), w.p);
    for (int k = 0; k < 2; k++) {
        vec3 n = solid_faces(s)[solid_coedges(s)[e->coedge[k]].face].plane.n;
        w.in[k] = vec3_unit(vec3_cross(n, k ? vec3_neg(w.e) : w.e));
    }
    w.middle = vec3_axpy(w.p, 0.5, w.e), w.half = vec3_length(w.e) / 2;
    return w;
}

/* About the middle of the face's box. */
static boundary_ball make_ball(const abut_solid *s, int32_t face) {
    const solid_loop *loop = &solid_loops(s)[solid_faces(s)[face].first_loop];
    boundary_ball ball = {box_center(face_box(s, face)), 0};
    for (int32_t k = 0, c = loop->coedge; k < loop->count; k++, c = solid_coedges(s)[c].next)
        ball.radius =
            fmax(ball.radius, vec3_distance(ball.center, solid_position(s, solid_coedges(s)[c].vertex)));
    return ball;
}

/* Against the normals of the faces at the vertex: of a convex corner that leads into the solid. */
static vec3 inward_of(const abut_solid *s, int32_t vertex) {
    vec3 sum = vec3_zero();
    int32_t first = solid_vertices(s)[vertex].coedge, c = first;
    do {
        sum = vec3_sub(sum, solid_faces(s)[solid_coedges(s)[c].face].plane.n);
        c = solid_twin(s, solid_coedges(s)[c].prev);
    } while (c != first);
    return vec3_length2(sum) > 1e-6 ? vec3_unit(sum) : vec3_zero();
}

static bool make_wedges(const abut_context *context, boundary *b) {
    const abut_solid *s = b->solid;
    b->inward = mem_calloc(context, (size_t)s->vertex_count, sizeof *b->inward);
    b->saddle = mem_calloc(context, (size_t)s->vertex_count, sizeof *b->saddle);
    for (int32_t v = 0; b->inward && v < s->vertex_count; v++) b->inward[v] = inward_of(s, v);
    for (int32_t e = 0; b->saddle && e < s->edge_count; e++)
        for (int k = 0; k < 2 && solid_edges(s)[e].convexity < 0; k++)
            b->saddle[solid_edges(s)[e].vertex[k]] = true;
    b->wedges = mem_calloc(context, (size_t)s->edge_count, sizeof *b->wedges);
    for (int32_t e = 0; b->wedges && e < s->edge_count; e++)
        if (solid_edges(s)[e].convexity > 0) b->wedges[e] = make_wedge(s, &solid_edges(s)[e]);
    b->balls = mem_calloc(context, (size_t)s->face_count, sizeof *b->balls);
    for (int32_t f = 0; b->balls && f < s->face_count; f++) b->balls[f] = make_ball(s, f);
    return b->inward && b->saddle && b->wedges && b->balls;
}

abut_status boundary_create(const abut_context *context, const abut_solid *solid, boundary *out,
                            abut_error *error) {
    *out = (boundary){.solid = solid, .depth = solid->facts.volume / solid->facts.area / 2};
    abut_status status =
        solid->facts.convex ? ABUT_OK : abut_index_build(context, solid, NULL, &out->index, error);
    if (status != ABUT_OK) return status;
    box_array boxes = {0};
    int_array numbers = {0};
    bool fits = make_wedges(context, out) && build_trees(context, out, &boxes, &numbers);
    array_free(context, &boxes);
    array_free(context, &numbers);
    if (fits) return ABUT_OK;
    boundary_free(context, out);
    return fail_memory(error);
}

void boundary_free(const abut_context *context, boundary *b) {
    box_tree_free(context, &b->vertices);
    box_tree_free(context, &b->edges);
    box_tree_free(context, &b->faces);
    if (b->solid) {
        mem_free(context, b->wedges, (size_t)b->solid->edge_count, sizeof *b->wedges);
        mem_free(context, b->balls, (size_t)b->solid->face_count, sizeof *b->balls);
        mem_free(context, b->inward, (size_t)b->solid->vertex_count, sizeof *b->inward);
        mem_free(context, b->saddle, (size_t)b->solid->vertex_count, sizeof *b->saddle);
    }
    abut_index_free(context, b->index);
    *b = (boundary){0};
}

/* A convex solid is the part below all its faces. */
bool boundary_holds(const boundary *b, vec3 x) {
    if (b->index) return index_side(b->index, x) == INDEX_IN;
    for (int32_t f = 0; f < b->solid->face_count; f++)
        if (plane_distance(solid_faces(b->solid)[f].plane, x) > 0) return false;
    return true;
}

bool boundary_contains(const boundary *b, vec3 x) { return boundary_holds(b, vec3_sub(x, b->solid->origin)); }

/* ---- a pair */

static boundary_side make_side(const boundary *b, pose p) {
    pose frame = solid_frame(b->solid, p);
    return (boundary_side){b, frame, quat_matrix(frame.rotation)};
}

int boundary_collide(const boundary *a, pose pa, const boundary *b, pose pb, const manifold_config *config,
                     manifold *out, int room) {
    gather found;
    found.count = 0;
    boundary_search q = {.a = make_side(a, pa), .b = make_side(b, pb), .config = config, .found = &found};
    q.slack = 1e-9 * (a->solid->diagonal + b->solid->diagonal);
    q.b_in_a = pose_relative(q.b.frame, q.a.frame);
    q.turn = mat3_mul(mat3_transpose(q.b.r), q.a.r), q.shift = side_from_world(&q.b, q.a.frame.position);
    boundary_find_facing(&q, config->reach, 0);
    boundary_find_deeper(&q);
    if (found.count == 0 || config->all_places) boundary_find_corners(&q);
    return gather_group(&found, config, out, room);
}

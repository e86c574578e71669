/* Solids with dents and curved shapes (cylinders, ellipsoids): through the convex cells of the solid's index.
 *
 *        ______________           Each cell near the shape gives a manifold, as if it were alone.  What it
 *       |   :    |                says about the faces between cells (dotted) is no contact: there the
 *       |   :    |                witness on the cell lies inside the solid.  Where the witness lies on a
 *       |...:....|_______         face of the solid the normal must be that face's: over a seam the
 *       |   :            |        neighbour knows better.  On an edge or a vertex it must lead out of the
 *       |___:____________|        faces there.
 *
 * A shape that lies deep across a seam may find its shortest way out of every cell to be the seam.  Then the
 * faces themselves are asked: those push under which the shape's deepest point lies; and where there is none,
 * the hull of the solid. */
#include "contact/collider_parts.h"
#include "convex/pair.h"

/* ---- creation */

static abut_status make_hull(const abut_context *context, const abut_cells *cells, int64_t cell,
                             abut_hull **hull, abut_error *error) {
    int32_t from = cells->corner_start[cells->facet_start[cell]],
            to = cells->corner_start[cells->facet_start[cell + 1]];
    return abut_hull_create(context, cells->points + from, to - from, hull, error);
}

static bool build_tree(const abut_context *context, collider_cells *c) {
    box *boxes = mem_alloc(context, (size_t)c->count + 1, sizeof *boxes);
    if (!boxes) return false;
    for (int32_t i = 0; i < c->count; i++) boxes[i] = c->hulls[i]->bounds;
    bool built = box_tree_build(context, boxes, c->count, &c->tree);
    mem_free(context, boxes, (size_t)c->count + 1, sizeof *boxes);
    return built;
}

/* Cells too thin for a hull hold no volume that could be touched: their neighbours have the same boundary
 * within rounding. */
static abut_status make_hulls(const abut_context *context, const abut_cells *cells, collider_cells *out,
                              abut_error *error) {
    out->hulls = mem_calloc(context, (size_t)cells->count + 1, sizeof *out->hulls);
    if (!out->hulls) return fail_memory(error);
    out->room = (int32_t)cells->count + 1;
    for (int64_t i = 0; i < cells->count; i++) {
        abut_status status = make_hull(context, cells, i, &out->hulls[out->count], error);
        if (status == ABUT_OK)
            out->count++;
        else if (status == ABUT_NO_MEMORY)
            return status;
    }
    return build_tree(context, out) ? ABUT_OK : fail_memory(error);
}

abut_status collider_cells_create(const abut_context *context, const boundary *b, collider_cells *out,
                                  abut_error *error) {
    abut_cells cells = {0};
    abut_status status = abut_index_cells(context, b->index, b->solid, &cells, error);
    if (status == ABUT_OK) status = make_hulls(context, &cells, out, error);
    abut_cells_free(context, &cells);
    return status;
}

void collider_cells_free(const abut_context *context, collider_cells *c) {
    for (int32_t i = 0; i < c->count; i++) abut_hull_free(context, c->hulls[i]);
    mem_free(context, c->hulls, (size_t)c->room, sizeof *c->hulls);
    box_tree_free(context, &c->tree);
    *c = (collider_cells){0};
}

/* ---- collision */

typedef struct search {
    const collider *a, *b;
    pose pa, pb;
    const manifold_config *config;
    double epsilon;
    bool blind; /* a cell that the shape overlaps said nothing that counts */
    gather *found;
} search;

/* Whether n (shape axes, outward) is a direction in which the solid can push at the place. */
static bool can_push(const abut_solid *s, abut_place place, vec3 n) {
    if (place.kind == ABUT_ON_FACE) return vec3_dot(solid_faces(s)[place.id].plane.n, n) > 0.9998;
    if (place.kind == ABUT_ON_EDGE) {
        const solid_edge *e = &solid_edges(s)[place.id];
        vec3 sum = vec3_add(solid_faces(s)[solid_coedges(s)[e->coedge[0]].face].plane.n,
                            solid_faces(s)[solid_coedges(s)[e->coedge[1]].face].plane.n);
        return e->convexity > 0 && vec3_dot(sum, n) > 0;
    }
    if (place.kind == ABUT_ON_VERTEX) {
        int32_t first = solid_vertices(s)[place.id].coedge, c = first;
        vec3 sum = vec3_zero();
        do {
            sum = vec3_add(sum, solid_faces(s)[solid_coedges(s)[c].face].plane.n);
            c = solid_twin(s, solid_coedges(s)[c].prev);
        } while (c != first);
        return vec3_dot(sum, n) > 0;
    }
    return false;
}

/* Adds a point of a cell's manifold, if the boundary of the solid can push there. */
static bool add_point(search *q, const manifold *m, int i, int32_t cell) {
    const boundary *b = &q->a->boundary;
    vec3 on = vec3_axpy(m->points[i].at, m->points[i].gap / 2, m->normal);
    vec3 x = vec3_sub(pose_unpoint(q->pa, on), b->solid->origin);
    abut_place place = index_classify_point(b->index, b->solid, x, q->epsilon);
    if (!can_push(b->solid, place, vec3_neg(pose_unvector(q->pa, m->normal)))) return false;
    gather_add(q->found, (gather_point){.at = m->points[i].at,
                                        .normal = m->normal,
                                        .gap = m->points[i].gap,
                                        .id = m->points[i].id ^ hash64_mix((uint64_t)cell + 1),
                                        .vertex = -1});
    return true;
}

/* The closest points of a cell and a shape that are apart.  Where all cells say by their growth that the
 * shape is nearest to a corner at a seam, at a slant, the shortest distance knows the face. */
static void add_closest(search *q, const abut_convex *part, int32_t cell) {
    const abut_convex *b = &q->b->convex.convex;
    convex_pair p = {.a = part, .b = b, .ra = quat_matrix(q->pa.rotation), .rb = quat_matrix(q->pb.rotation)};
    vec3 center = pose_point(q->pa, shape_center(part)), on, v;
    p.c = vec3_sub(pose_point(q->pb, shape_center(b)), center), p.size = shape_radius(part) + shape_radius(b);
    int steps;
    if (!convex_closest_cores(&p, &on, &v, &steps)) return;
    double gap = vec3_length(v);
    if (gap > q->config->reach || gap < q->epsilon) return;
    manifold m = {.normal = vec3_scale(v, 1 / gap), .count = 1};
    m.points[0] = (manifold_point){vec3_axpy(vec3_add(center, on), -gap / 2, m.normal), gap, 0};
    add_point(q, &m, 0, cell);
}

static bool visit_cell(void *user, int32_t cell) {
    search *q = user;
    manifold_shape part = {.convex = abut_convex_hull(q->a->cells.hulls[cell])};
    manifold m;
    bool overlaps = false, counts = false, pushes = false;
    manifold_collide(&part, q->pa, &q->b->convex, q->pb, q->config, NULL, &m);
    for (int i = 0; i < m.count; i++) {
        bool deep = m.points[i].gap < -q->epsilon;
        overlaps |= deep;
        if (add_point(q, &m, i, cell)) counts = true, pushes |= deep;
    }
    if (overlaps && !pushes) q->blind = true;
    if (!overlaps && !counts) add_closest(q, &part.convex, cell);
    return true;
}

/* ---- deep overlaps */

/* The point of B that is deepest beneath the face stands under it, inside the solid. */
static bool visit_face(void *user, int32_t face) {
    search *q = user;
    const abut_solid *s = q->a->boundary.solid;
    plane f = solid_faces(s)[face].plane;
    vec3 n = pose_vector(q->pa, f.n);
    vec3 lowest = abut_convex_support(&q->b->convex.convex, pose_unvector(q->pb, vec3_neg(n)));
    vec3 x = pose_unpoint(q->pa, pose_point(q->pb, lowest)), stored = vec3_sub(x, s->origin);
    double height = plane_distance(f, stored);
    if (height > -q->epsilon || !index_face_contains(s, face, stored) ||
        !boundary_contains(&q->a->boundary, x))
        return true;
    gather_add(q->found, (gather_point){.at = pose_point(q->pa, vec3_axpy(x, -height / 2, f.n)),
                                        .normal = vec3_neg(n),
                                        .gap = height,
                                        .id = hash64_mix((uint64_t)face + 1),
                                        .vertex = -1});
    return true;
}

static bool pushes(const gather *g, double epsilon) {
    for (int i = 0; i < g->count; i++)
        if (g->points[i].gap < -epsilon) return true;
    return false;
}

static void find_way_out(search *q, box near) {
    vec3 origin = q->a->boundary.solid->origin;
    near = (box){vec3_sub(near.lower, origin), vec3_sub(near.upper, origin)};
    box_tree_query(&q->a->boundary.faces, near, visit_face, q);
    if (pushes(q->found, q->epsilon)) return;
    manifold m;
    manifold_collide(&q->a->convex, q->pa, &q->b->convex, q->pb, q->config, NULL, &m);
    for (int i = 0; i < m.count; i++)
        gather_add(q->found, (gather_point){.at = m.points[i].at,
                                            .normal = m.normal,
                                            .gap = m.points[i].gap,
                                            .id = m.points[i].id,
                                            .vertex = -1});
}

int collider_collide_cells(const collider *a, pose pa, const collider *b, pose pb,
                           const manifold_config *config, manifold *out, int room) {
    gather found;
    found.count = 0;
    search q = {.a = a, .b = b, .pa = pa, .pb = pb, .config = config, .found = &found};
    q.epsilon = 1e-7 * a->boundary.solid->diagonal;
    box near = box_grow(collider_bounds(b, pose_relative(pb, pa)), config->reach);
    box_tree_query(&a->cells.tree, near, visit_cell, &q);
    if (q.blind) find_way_out(&q, near);
    return gather_group(&found, config, out, room);
}

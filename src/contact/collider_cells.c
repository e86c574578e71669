/* The convex cells of the index of a solid with dents, as hulls: whether a convex shape has a part of the
 * solid.  Contacts are not asked of them (collider_curved.h): the faces between cells are no boundary. */
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

/* ---- overlap */

typedef struct meeting {
    const collider_cells *cells;
    const abut_convex *shape;
    pose at;
} meeting;

/* False: they meet, no need to go on. */
static bool visit_cell(void *user, int32_t cell) {
    const meeting *m = user;
    abut_convex part = abut_convex_hull(m->cells->hulls[cell]);
    convex_pair p = {.a = &part, .b = m->shape, .ra = mat3_identity(), .rb = quat_matrix(m->at.rotation)};
    p.c = vec3_sub(m->at.position, shape_center(&part));
    p.size = shape_radius(&part) + shape_radius(m->shape);
    vec3 on, v;
    int steps;
    double own, radius = convex_core_radii(&p, &own);
    return convex_closest_cores(&p, &on, &v, &steps) && vec3_length(v) >= radius;
}

bool collider_cells_meet(const collider_cells *cells, const abut_convex *shape, pose at, box bounds) {
    meeting m = {cells, shape, at};
    return !box_tree_query(&cells->tree, bounds, visit_cell, &m);
}

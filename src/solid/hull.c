/* The convex hull of points as a solid.  Qhull decides which points are corners and which corners make a
 * facet (solid/convex_hull.h); coordinates of the solid are the given ones. */
#include "solid/convex_hull.h"
#include "solid/read.h"

/* The mesh of the facets: points in the order given, those that are no corners left out. */
static abut_mesh *mesh_of(const abut_context *context, const vec3 *points, int count,
                          const hull_polygons *p) {
    int *number = mem_calloc(context, (size_t)count, sizeof *number), used = 0;
    if (!number) return NULL;
    for (int32_t i = 0; i < p->corner_count; i++) number[p->corner[i]] = 1;
    for (int i = 0; i < count; i++) used += number[i];
    abut_mesh *mesh = mesh_create(context, used, p->face_count, p->corner_count, false);
    if (mesh) {
        used = 0;
        for (int i = 0; i < count; i++)
            if (number[i]) mesh->points[used] = points[i], number[i] = used++;
        for (int32_t i = 0; i < p->corner_count; i++) mesh->corners[i] = number[p->corner[i]];
        for (int32_t f = 0; f <= p->face_count; f++) mesh->face_start[f] = p->face_start[f];
    }
    mem_free(context, number, (size_t)count, sizeof *number);
    return mesh;
}

abut_status abut_solid_hull(const abut_context *context, const vec3 *points, int count, abut_solid **solid,
                            abut_error *error) {
    *solid = NULL;
    hull_polygons polygons;
    abut_status status = convex_hull_polygons(context, points, count, &polygons, error);
    if (status != ABUT_OK) return status;
    abut_mesh *mesh = mesh_of(context, points, count, &polygons);
    abut_solid_options options = abut_default_solid_options();
    options.skip_self_intersection = true;
    status = mesh ? abut_solid_build(context, mesh, &options, solid, error) : fail_memory(error);
    abut_mesh_free(context, mesh);
    convex_hull_free(context, &polygons);
    return status;
}

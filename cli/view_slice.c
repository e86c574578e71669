/* The B-rep index of a recorded solid, cut by a plane: its cells in that plane, and the border of the solid.
 */
#include "view_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(abut_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static abut_vec3 make(const double *x) { return (abut_vec3){x[0], x[1], x[2]}; }

/* The recorded triangles as a mesh; coplanar neighbours become one face again when the solid is built. */
abut_status view_build_solid(const abut_recorded_geometry *g, abut_solid **solid, abut_error *error) {
    int64_t *start = calloc((size_t)g->triangle_count + 1, sizeof *start);
    abut_vec3 *points = calloc((size_t)g->point_count + 1, sizeof *points);
    int *corners = calloc((size_t)g->triangle_count + 1, 3 * sizeof *corners);
    abut_status status = ABUT_NO_MEMORY;
    if (start && points && corners) {
        memcpy(points, g->points, (size_t)g->point_count * sizeof *points);
        memcpy(corners, g->triangles, (size_t)g->triangle_count * 3 * sizeof *corners);
        for (int64_t i = 0; i <= g->triangle_count; i++) start[i] = 3 * i;
        abut_mesh mesh = {.points = points,
                          .corners = corners,
                          .face_start = start,
                          .point_count = g->point_count,
                          .face_count = g->triangle_count,
                          .corner_count = 3 * g->triangle_count};
        abut_solid_options options = abut_default_solid_options();
        options.skip_self_intersection = true; /* it was looked for when the scene was loaded */
        status = abut_solid_build(NULL, &mesh, &options, solid, error);
    }
    free(start), free(points), free(corners);
    return status;
}

/* The box with a margin, as a rectangle across `axis`, and its normal. */
static double make_slice(abut_box b, int axis, double where, abut_vec3 corner[4], abut_vec3 *normal) {
    int right = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
    double size = fmax(at(b.upper, right) - at(b.lower, right), at(b.upper, up) - at(b.lower, up));
    double margin = 0.06 * size, x[3], n[3] = {0};
    for (int i = 0; i < 4; i++) {
        x[axis] = at(b.lower, axis) + where * (at(b.upper, axis) - at(b.lower, axis));
        x[right] = i == 0 || i == 3 ? at(b.lower, right) - margin : at(b.upper, right) + margin;
        x[up] = i < 2 ? at(b.lower, up) - margin : at(b.upper, up) + margin;
        corner[i] = make(x);
    }
    n[axis] = axis == 1 ? -1 : 1; /* right x up */
    *normal = make(n);
    return size;
}

static json_t *points_json(const abut_vec3 *points, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_real(points[i].x));
        json_array_append_new(list, json_real(points[i].y));
        json_array_append_new(list, json_real(points[i].z));
    }
    return list;
}

static json_t *parts_json(const abut_parts *parts) {
    json_t *list = json_array();
    for (int64_t i = 0; i < parts->count; i++)
        json_array_append_new(
            list,
            json_pack("{s:s,s:o}", "kind", abut_place_kind_name(parts->places[i].kind), "points",
                      points_json(parts->points + parts->start[i], parts->start[i + 1] - parts->start[i])));
    return list;
}

static json_t *border_json(const abut_regions *regions) {
    json_t *list = json_array();
    for (int64_t r = 0; r < regions->count; r++) {
        if (regions->places[r].kind == ABUT_OUTSIDE) continue;
        for (int32_t l = regions->loop_start[r]; l < regions->loop_start[r + 1]; l++)
            json_array_append_new(list, points_json(regions->points + regions->corner_start[l],
                                                    regions->corner_start[l + 1] - regions->corner_start[l]));
    }
    return list;
}

void view_index_free(view_index *kept) {
    abut_index_free(NULL, kept->index);
    abut_solid_free(NULL, kept->solid);
    *kept = (view_index){0};
}

static abut_status build_index(abut_recording *r, view_index *kept, int geometry, abut_error *error) {
    abut_recorded_geometry g;
    if (kept->index && kept->geometry == geometry) return ABUT_OK;
    view_index_free(kept);
    abut_status status = abut_recording_geometry(r, geometry, &g, error);
    if (status == ABUT_OK && strcmp(g.kind, "solid") != 0) {
        *error = (abut_error){.status = ABUT_UNSUPPORTED, .message = "only solids have an index"};
        return ABUT_UNSUPPORTED;
    }
    if (status == ABUT_OK) status = view_build_solid(&g, &kept->solid, error);
    if (status == ABUT_OK) status = abut_index_build(NULL, kept->solid, NULL, &kept->index, error);
    kept->geometry = geometry;
    if (status != ABUT_OK) view_index_free(kept);
    return status;
}

abut_status view_slice(abut_recording *r, view_index *kept, int geometry, int axis, double where,
                       json_t **out, abut_error *error) {
    abut_parts parts = {0};
    abut_regions regions = {0};
    abut_vec3 corner[4], normal;
    abut_status status = build_index(r, kept, geometry, error);
    if (status == ABUT_OK) {
        double size = make_slice(abut_solid_facts_of(kept->solid).bounds, axis, where, corner, &normal);
        double epsilon = abut_default_solid_options().epsilon * size;
        status = abut_index_polygon(NULL, kept->index, kept->solid, corner, 4, epsilon, &parts, error);
        if (status == ABUT_OK) status = abut_parts_join(NULL, &parts, normal, epsilon, &regions, error);
    }
    if (status == ABUT_OK) {
        abut_index_facts facts = abut_index_facts_of(kept->index);
        *out =
            json_pack("{s:o,s:o,s:o,s:I,s:I,s:I}", "origin", cli_json_vec3(corner[0]), "parts",
                      parts_json(&parts), "border", border_json(&regions), "nodes", (json_int_t)facts.nodes,
                      "height", (json_int_t)facts.height, "cells", (json_int_t)facts.cells);
    }
    abut_parts_free(NULL, &parts);
    abut_regions_free(NULL, &regions);
    return status;
}

#include "record/geometry.h"

/* radius, length, axes, normal, offset: what the kind does not use is 0 */
static void shape_numbers(const abut_shape *s, double out[9]) {
    double numbers[9] = {s->radius,   s->length,   s->axes.x,   s->axes.y, s->axes.z,
                         s->normal.x, s->normal.y, s->normal.z, s->offset};
    memcpy(out, numbers, sizeof numbers);
}

typedef struct solid_arrays {
    double *points;
    int32_t *triangles, *edges;
    int64_t point_count, triangle_count, edge_count;
} solid_arrays;

static void free_arrays(const abut_context *context, solid_arrays *a) {
    mem_free(context, a->points, (size_t)a->point_count, 3 * sizeof *a->points);
    mem_free(context, a->edges, (size_t)a->edge_count, 2 * sizeof *a->edges);
    abut_solid_triangles_free(context, a->triangles, a->triangle_count);
}

static abut_status solid_to_arrays(const abut_context *context, const abut_solid *solid, solid_arrays *a,
                                   abut_error *error) {
    abut_solid_facts facts = abut_solid_facts_of(solid);
    *a = (solid_arrays){.point_count = facts.maximal_vertices, .edge_count = facts.maximal_edges};
    a->points = mem_alloc(context, (size_t)a->point_count, 3 * sizeof *a->points);
    a->edges = mem_alloc(context, (size_t)a->edge_count, 2 * sizeof *a->edges);
    if (!a->points || !a->edges) return fail_memory(error);
    for (int64_t i = 0; i < a->point_count; i++) {
        abut_vec3 p = abut_solid_vertex(solid, i);
        a->points[3 * i] = p.x, a->points[3 * i + 1] = p.y, a->points[3 * i + 2] = p.z;
    }
    for (int64_t i = 0; i < a->edge_count; i++) {
        int64_t vertices[2], faces[2];
        abut_solid_edge(solid, i, vertices, faces);
        a->edges[2 * i] = (int32_t)vertices[0], a->edges[2 * i + 1] = (int32_t)vertices[1];
    }
    return abut_solid_triangles(context, solid, &a->triangles, &a->triangle_count, error);
}

abut_status geometry_write(const abut_context *context, sqlite3 *db, const char *path, int64_t id,
                           const abut_shape *shape, abut_error *error) {
    solid_arrays a = {0};
    abut_status status =
        shape->kind == ABUT_SHAPE_SOLID ? solid_to_arrays(context, shape->solid, &a, error) : ABUT_OK;
    double numbers[9];
    shape_numbers(shape, numbers);
    sqlite3_stmt *insert = NULL;
    if (status == ABUT_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO geometry VALUES(?,?,?,?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        status = record_fail(db, path, "writing the recording", error);
    if (status == ABUT_OK) {
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_text(insert, 2, abut_shape_name(shape->kind), -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 3, numbers, sizeof numbers, SQLITE_STATIC);
        sqlite3_bind_blob64(insert, 4, a.points, (uint64_t)a.point_count * 3 * sizeof *a.points,
                            SQLITE_STATIC);
        sqlite3_bind_blob64(insert, 5, a.triangles, (uint64_t)a.triangle_count * 3 * sizeof *a.triangles,
                            SQLITE_STATIC);
        sqlite3_bind_blob64(insert, 6, a.edges, (uint64_t)a.edge_count * 2 * sizeof *a.edges, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            status = record_fail(db, path, "writing the recording", error);
    }
    sqlite3_finalize(insert);
    free_arrays(context, &a);
    return status;
}

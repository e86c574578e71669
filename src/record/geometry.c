#include "record/geometry.h"

#include "record/tessellate.h"
#include "surface/surface.h"

/* radius, length, axes, normal, offset: what the kind does not use is 0 */
static void shape_numbers(const abut_shape *s, double out[9]) {
    double numbers[9] = {s->radius,   s->length,   s->axes.x,   s->axes.y, s->axes.z,
                         s->normal.x, s->normal.y, s->normal.z, s->offset};
    memcpy(out, numbers, sizeof numbers);
}

/* What goes into a row, and who owns it. */
typedef struct geometry_arrays {
    double *points;
    int32_t *triangles, *edges;
    int64_t point_count, triangle_count, edge_count;
    tessellation smooth;  /* of a surface: points, normals, triangles, edges */
    double_array patches; /* bicubic control points (x y z w), 16 a patch */
} geometry_arrays;

static void free_arrays(const abut_context *context, geometry_arrays *a) {
    mem_free(context, a->points, (size_t)a->point_count, 3 * sizeof *a->points);
    mem_free(context, a->edges, (size_t)a->edge_count, 2 * sizeof *a->edges);
    abut_solid_triangles_free(context, a->triangles, a->triangle_count);
    tessellation_free(context, &a->smooth);
    array_free(context, &a->patches);
}

static abut_status solid_to_arrays(const abut_context *context, const abut_solid *solid, geometry_arrays *a,
                                   abut_error *error) {
    abut_solid_facts facts = abut_solid_facts_of(solid);
    a->point_count = facts.maximal_vertices, a->edge_count = facts.maximal_edges;
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

/* Control points of the patches, where all of them are bicubic: weighted points and weights (x w, y w, z w,
 * w), as renderers take them. */
static bool bicubic_to_array(const abut_context *context, const abut_surface *s, double_array *out) {
    for (int i = 0; i < s->patch_count; i++) {
        const patch *p = surface_patch(s, i);
        if (p->kind != ABUT_PATCH_BEZIER && p->kind != ABUT_PATCH_RATIONAL) {
            out->count = 0;
            return true;
        }
        const double *data = surface_numbers(s, p->data);
        for (int k = 0; k < BEZIER_NUMBERS; k++) {
            bool weight = k % 4 == 3 && p->kind == ABUT_PATCH_BEZIER;
            if (!array_push(context, out, weight ? 1 : data[k])) return false;
        }
    }
    return true;
}

static abut_status shape_to_arrays(const abut_context *context, const abut_shape *shape, geometry_arrays *a,
                                   abut_error *error) {
    if (shape->kind == ABUT_SHAPE_SOLID) return solid_to_arrays(context, shape->solid, a, error);
    if (shape->kind != ABUT_SHAPE_SURFACE) return ABUT_OK;
    if (!bicubic_to_array(context, shape->surface, &a->patches)) return fail_memory(error);
    return tessellate_surface(context, shape->surface, &a->smooth, error);
}

static void bind_arrays(sqlite3_stmt *s, const geometry_arrays *a) {
    const tessellation *t = &a->smooth;
    bool smooth = t->points.count > 0;
    const void *points = smooth ? (const void *)t->points.data : a->points;
    const int32_t *triangles = smooth ? t->triangles.data : a->triangles;
    const int32_t *edges = smooth ? t->edges.data : a->edges;
    int64_t point_count = smooth ? t->points.count : a->point_count;
    int64_t triangle_count = smooth ? t->triangles.count / 3 : a->triangle_count;
    int64_t edge_count = smooth ? t->edges.count / 2 : a->edge_count;
    sqlite3_bind_blob64(s, 4, points, (uint64_t)point_count * sizeof(vec3), SQLITE_STATIC);
    sqlite3_bind_blob64(s, 5, triangles, (uint64_t)triangle_count * 3 * sizeof(int32_t), SQLITE_STATIC);
    sqlite3_bind_blob64(s, 6, edges, (uint64_t)edge_count * 2 * sizeof(int32_t), SQLITE_STATIC);
    if (t->normals.count)
        sqlite3_bind_blob64(s, 7, t->normals.data, (uint64_t)t->normals.count * sizeof(vec3), SQLITE_STATIC);
    if (a->patches.count)
        sqlite3_bind_blob64(s, 8, a->patches.data, (uint64_t)a->patches.count * sizeof(double),
                            SQLITE_STATIC);
}

abut_status geometry_write(const abut_context *context, sqlite3 *db, const char *path, int64_t id,
                           const abut_shape *shape, abut_error *error) {
    geometry_arrays a = {0};
    abut_status status = shape_to_arrays(context, shape, &a, error);
    double numbers[9];
    shape_numbers(shape, numbers);
    sqlite3_stmt *insert = NULL;
    if (status == ABUT_OK && sqlite3_prepare_v2(db, "INSERT INTO geometry VALUES(?,?,?,?,?,?,?,?)", -1,
                                                &insert, NULL) != SQLITE_OK)
        status = record_fail(db, path, "writing the recording", error);
    if (status == ABUT_OK) {
        sqlite3_bind_int64(insert, 1, id);
        sqlite3_bind_text(insert, 2, abut_shape_name(shape->kind), -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 3, numbers, sizeof numbers, SQLITE_STATIC);
        bind_arrays(insert, &a);
        if (sqlite3_step(insert) != SQLITE_DONE)
            status = record_fail(db, path, "writing the recording", error);
    }
    sqlite3_finalize(insert);
    free_arrays(context, &a);
    return status;
}

/* `abut distance MESH_A MESH_B`: growth distance, normal, features and contact points of two convex hulls
 * (abut/convex.h). */
#include "cli.h"

#include <stdlib.h>

typedef struct pair {
    abut_hull *hull[2];
    abut_pose pose[2];
    abut_convex_result result;
} pair;

static abut_status load_hull(const char *path, abut_hull **hull, abut_error *error) {
    abut_mesh *mesh = NULL;
    abut_status status = abut_mesh_load(NULL, path, &mesh, error);
    if (status == ABUT_OK) {
        status = abut_hull_create(NULL, mesh->points, mesh->point_count, hull, error);
        if (status != ABUT_OK && error->file[0] == 0) snprintf(error->file, sizeof error->file, "%s", path);
    }
    abut_mesh_free(NULL, mesh);
    return status;
}

static json_t *feature_json(abut_feature f) {
    return json_pack("{s:s, s:i}", "kind", abut_feature_name(f.kind), "id", (int)f.id);
}

static int print_json(const pair *p) {
    const abut_convex_result *r = &p->result;
    json_t *points = json_array();
    for (int i = 0; i < r->point_count; i++) {
        const abut_convex_point *x = &r->points[i];
        json_array_append_new(points, json_pack("{s:o, s:o, s:f, s:[o, o]}", "a", cli_json_vec3(x->a), "b",
                                                cli_json_vec3(x->b), "distance", x->distance, "features",
                                                feature_json(x->feature[0]), feature_json(x->feature[1])));
    }
    return cli_print_json(json_pack("{s:f, s:o, s:f, s:[o, o], s:o, s:b, s:b, s:i}", "growth", r->growth,
                                    "normal", cli_json_vec3(r->normal), "distance", r->distance, "features",
                                    feature_json(r->feature[0]), feature_json(r->feature[1]), "points",
                                    points, "aligned", r->is_aligned, "coincident", r->is_coincident,
                                    "iterations", r->iterations));
}

static int print_table(const pair *p) {
    const abut_convex_result *r = &p->result;
    printf("growth    %.17g  (%s)\n", r->growth,
           r->growth > 1   ? "apart"
           : r->growth < 1 ? "overlapping"
                           : "touching");
    printf("distance  %.17g m along the normal\n", r->distance);
    printf("normal    %.17g %.17g %.17g  (from B to A%s)\n", r->normal.x, r->normal.y, r->normal.z,
           r->is_coincident ? "; the centres coincide: the shortest way apart" : "");
    printf("features  %s %d of A, %s %d of B\n", abut_feature_name(r->feature[0].kind), (int)r->feature[0].id,
           abut_feature_name(r->feature[1].kind), (int)r->feature[1].id);
    printf("%d contact point%s%s\n", r->point_count, r->point_count == 1 ? "" : "s",
           r->is_aligned ? "" : ", where the grown shapes touch (the features do not meet along the normal)");
    for (int i = 0; i < r->point_count; i++) {
        const abut_convex_point *x = &r->points[i];
        printf("  %-6s %5d x %-6s %-5d  a %12.6g %12.6g %12.6g   b %12.6g %12.6g %12.6g   distance %.9g\n",
               abut_feature_name(x->feature[0].kind), (int)x->feature[0].id,
               abut_feature_name(x->feature[1].kind), (int)x->feature[1].id, x->a.x, x->a.y, x->a.z, x->b.x,
               x->b.y, x->b.z, x->distance);
    }
    return EXIT_DONE;
}

static abut_status measure(pair *p, const char *const *path, const abut_convex_options *options,
                           abut_error *error) {
    for (int i = 0; i < 2; i++) {
        abut_status status = load_hull(path[i], &p->hull[i], error);
        if (status != ABUT_OK) return status;
    }
    abut_convex a = abut_convex_hull(p->hull[0]), b = abut_convex_hull(p->hull[1]);
    p->result.capacity = abut_convex_capacity(&a, &b);
    p->result.points = calloc((size_t)p->result.capacity, sizeof *p->result.points);
    return abut_convex_distance(&a, p->pose[0], &b, p->pose[1], options, NULL, &p->result, error);
}

int command_distance(int argc, char **argv) {
    const char *pose_a = NULL, *pose_b = NULL, *angle = NULL;
    bool json = false, stop;
    const cli_option options[] = {{.name = "--pose-a", .value = &pose_a},
                                  {.name = "--pose-b", .value = &pose_b},
                                  {.name = "--angle", .value = &angle},
                                  {.name = "--json", .flag = &json}};
    cli_call call = {.command = "distance",
                     .arguments = "MESH_A MESH_B [--pose-a POSE] [--pose-b POSE] [--angle RADIANS] [--json]",
                     .options = options,
                     .option_count = 4,
                     .least = 2,
                     .most = 2};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    pair p = {0};
    abut_convex_options query = abut_default_convex_options();
    if (!cli_pose("--pose-a", pose_a, &p.pose[0]) || !cli_pose("--pose-b", pose_b, &p.pose[1]) ||
        (angle && !cli_number("--angle", angle, &query.angle)))
        return EXIT_WRONG;
    abut_error error = {0};
    if (measure(&p, call.positional, &query, &error) != ABUT_OK)
        status = cli_error(&error);
    else
        status = json ? print_json(&p) : print_table(&p);
    free(p.result.points);
    abut_hull_free(NULL, p.hull[0]), abut_hull_free(NULL, p.hull[1]);
    return status;
}

/* `abut touch MESH_A MESH_B`: whether two solids touch, where, and along which normals (abut/touch.h). */
#include "cli.h"

#include <math.h>

typedef struct pair {
    abut_solid *solid[2];
    abut_touch_solid *ready[2];
    abut_pose pose[2];
    abut_twist velocity[2];
    abut_touch_options options;
    abut_touch *touch;
    double time; /* not finite: no estimate */
} pair;

static json_t *loop_json(const abut_touch *t, int32_t loop) {
    json_t *points = json_array();
    for (int32_t c = t->loop_start[loop]; c < t->loop_start[loop + 1]; c++)
        json_array_append_new(points, cli_json_vec3(t->points[c]));
    return points;
}

static json_t *place_json(abut_place place) {
    return json_pack("{s:s, s:i}", "kind", abut_place_kind_name(place.kind), "id", (int)place.id);
}

static json_t *region_json(const abut_touch *t, const abut_touch_region *r) {
    json_t *holes = json_array(), *normals = json_array();
    for (int32_t l = 1; l < r->loops; l++) json_array_append_new(holes, loop_json(t, r->first_loop + l));
    for (int i = 0; i < r->normal_count; i++) json_array_append_new(normals, cli_json_vec3(r->normals[i]));
    json_t *contacts = json_array();
    for (int32_t i = 0; i < r->contacts; i++)
        json_array_append_new(contacts, cli_json_vec3(t->contacts[r->first_contact + i]));
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:b, s:b}", "dimension", r->dimension,
                     "a", place_json(r->a), "b", place_json(r->b), "points", loop_json(t, r->first_loop),
                     "holes", holes, "contacts", contacts, "normals", normals, "area", r->area, "center",
                     cli_json_vec3(r->center), "determinate", r->determinate, "needed", r->needed);
}

static int print_json(const pair *p) {
    const abut_touch *t = p->touch;
    json_t *regions = json_array();
    for (int64_t i = 0; i < t->region_count; i++)
        json_array_append_new(regions, region_json(t, &t->regions[i]));
    json_t *document =
        json_pack("{s:s, s:o, s:o}", "status", abut_touch_status_name(t->status), "regions", regions,
                  "time_estimate", isfinite(p->time) ? json_real(p->time) : json_null());
    if (t->status == ABUT_PENETRATING) {
        json_object_set_new(document, "witness", cli_json_vec3(t->witness));
        json_object_set_new(document, "depth", json_real(t->depth));
    }
    return cli_print_json(document);
}

static int print_table(const pair *p) {
    const abut_touch *t = p->touch;
    printf("%s\n", abut_touch_status_name(t->status));
    if (t->status == ABUT_PENETRATING)
        printf("a point %.9g m deep: %.9g %.9g %.9g\n", t->depth, t->witness.x, t->witness.y, t->witness.z);
    if (isfinite(p->time)) printf("no new contact before %.9g s\n", p->time);
    for (int64_t i = 0; i < t->region_count; i++) {
        const abut_touch_region *r = &t->regions[i];
        printf("%dD  %-6s %5d x %-6s %-5d  centre %12.6g %12.6g %12.6g", r->dimension,
               abut_place_kind_name(r->a.kind), (int)r->a.id, abut_place_kind_name(r->b.kind), (int)r->b.id,
               r->center.x, r->center.y, r->center.z);
        if (r->dimension == 2) printf("  area %.9g m2", r->area);
        for (int k = 0; k < r->normal_count; k++)
            printf("  normal %.6g %.6g %.6g", r->normals[k].x, r->normals[k].y, r->normals[k].z);
        printf("%s\n", r->determinate ? "" : "  (not determined)");
    }
    return EXIT_DONE;
}

/* V: vx,vy,vz[,wx,wy,wz]. */
static bool read_velocity(const char *option, const char *text, abut_twist *velocity) {
    double x[6] = {0};
    if (!text) return true;
    int count = cli_numbers(option, text, 3, 6, x);
    if (count == 0) return false;
    if (count != 3 && count != 6)
        return cli_complain("%s takes vx,vy,vz or vx,vy,vz,wx,wy,wz; give 3 or 6 numbers", option), false;
    *velocity = (abut_twist){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
    return true;
}

static abut_status analyse(pair *p, const char *const *path, bool moves, abut_error *error) {
    for (int i = 0; i < 2; i++) {
        abut_status status = abut_solid_load(NULL, path[i], NULL, &p->solid[i], error);
        if (status == ABUT_OK) status = abut_touch_solid_create(NULL, p->solid[i], &p->ready[i], error);
        if (status != ABUT_OK) return status;
    }
    abut_status status = abut_touch_find(NULL, p->ready[0], p->pose[0], p->ready[1], p->pose[1], &p->options,
                                         &p->touch, error);
    if (status != ABUT_OK || !moves) return status;
    double epsilon = p->options.epsilon;
    for (int i = 0; i < 2 && p->options.epsilon == 0; i++)
        epsilon = fmax(epsilon, abut_solid_facts_of(p->solid[i]).epsilon);
    p->time = p->touch->status == ABUT_APART
                  ? abut_touch_time(p->ready[0], p->pose[0], p->velocity[0], p->ready[1], p->pose[1],
                                    p->velocity[1], epsilon)
                  : 0;
    return ABUT_OK;
}

int command_touch(int argc, char **argv) {
    const char *pose[2] = {NULL, NULL}, *velocity[2] = {NULL, NULL}, *tolerance = NULL, *picture = NULL;
    bool json = false, stop;
    pair p = {.time = INFINITY};
    const cli_option options[] = {
        {.name = "--pose-a", .value = &pose[0]},         {.name = "--pose-b", .value = &pose[1]},
        {.name = "--velocity-a", .value = &velocity[0]}, {.name = "--velocity-b", .value = &velocity[1]},
        {.name = "--tolerance", .value = &tolerance},    {.name = "--all", .flag = &p.options.all},
        {.name = "--picture", .value = &picture},        {.name = "--json", .flag = &json}};
    cli_call call = {.command = "touch",
                     .arguments = "MESH_A MESH_B [--pose-a POSE] [--pose-b POSE] [--velocity-a V] "
                                  "[--velocity-b V] [--tolerance E] [--all] [--picture OUT.svg] [--json]",
                     .options = options,
                     .option_count = 8,
                     .least = 2,
                     .most = 2};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    if (!cli_pose("--pose-a", pose[0], &p.pose[0]) || !cli_pose("--pose-b", pose[1], &p.pose[1]) ||
        !read_velocity("--velocity-a", velocity[0], &p.velocity[0]) ||
        !read_velocity("--velocity-b", velocity[1], &p.velocity[1]) ||
        (tolerance && !cli_number("--tolerance", tolerance, &p.options.epsilon)))
        return EXIT_WRONG;
    if (tolerance && !(p.options.epsilon > 0))
        return cli_complain("--tolerance is %s; give a length above 0", tolerance);
    abut_error error = {0};
    if (analyse(&p, call.positional, velocity[0] || velocity[1], &error) != ABUT_OK)
        status = cli_error(&error);
    else
        status = json ? print_json(&p) : print_table(&p);
    if (status == EXIT_DONE && picture) {
        const abut_solid *const solids[2] = {p.solid[0], p.solid[1]};
        status = cli_touch_picture(solids, p.touch, picture);
    }
    abut_touch_free(NULL, p.touch);
    for (int i = 0; i < 2; i++) abut_touch_solid_free(NULL, p.ready[i]), abut_solid_free(NULL, p.solid[i]);
    return status;
}

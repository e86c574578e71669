/* `abut evaluate`: a point of a smooth surface and its partial derivatives.  A mesh file is a Loop cage;
 * anything else holds Bezier control points. */
#include "cli.h"

#include <string.h>
#include <strings.h>

static bool is_mesh(const char *path) {
    static const char *const extensions[] = {".obj", ".off", ".ply", ".stl"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (length > 4 && strcasecmp(path + length - 4, extensions[i]) == 0) return true;
    return false;
}

static abut_status load(const char *path, abut_surface **surface, abut_error *error) {
    if (!is_mesh(path)) return abut_surface_load(NULL, path, surface, error);
    abut_mesh *cage = NULL;
    abut_status status = abut_mesh_load(NULL, path, &cage, error);
    if (status == ABUT_OK) status = abut_surface_loop(NULL, cage, NULL, surface, error);
    abut_mesh_free(NULL, cage);
    return status;
}

/* The names of the partials, in the order of abut_partials, and the order of each. */
static const struct {
    const char *name;
    int order;
} partial_names[] = {{"u", 1},   {"v", 1},   {"uu", 2},  {"uv", 2}, {"vv", 2},
                     {"uuu", 3}, {"uuv", 3}, {"uvv", 3}, {"vvv", 3}};
enum { PARTIALS = sizeof partial_names / sizeof *partial_names };

static int print_answer(const abut_surface *surface, int patch, double u, double v, int order, bool json) {
    abut_partials p;
    bool regular = abut_surface_evaluate(surface, patch, u, v, order < 1 ? 1 : order, &p);
    const abut_vec3 *by[PARTIALS] = {&p.u, &p.v, &p.uu, &p.uv, &p.vv, &p.uuu, &p.uuv, &p.uvv, &p.vvv};
    abut_vec3 normal = abut_partials_normal(&p);
    abut_patch_facts facts = abut_surface_patch_facts(surface, patch);
    if (json) {
        json_t *derivatives = json_object();
        for (int i = 0; i < PARTIALS; i++)
            if (regular && partial_names[i].order <= order)
                json_object_set_new(derivatives, partial_names[i].name, cli_json_vec3(*by[i]));
        return cli_print_json(json_pack("{s:i,s:s,s:o,s:o,s:b,s:o}", "patch", patch, "kind",
                                        abut_patch_kind_name(facts.kind), "point", cli_json_vec3(p.c),
                                        "normal", cli_json_vec3(normal), "regular", regular, "derivatives",
                                        derivatives));
    }
    printf("patch %d (%s) at u = %.17g, v = %.17g\n", patch, abut_patch_kind_name(facts.kind), u, v);
    printf("%-7s %24.17g %24.17g %24.17g\n", "point", p.c.x, p.c.y, p.c.z);
    printf("%-7s %24.17g %24.17g %24.17g\n", "normal", normal.x, normal.y, normal.z);
    for (int i = 0; i < PARTIALS; i++)
        if (regular && partial_names[i].order <= order)
            printf("%-7s %24.17g %24.17g %24.17g\n", partial_names[i].name, by[i]->x, by[i]->y, by[i]->z);
    if (!regular)
        printf("no derivatives here: an extraordinary vertex; point and normal are those of the limit\n");
    return EXIT_DONE;
}

int command_evaluate(int argc, char **argv) {
    const char *patch_text = "0", *at_text = NULL, *derivatives_text = "1";
    bool json = false, stop;
    cli_option options[] = {{.name = "--patch", .value = &patch_text},
                            {.name = "--at", .value = &at_text},
                            {.name = "--derivatives", .value = &derivatives_text},
                            {.name = "--json", .flag = &json}};
    cli_call call = {.command = "evaluate",
                     .arguments = "SURFACE --patch N --at U,V [--derivatives 0..3] [--json]",
                     .options = options,
                     .option_count = 4,
                     .least = 1,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    double at[2];
    long patch, order;
    if (!at_text) return cli_complain("evaluate: --at is missing; write --at U,V");
    if (!cli_numbers("--at", at_text, 2, 2, at) ||
        !cli_integer("--derivatives", derivatives_text, 0, 3, &order) ||
        !cli_integer("--patch", patch_text, 0, 1L << 30, &patch))
        return EXIT_WRONG;
    abut_surface *surface = NULL;
    abut_error error = {0};
    if (load(call.positional[0], &surface, &error) != ABUT_OK) return cli_error(&error);
    if (patch >= abut_surface_patch_count(surface))
        status = cli_complain("evaluate: there is no patch %ld; %s has patches 0 to %d", patch,
                              call.positional[0], abut_surface_patch_count(surface) - 1);
    else
        status = print_answer(surface, (int)patch, at[0], at[1], (int)order, json);
    abut_surface_free(NULL, surface);
    return status;
}

/* `abut evaluate`: a point of a smooth surface and its partial derivatives, or what the surface is.  A mesh
 * file is a Loop cage; anything else holds Bezier control points. */
#include "cli.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_mesh(const char *path) {
    static const char *const extensions[] = {".obj", ".off", ".ply", ".stl"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (length > 4 && strcasecmp(path + length - 4, extensions[i]) == 0) return true;
    return false;
}

static abut_status load(const char *path, const abut_loop_options *options, abut_surface **surface,
                        abut_error *error) {
    if (!is_mesh(path)) return abut_surface_load(NULL, path, surface, error);
    abut_mesh *cage = NULL;
    abut_status status = abut_mesh_load(NULL, path, &cage, error);
    if (status == ABUT_OK) status = abut_surface_loop(NULL, cage, options, surface, error);
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

/* The worst of the S-patches that fill holes, of one valence. */
typedef struct hole_facts {
    int count;
    double deviation, normal_jump, least_area;
} hole_facts;

static void gather_holes(const abut_surface *surface, hole_facts holes[ABUT_SIDES_MOST + 1]) {
    for (int p = 0; p < abut_surface_patch_count(surface); p++) {
        abut_patch_facts f = abut_surface_patch_facts(surface, p);
        if (f.kind != ABUT_PATCH_S_PATCH || f.valence == 0) continue;
        hole_facts *h = &holes[f.valence];
        if (h->count++ == 0) h->least_area = f.least_area;
        if (f.deviation > h->deviation) h->deviation = f.deviation;
        if (f.normal_jump > h->normal_jump) h->normal_jump = f.normal_jump;
        if (f.least_area < h->least_area) h->least_area = f.least_area;
    }
}

static void count_kinds(const abut_surface *surface, int counts[]) {
    for (int p = 0; p < abut_surface_patch_count(surface); p++)
        counts[abut_surface_patch_facts(surface, p).kind]++;
}

enum { KINDS = ABUT_PATCH_TORUS + 1 };

static int describe_json(const abut_surface *surface, const abut_surface_measures *m) {
    int counts[KINDS] = {0};
    hole_facts holes[ABUT_SIDES_MOST + 1] = {{0}};
    json_t *kinds = json_object(), *list = json_array();
    count_kinds(surface, counts);
    gather_holes(surface, holes);
    for (int k = 0; k < KINDS; k++)
        if (counts[k])
            json_object_set_new(kinds, abut_patch_kind_name((abut_patch_kind)k), json_integer(counts[k]));
    for (int n = 3; n <= ABUT_SIDES_MOST; n++)
        if (holes[n].count)
            json_array_append_new(list,
                                  json_pack("{s:i,s:i,s:f,s:f,s:f}", "valence", n, "count", holes[n].count,
                                            "deviation", holes[n].deviation, "normal_jump",
                                            holes[n].normal_jump, "least_area", holes[n].least_area));
    json_t *document = json_pack("{s:i,s:b,s:o,s:o}", "patches", abut_surface_patch_count(surface), "closed",
                                 abut_surface_is_closed(surface), "kinds", kinds, "s_patches", list);
    if (m) {
        json_t *inertia = json_array();
        for (int i = 0; i < 6; i++) json_array_append_new(inertia, json_real(m->inertia[i]));
        json_object_update_new(document, json_pack("{s:f,s:f,s:o,s:o,s:f}", "area", m->area, "volume",
                                                   m->volume, "center", cli_json_vec3(m->center), "inertia",
                                                   inertia, "volume_error", m->volume_error));
    }
    return cli_print_json(document);
}

static int describe(const char *path, const abut_surface *surface, bool json) {
    abut_surface_measures m;
    abut_error error = {0};
    bool measured =
        abut_surface_is_closed(surface) && abut_surface_measure(surface, 1e-8, &m, &error) == ABUT_OK;
    if (json) return describe_json(surface, measured ? &m : NULL);
    int counts[KINDS] = {0};
    hole_facts holes[ABUT_SIDES_MOST + 1] = {{0}};
    count_kinds(surface, counts);
    gather_holes(surface, holes);
    printf("%s: %d patches, %s\n", path, abut_surface_patch_count(surface),
           abut_surface_is_closed(surface) ? "closed" : "open");
    for (int k = 0; k < KINDS; k++)
        if (counts[k]) printf("  %-24s %8d\n", abut_patch_kind_name((abut_patch_kind)k), counts[k]);
    for (int n = 3; n <= ABUT_SIDES_MOST; n++)
        if (holes[n].count)
            printf("  %d S-patches of valence %d: at most %.2g from the limit surface, normals differ by "
                   "%.2g rad, "
                   "least area element %.2f of the mean\n",
                   holes[n].count, n, holes[n].deviation, holes[n].normal_jump, holes[n].least_area);
    if (measured) {
        printf("area      %.10g\nvolume    %.10g\n", m.area, m.volume);
        printf("center    %.10g %.10g %.10g\n", m.center.x, m.center.y, m.center.z);
        printf("inertia   %.10g %.10g %.10g %.10g %.10g %.10g  (xx yy zz xy xz yz, unit density)\n",
               m.inertia[0], m.inertia[1], m.inertia[2], m.inertia[3], m.inertia[4], m.inertia[5]);
    } else if (error.message[0]) {
        printf("no volume: %s\n", error.message);
    }
    return EXIT_DONE;
}

/* How far a place lies outside the domain of a patch, a convex polygon, counter-clockwise. */
static double outside(const abut_surface *surface, int patch, const double at[2]) {
    double c[ABUT_SIDES_MOST][2], worst = -HUGE_VAL;
    int n = abut_surface_domain(surface, patch, c);
    for (int i = 0; i < n; i++) {
        const double *a = c[i], *b = c[(i + 1) % n];
        double x = b[0] - a[0], y = b[1] - a[1];
        worst = fmax(worst, (y * (at[0] - a[0]) - x * (at[1] - a[1])) / hypot(x, y));
    }
    return worst;
}

/* What a place must be to lie on the patch. */
static int refuse_place(const abut_surface *surface, int patch, const double at[2]) {
    double c[ABUT_SIDES_MOST][2], least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};
    int n = abut_surface_domain(surface, patch, c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) least[k] = fmin(least[k], c[i][k]), most[k] = fmax(most[k], c[i][k]);
    if (n == 3)
        return cli_complain(
            "evaluate: u = %g, v = %g is outside patch %d, a triangle; give u and v from 0 on "
            "with u + v at most 1, or another --patch",
            at[0], at[1], patch);
    return cli_complain("evaluate: u = %g, v = %g is outside patch %d; give u from %g to %g and v from %g to "
                        "%g%s, or another --patch",
                        at[0], at[1], patch, least[0], most[0], least[1], most[1],
                        n == 4 ? "" : " within its sides");
}

static int answer(const char *path, const abut_surface *surface, const char *at_text, const double at[2],
                  long patch, long order, bool json) {
    if (!at_text) return describe(path, surface, json);
    if (patch >= abut_surface_patch_count(surface))
        return cli_complain("evaluate: there is no patch %ld; %s has patches 0 to %d", patch, path,
                            abut_surface_patch_count(surface) - 1);
    if (outside(surface, (int)patch, at) > 1e-9) return refuse_place(surface, (int)patch, at);
    return print_answer(surface, (int)patch, at[0], at[1], (int)order, json);
}

int command_evaluate(int argc, char **argv) {
    const char *patch_text = "0", *at_text = NULL, *derivatives_text = "1", *refine_text = "0";
    bool json = false, smooth = false, stop;
    cli_option options[] = {{.name = "--patch", .value = &patch_text},
                            {.name = "--at", .value = &at_text},
                            {.name = "--derivatives", .value = &derivatives_text},
                            {.name = "--smooth", .flag = &smooth},
                            {.name = "--refine", .value = &refine_text},
                            {.name = "--json", .flag = &json}};
    cli_call call = {
        .command = "evaluate",
        .arguments = "SURFACE [--patch N] [--at U,V] [--derivatives 0..3] [--smooth] [--refine N] [--json]",
        .options = options,
        .option_count = 6,
        .least = 1,
        .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    double at[2] = {0, 0};
    long patch, order, refine;
    if ((at_text && !cli_numbers("--at", at_text, 2, 2, at)) ||
        !cli_integer("--derivatives", derivatives_text, 0, 3, &order) ||
        !cli_integer("--refine", refine_text, 0, 6, &refine) ||
        !cli_integer("--patch", patch_text, 0, 1L << 30, &patch))
        return EXIT_WRONG;
    abut_loop_options loop = abut_default_loop_options();
    if (smooth) loop.form = ABUT_LOOP_SMOOTH, loop.refine = (int)refine;
    abut_surface *surface = NULL;
    abut_error error = {0};
    if (load(call.positional[0], &loop, &surface, &error) != ABUT_OK) return cli_error(&error);
    status = answer(call.positional[0], surface, at_text, at, patch, order, json);
    abut_surface_free(NULL, surface);
    return status;
}

/* abut inspect MESH: what a mesh is.  A solid gives its counts, mass properties and maximal faces; a mesh
 * that bounds no solid gives what can be counted, its first defects, and exit status 1. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>

typedef struct inspection {
    const char *path;
    double density;
    abut_mesh *mesh;
    abut_mesh_facts stored, welded; /* as in the file, and with nearly equal vertices joined */
    abut_solid *solid;              /* NULL when the mesh bounds none */
    abut_solid_facts facts;
    abut_mass mass;
    abut_error why; /* why there is no solid */
} inspection;

static abut_status inspect(inspection *i, abut_error *error) {
    abut_status status = abut_mesh_load(NULL, i->path, &i->mesh, error);
    if (status == ABUT_OK) status = abut_mesh_facts_of(NULL, i->mesh, -1, &i->stored, error);
    if (status == ABUT_OK)
        status = abut_mesh_facts_of(NULL, i->mesh, abut_default_solid_options().weld, &i->welded, error);
    if (status != ABUT_OK) return status;
    status = abut_solid_build(NULL, i->mesh, NULL, &i->solid, &i->why);
    if (status == ABUT_INVALID) return ABUT_OK;
    if (status != ABUT_OK) {
        *error = i->why;
        return status;
    }
    i->facts = abut_solid_facts_of(i->solid);
    i->mass = abut_solid_mass(i->solid, i->density);
    return ABUT_OK;
}

/* ---- the document */
static json_t *json_or_null(bool known, json_t *value) {
    if (known) return value;
    json_decref(value);
    return json_null();
}

static json_t *json_bounds(abut_box b) {
    return json_pack("[o,o]", cli_json_vec3(b.lower), cli_json_vec3(b.upper));
}

static json_t *json_six(const double six[6]) {
    json_t *list = json_array();
    for (int k = 0; k < 6; k++) json_array_append_new(list, json_real(six[k]));
    return list;
}

static json_t *json_face_map(const abut_solid *solid) {
    json_t *list = json_array();
    for (int64_t f = 0; f < abut_solid_file_faces(solid); f++)
        json_array_append_new(list, json_integer(abut_solid_face_of_file(solid, f)));
    return list;
}

static json_t *json_mesh(const abut_mesh_facts *m) {
    bool whole = m->closed && m->manifold && m->oriented;
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:b, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:f}", "vertices",
        (json_int_t)m->vertices, "edges", (json_int_t)m->edges, "faces", (json_int_t)m->faces, "components",
        (json_int_t)m->components, "genus", json_or_null(m->genus >= 0, json_integer(m->genus)), "closed",
        whole, "manifold", m->manifold, "oriented", m->oriented, "convex", m->convex, "open_edges",
        (json_int_t)m->open_edges, "nonmanifold_edges", (json_int_t)m->nonmanifold_edges, "flipped_edges",
        (json_int_t)m->flipped_edges, "nonmanifold_vertices", (json_int_t)m->nonmanifold_vertices,
        "degenerate_faces", (json_int_t)m->degenerate_faces, "reflex_edges", (json_int_t)m->reflex_edges,
        "largest_face", m->largest_face, "flatness", m->flatness);
}

/* Keys in the order of INTERFACE.md, then what goes beyond it. */
static json_t *document_of(const inspection *i) {
    const abut_mesh_facts *m = &i->welded;
    const abut_solid_facts *s = &i->facts;
    bool solid = i->solid != NULL, whole = m->closed && m->manifold && m->oriented;
    json_t *d = json_object();
    json_object_set_new(d, "file", json_string(i->path));
    json_object_set_new(d, "solid", json_boolean(solid));
    json_object_set_new(d, "vertices", json_integer(solid ? s->vertices : m->vertices));
    json_object_set_new(d, "edges", json_integer(solid ? s->edges : m->edges));
    json_object_set_new(d, "faces", json_integer(solid ? s->faces : m->faces));
    json_object_set_new(d, "maximal_faces", json_or_null(solid, json_integer(s->maximal_faces)));
    json_object_set_new(d, "shells", json_integer(solid ? s->shells : m->components));
    json_object_set_new(d, "genus",
                        json_or_null(solid || m->genus >= 0, json_integer(solid ? s->genus : m->genus)));
    json_object_set_new(d, "closed", json_boolean(solid || whole));
    json_object_set_new(d, "convex", json_boolean(solid ? s->convex : m->convex));
    json_object_set_new(d, "volume", json_or_null(solid || whole, json_real(solid ? s->volume : m->volume)));
    json_object_set_new(d, "area", json_real(solid ? s->area : m->area));
    json_object_set_new(d, "center", json_or_null(solid, cli_json_vec3(i->mass.center)));
    json_object_set_new(d, "inertia", json_or_null(solid, json_six(i->mass.inertia)));
    json_object_set_new(d, "smallest_feature", json_or_null(solid, json_real(s->smallest_feature)));
    json_object_set_new(d, "bounds", json_bounds(solid ? s->bounds : m->bounds));
    json_object_set_new(d, "density", json_real(i->density));
    json_object_set_new(d, "as_stored", json_mesh(&i->stored));
    if (!solid) {
        json_object_set_new(d, "defect", json_string(i->why.message));
        return d;
    }
    json_object_set_new(d, "mass", json_real(i->mass.mass));
    json_object_set_new(d, "maximal_vertices", json_integer(s->maximal_vertices));
    json_object_set_new(d, "maximal_edges", json_integer(s->maximal_edges));
    json_object_set_new(d, "planes", json_integer(s->planes));
    json_object_set_new(d, "cavities", json_integer(s->cavities));
    json_object_set_new(d, "epsilon", json_real(s->epsilon));
    json_object_set_new(d, "face_map", json_face_map(i->solid));
    return d;
}

/* ---- the table */
static void print_vec3(const char *name, abut_vec3 v) {
    printf("%-18s%-24.17g%-24.17g%-24.17g\n", name, v.x, v.y, v.z);
}

static const char *word(bool yes) { return yes ? "yes" : "no"; }

static void print_solid(const inspection *i) {
    const abut_solid_facts *s = &i->facts;
    const double *t = i->mass.inertia;
    printf("%-18s%-12s%-12s\n", "", "in the file", "maximal");
    printf("%-18s%-12" PRId64 "%-12" PRId64 "\n", "vertices", s->vertices, s->maximal_vertices);
    printf("%-18s%-12" PRId64 "%-12" PRId64 "\n", "edges", s->edges, s->maximal_edges);
    printf("%-18s%-12" PRId64 "%-12" PRId64 " in %" PRId64 " planes\n", "faces", s->faces, s->maximal_faces,
           s->planes);
    printf("%-18s%" PRId64, "shells", s->shells);
    if (s->cavities) printf(", %" PRId64 " of them cavities", s->cavities);
    printf("\n%-18s%d\n", "genus", s->genus);
    printf("%-18syes\n%-18s%s\n", "closed", "convex", word(s->convex));
    printf("%-18s%.17g m^3\n%-18s%.17g m^2\n", "volume", s->volume, "area", s->area);
    printf("%-18s%.17g kg at %g kg/m^3\n", "mass", i->mass.mass, i->density);
    print_vec3("center of mass", i->mass.center);
    print_vec3("inertia xx yy zz", (abut_vec3){t[0], t[1], t[2]});
    print_vec3("inertia xy xz yz", (abut_vec3){t[3], t[4], t[5]});
    print_vec3("bounds lower", s->bounds.lower);
    print_vec3("bounds upper", s->bounds.upper);
    printf("%-18s%.6g m, touching distance epsilon %.6g m\n", "smallest feature", s->smallest_feature,
           s->epsilon);
}

static void print_mesh(const inspection *i) {
    const abut_mesh_facts *m = &i->welded;
    printf("%-18s%" PRId64 "\n%-18s%" PRId64 "\n%-18s%" PRId64 "\n", "vertices", m->vertices, "edges",
           m->edges, "faces", m->faces);
    printf("%-18s%" PRId64 "\n", "components", m->components);
    printf("%-18s%s\n", "closed", word(m->closed && m->manifold && m->oriented));
    if (m->genus >= 0) printf("%-18s%d\n", "genus", m->genus);
    const struct {
        const char *name;
        int64_t count;
    } troubles[] = {{"open edges", m->open_edges},
                    {"non-manifold edges", m->nonmanifold_edges},
                    {"flipped edges", m->flipped_edges},
                    {"non-manifold vertices", m->nonmanifold_vertices},
                    {"degenerate faces", m->degenerate_faces},
                    {"unused vertices", m->unused_points}};
    for (size_t k = 0; k < sizeof troubles / sizeof troubles[0]; k++)
        if (troubles[k].count) printf("%-22s%" PRId64 "\n", troubles[k].name, troubles[k].count);
    print_vec3("bounds lower", m->bounds.lower);
    print_vec3("bounds upper", m->bounds.upper);
}

/* The first defects, and where the whole list is. */
static int say_why(const inspection *i) {
    enum { FIRST = 3 };
    abut_solid_options options = abut_default_solid_options();
    abut_report *report = NULL;
    abut_error error = {0};
    options.limit = FIRST;
    int64_t said = 0;
    if (abut_mesh_check(NULL, i->mesh, &options, &report, &error) == ABUT_OK)
        for (int64_t k = 0; k < report->finding_count && said < FIRST; k++) {
            const abut_finding *f = &report->findings[k];
            if (!f->is_error) continue;
            abut_error found = {.status = ABUT_INVALID, .line = f->line};
            snprintf(found.file, sizeof found.file, "%s", i->path);
            snprintf(found.message, sizeof found.message, "%s: %s", abut_defect_name(f->defect), f->message);
            cli_error(&found);
            said++;
        }
    if (said == 0) cli_error(&i->why);
    int64_t more = said ? report->error_count - said : 0;
    fprintf(stderr, "abut: %s bounds no solid", i->path);
    if (more > 0) fprintf(stderr, ", %" PRId64 " defects more", more);
    fprintf(stderr, "; `abut check %s` lists what is wrong\n", i->path);
    abut_report_free(NULL, report);
    return EXIT_NOT_MET;
}

int command_inspect(int argc, char **argv) {
    const char *density = "1";
    bool json = false, stop = false;
    const cli_option options[] = {{.name = "--density", .value = &density},
                                  {.name = "--json", .flag = &json}};
    cli_call call = {.command = "inspect",
                     .arguments = "MESH [--density D] [--json]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    inspection i = {.path = call.positional[0]};
    if (!cli_number("--density", density, &i.density)) return EXIT_WRONG;
    if (i.density <= 0) return cli_complain("--density: %s is not above 0; give kg/m^3", density);
    abut_error error = {0};
    if (inspect(&i, &error) != ABUT_OK) {
        status = cli_error(&error);
    } else {
        if (json)
            status = cli_print_json(document_of(&i));
        else if (i.solid)
            print_solid(&i);
        else
            print_mesh(&i);
        if (!i.solid) status = say_why(&i);
    }
    abut_solid_free(NULL, i.solid);
    abut_mesh_free(NULL, i.mesh);
    return status;
}

/* abut check MESH: what is wrong with a mesh, where, and what to do; with --fix the safe repairs, listed one
 * by one.  Exit status: 0 a solid (warnings allowed), 1 it has defects, 2 it cannot be read. */
#include "check_scene.h"
#include "cli.h"

#include <inttypes.h>

typedef struct check_result {
    const char *path, *fix; /* fix: where the repaired mesh goes, or NULL */
    abut_mesh *mesh, *repaired;
    abut_report *report, *repairs;
    bool refused; /* no safe repair makes a solid of it */
    abut_error why;
} check_result;

static abut_status check(check_result *c, abut_error *error) {
    abut_status status = abut_mesh_load(NULL, c->path, &c->mesh, error);
    if (status == ABUT_OK) status = abut_mesh_check(NULL, c->mesh, NULL, &c->report, error);
    if (status != ABUT_OK || !c->fix) return status;
    status = abut_mesh_repair(NULL, c->mesh, NULL, &c->repaired, &c->repairs, &c->why);
    c->refused = status == ABUT_INVALID || status == ABUT_FAILED;
    if (c->refused) return ABUT_OK;
    if (status != ABUT_OK) {
        *error = c->why;
        return status;
    }
    return abut_mesh_save(NULL, c->repaired, c->fix, error);
}

/* Vertices that are stored twice and features below the touching distance do not keep a mesh from being a
 * solid, but they are defects of the file; vertices that nothing uses are not. */
static bool is_clean(const abut_report *r) {
    return r->is_valid && !r->count_of[ABUT_DEFECT_DUPLICATE_VERTEX] &&
           !r->count_of[ABUT_DEFECT_SMALL_FEATURE];
}

/* ---- the document */
static json_t *json_finding(const abut_finding *f) {
    json_t *faces = json_array(), *edge = json_array();
    for (int k = 0; k < 2; k++) {
        if (f->face[k] >= 0) json_array_append_new(faces, json_integer(f->face[k]));
        if (f->edge[k] >= 0) json_array_append_new(edge, json_integer(f->edge[k]));
    }
    return json_pack("{s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:s}", "defect", abut_defect_name(f->defect),
                     "error", f->is_error, "repairable", f->repairable, "faces", faces, "edge", edge,
                     "vertex", f->vertex >= 0 ? json_integer(f->vertex) : json_null(), "at",
                     cli_json_vec3(f->at), "line", f->line > 0 ? json_integer(f->line) : json_null(),
                     "message", f->message);
}

static json_t *json_report(const abut_report *r) {
    json_t *findings = json_array(), *counts = json_object();
    for (int64_t i = 0; i < r->finding_count; i++)
        json_array_append_new(findings, json_finding(&r->findings[i]));
#define COUNT(name, word, is_error)      \
    if (r->count_of[ABUT_DEFECT_##name]) \
        json_object_set_new(counts, word, json_integer(r->count_of[ABUT_DEFECT_##name]));
    ABUT_DEFECT_LIST(COUNT)
#undef COUNT
    return json_pack("{s:I, s:I, s:o, s:o}", "errors", (json_int_t)r->error_count, "warnings",
                     (json_int_t)r->warning_count, "counts", counts, "findings", findings);
}

static json_t *document_of(const check_result *c) {
    json_t *d = json_object();
    json_object_set_new(d, "file", json_string(c->path));
    json_object_set_new(d, "valid", json_boolean(c->report->is_valid));
    json_object_set_new(d, "clean", json_boolean(is_clean(c->report)));
    json_t *report = json_report(c->report);
    json_object_update(d, report);
    json_decref(report);
    if (!c->fix) return d;
    json_t *fix = json_object();
    json_object_set_new(fix, "file", c->refused ? json_null() : json_string(c->fix));
    json_object_set_new(fix, "refused", c->refused ? json_string(c->why.message) : json_null());
    json_object_set_new(fix, "repairs", c->repairs ? json_report(c->repairs) : json_null());
    json_object_set_new(d, "fix", fix);
    return d;
}

/* ---- the list */
static void print_finding(const char *path, const abut_finding *f, bool colors) {
    const char *kind = f->is_error ? "error" : "warning";
    const char *on = !colors ? "" : f->is_error ? "\033[31m" : "\033[33m", *off = colors ? "\033[0m" : "";
    if (f->line > 0)
        printf("%s:%d: %s%s%s: %s: %s\n", path, f->line, on, kind, off, abut_defect_name(f->defect),
               f->message);
    else
        printf("%s: %s%s%s: %s: %s\n", path, on, kind, off, abut_defect_name(f->defect), f->message);
}

/* What was found of each kind, and how many of it are not in the list. */
static void print_counts(const abut_report *r) {
    int64_t listed[32] = {0};
    for (int64_t i = 0; i < r->finding_count; i++) listed[r->findings[i].defect]++;
    const char *separator = ": ";
#define COUNT(name, word, is_error)                                                    \
    if (r->count_of[ABUT_DEFECT_##name]) {                                             \
        printf("%s%" PRId64 " %s", separator, r->count_of[ABUT_DEFECT_##name], word);  \
        if (r->count_of[ABUT_DEFECT_##name] > listed[ABUT_DEFECT_##name])              \
            printf(" (the first %" PRId64 " are listed)", listed[ABUT_DEFECT_##name]); \
        separator = ", ";                                                              \
    }
    ABUT_DEFECT_LIST(COUNT)
#undef COUNT
    printf("\n");
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static void print_report(const check_result *c) {
    const abut_report *r = c->report;
    bool colors = cli_use_colors(stdout);
    for (int64_t i = 0; i < r->finding_count; i++) print_finding(c->path, &r->findings[i], colors);
    printf("%s: %s, ", c->path, !r->is_valid ? "no solid" : is_clean(r) ? "a solid" : "a solid with defects");
    printf("%" PRId64 " error%s, %" PRId64 " warning%s", r->error_count, plural(r->error_count),
           r->warning_count, plural(r->warning_count));
    print_counts(r);
    if (!c->fix || c->refused) return;
    for (int64_t i = 0; i < c->repairs->finding_count; i++)
        printf("%s: repaired: %s: %s\n", c->fix, abut_defect_name(c->repairs->findings[i].defect),
               c->repairs->findings[i].message);
    int64_t repairs = c->repairs->error_count + c->repairs->warning_count;
    printf("%s: written, a solid; %" PRId64 " repair%s", c->fix, repairs, plural(repairs));
    print_counts(c->repairs);
}

static int verdict(const check_result *c) {
    if (!c->fix) return is_clean(c->report) ? EXIT_DONE : EXIT_NOT_MET;
    if (!c->refused) return EXIT_DONE;
    cli_error(&c->why);
    fprintf(stderr, "abut: %s: not repaired, and %s not written; mend what is listed by hand\n", c->path,
            c->fix);
    return EXIT_NOT_MET;
}

int command_check(int argc, char **argv) {
    check_result c = {0};
    bool json = false, stop = false;
    const cli_option options[] = {{.name = "--fix", .value = &c.fix}, {.name = "--json", .flag = &json}};
    cli_call call = {.command = "check",
                     .arguments = "FILE [--fix OUT] [--json]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    c.path = call.positional[0];
    if (check_is_scene(c.path)) {
        if (c.fix) return cli_complain("check: --fix mends meshes; a scene is yours to change");
        return check_scene(c.path, json);
    }
    abut_error error = {0};
    if (check(&c, &error) != ABUT_OK) {
        status = cli_error(&error);
    } else {
        if (json)
            status = cli_print_json(document_of(&c));
        else
            print_report(&c);
        if (status == EXIT_DONE) status = verdict(&c);
    }
    abut_report_free(NULL, c.report);
    abut_report_free(NULL, c.repairs);
    abut_mesh_free(NULL, c.repaired);
    abut_mesh_free(NULL, c.mesh);
    return status;
}

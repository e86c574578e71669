/* `abut classify MESH`: reads points and segments from standard input, one a line, and prints where they lie.
 */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = ABUT_SEGMENT_LIMIT };

/* Reads the numbers of a line; -1 when something in it is not a finite number or there are more than six. */
static int numbers_of(const char *line, double x[6]) {
    int count = 0;
    for (const char *at = line;;) {
        while (isspace((unsigned char)*at) || *at == ',') at++;
        if (*at == 0 || *at == '#') return count;
        char *end;
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || count == 6 ||
            !(*end == 0 || isspace((unsigned char)*end) || *end == ',' || *end == '#'))
            return -1;
        x[count++] = value;
        at = end;
    }
}

static json_t *run_json(const abut_run *run) {
    json_t *points = json_array();
    for (int i = 0; i < run->point_count; i++) json_array_append_new(points, cli_json_vec3(run->points[i]));
    json_t *object = json_pack("{s:s}", "kind", abut_place_kind_name(run->place.kind));
    json_object_set_new(object, "id", run->place.id >= 0 ? json_integer(run->place.id) : json_null());
    json_object_set_new(object, "points", points);
    return object;
}

static void print_runs(const abut_run *runs, int count, bool segment) {
    for (int i = 0; i < count; i++) {
        const abut_run *r = &runs[i];
        printf("%s%s", i ? ", " : "", abut_place_kind_name(r->place.kind));
        if (r->place.id >= 0) printf(" %d", (int)r->place.id);
        if (segment && r->point_count == 1)
            printf(" (%.17g %.17g %.17g)", r->points[0].x, r->points[0].y, r->points[0].z);
    }
    printf("\n");
}

static int classify(const abut_index *index, const abut_solid *solid, const double x[6], int count,
                    double epsilon, abut_run *runs) {
    abut_vec3 a = {x[0], x[1], x[2]}, b = {x[3], x[4], x[5]};
    if (count == 6) return abut_index_segment(index, solid, a, b, epsilon, runs, RUNS);
    runs[0] =
        (abut_run){.place = abut_index_point(index, solid, a, epsilon), .point_count = 1, .points = {a, a}};
    return 1;
}

/* All lines of standard input; the results go to `results` or to standard output. */
static int read_lines(const abut_index *index, const abut_solid *solid, double epsilon, abut_run *runs,
                      json_t *results) {
    char line[1024];
    for (int number = 1; fgets(line, sizeof line, stdin); number++) {
        double x[6];
        if (!strchr(line, '\n') && !feof(stdin))
            return cli_complain(
                "standard input:%d: the line has more than %d letters; give a point or a segment a line",
                number, (int)sizeof line - 2);
        int count = numbers_of(line, x);
        if (count == 0) continue;
        if (count != 3 && count != 6)
            return cli_complain(
                "standard input:%d: a line is a point `x y z` or a segment `x y z x y z`; give 3 or 6 "
                "finite numbers",
                number);
        int n = classify(index, solid, x, count, epsilon, runs);
        if (n < 0)
            return cli_complain(
                "standard input:%d: the segment meets more than %d entities; cut it into shorter ones",
                number, ABUT_SEGMENT_LIMIT);
        if (!results) {
            print_runs(runs, n, count == 6);
            continue;
        }
        json_t *sequence = json_array();
        for (int i = 0; i < n; i++) json_array_append_new(sequence, run_json(&runs[i]));
        json_array_append_new(results, sequence);
    }
    return EXIT_DONE;
}

int command_classify(int argc, char **argv) {
    const char *tolerance = NULL;
    bool json = false;
    const cli_option options[] = {{"--tolerance", &tolerance, NULL, NULL}, {"--json", NULL, &json, NULL}};
    cli_call call = {.command = "classify",
                     .arguments = "MESH [--tolerance E] [--json]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    bool stop = false;
    int status = cli_parse(&call, argc, argv, &stop);
    if (status != EXIT_DONE || stop) return status;
    double epsilon = -1;
    if (tolerance && !cli_number("--tolerance", tolerance, &epsilon)) return EXIT_WRONG;
    if (tolerance && epsilon < 0)
        return cli_complain("--tolerance is %s; it is a distance, 0 or more", tolerance);

    abut_error error = {0};
    abut_solid *solid = NULL;
    abut_index *index = NULL;
    json_t *results = json ? json_array() : NULL;
    abut_run *runs = malloc(RUNS * sizeof *runs);
    abut_status done = abut_solid_load(NULL, call.positional[0], NULL, &solid, &error);
    if (done == ABUT_OK) done = abut_index_build(NULL, solid, NULL, &index, &error);
    if (done == ABUT_OK && !runs)
        error.status = done = ABUT_NO_MEMORY, snprintf(error.message, sizeof error.message, "no memory");
    if (done == ABUT_OK && !tolerance) {
        abut_solid_facts facts = abut_solid_facts_of(solid);
        abut_vec3 d = {facts.bounds.upper.x - facts.bounds.lower.x,
                       facts.bounds.upper.y - facts.bounds.lower.y,
                       facts.bounds.upper.z - facts.bounds.lower.z};
        epsilon = abut_default_solid_options().epsilon * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    }
    status = done == ABUT_OK ? read_lines(index, solid, epsilon, runs, results) : cli_error(&error);
    if (status == EXIT_DONE && json)
        status = cli_print_json(json_pack("{s:o}", "results", results));
    else
        json_decref(results);
    free(runs);
    abut_index_free(NULL, index);
    abut_solid_free(NULL, solid);
    return status;
}

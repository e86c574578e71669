/* `abut solve PROBLEM.json`: a complementarity problem from a file (abut/complementarity.h). */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem_file {
    const char *path;
    int size;
    double *a, *b, *lo, *hi;
    bool has_lo, has_hi;
} problem_file;

static int wrong(const problem_file *p, const char *what) { return cli_complain("%s: %s", p->path, what); }

/* One number; in bounds also null, "inf" and "-inf" (null means no bound on that side). */
static bool read_number(const json_t *item, const double *missing, double *number) {
    if (json_is_number(item)) {
        *number = json_number_value(item);
        return true;
    }
    const char *word = json_string_value(item);
    if (!missing || !(json_is_null(item) || word)) return false;
    if (json_is_null(item))
        *number = *missing;
    else if (strcmp(word, "inf") == 0 || strcmp(word, "+inf") == 0)
        *number = (double)INFINITY;
    else if (strcmp(word, "-inf") == 0)
        *number = -(double)INFINITY;
    else
        return false;
    return true;
}

static int read_list(const problem_file *p, const json_t *list, const char *name, const double *missing,
                     double *out) {
    if (!json_is_array(list) || (int)json_array_size(list) != p->size)
        return cli_complain("%s: `%s` must be a list of %d numbers, as `b` has", p->path, name, p->size);
    for (int i = 0; i < p->size; i++)
        if (!read_number(json_array_get(list, (size_t)i), missing, &out[i]))
            return cli_complain("%s: %s[%d] is not a number%s", p->path, name, i,
                                missing ? ", null, \"inf\" or \"-inf\"" : "");
    return EXIT_DONE;
}

static int read_problem(problem_file *p, const json_t *root) {
    static const char *const known[] = {"A", "b", "lo", "hi"};
    const char *key;
    json_t *item;
    if (!json_is_object(root)) return wrong(p, "not an object; write {\"A\": [[...]], \"b\": [...]}");
    json_object_foreach((json_t *)root, key, item) {
        bool found = false;
        for (int i = 0; i < 4; i++) found |= strcmp(key, known[i]) == 0;
        if (!found) return cli_complain("%s: there is no key `%s`; a problem has A, b, lo, hi", p->path, key);
    }
    const json_t *a = json_object_get(root, "A"), *b = json_object_get(root, "b");
    if (!json_is_array(a) || !json_is_array(b))
        return wrong(p, "`A` (a list of rows) and `b` (a list) are needed");
    if (json_array_size(b) > 20000)
        return wrong(p, "more than 20000 rows; call the library with sparse rows instead");
    p->size = (int)json_array_size(b);
    size_t n = (size_t)p->size;
    if (json_array_size(a) != n)
        return cli_complain("%s: `A` has %d rows but `b` has %d entries", p->path, (int)json_array_size(a),
                            p->size);
    p->a = malloc((n * n + 1) * sizeof(double)), p->b = malloc((n + 1) * sizeof(double));
    p->lo = malloc((n + 1) * sizeof(double)), p->hi = malloc((n + 1) * sizeof(double));
    if (!p->a || !p->b || !p->lo || !p->hi) return cli_complain("out of memory");
    int status = read_list(p, b, "b", NULL, p->b);
    for (size_t i = 0; i < n && status == EXIT_DONE; i++) {
        char name[32];
        snprintf(name, sizeof name, "A[%d]", (int)i);
        status = read_list(p, json_array_get(a, i), name, NULL, p->a + i * n);
    }
    const json_t *lo = json_object_get(root, "lo"), *hi = json_object_get(root, "hi");
    const double below = -(double)INFINITY, above = (double)INFINITY;
    p->has_lo = lo && !json_is_null(lo), p->has_hi = hi && !json_is_null(hi);
    if (status == EXIT_DONE && p->has_lo) status = read_list(p, lo, "lo", &below, p->lo);
    if (status == EXIT_DONE && p->has_hi) status = read_list(p, hi, "hi", &above, p->hi);
    return status;
}

static int load(problem_file *p) {
    json_error_t error;
    json_t *root = json_load_file(p->path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return error.line > 0 ? cli_complain("%s:%d: %s", p->path, error.line, error.text)
                              : cli_complain("%s: %s", p->path, error.text);
    int status = read_problem(p, root);
    json_decref(root);
    return status;
}

typedef struct answer {
    abut_lcp_result result;
    double *z, *w;
    uint8_t *state;
    bool *determined;
    int *group, groups; /* of a row that is determined only with others, or -1 */
    bool *sums;         /* of a group: whether its sum is */
} answer;

static const char *status_word(abut_status status) {
    return status == ABUT_OK ? "solved" : status == ABUT_INFEASIBLE ? "infeasible" : "failed";
}

static const char *guess_word(abut_lcp_guess guess) {
    return guess == ABUT_LCP_NONE_VANISHES       ? "none-vanishes"
           : guess == ABUT_LCP_GUESSED_VANISHING ? "right"
                                                 : "wrong";
}

static json_t *json_list(const double *numbers, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_real(numbers[i]));
    return list;
}

/* w = A z + b where the solver left the ray there instead. */
static json_t *json_residual(const problem_file *p, const double *z) {
    json_t *list = json_array();
    for (int i = 0; i < p->size; i++) {
        double sum = p->b[i];
        for (int j = 0; j < p->size; j++) sum += p->a[(size_t)i * (size_t)p->size + (size_t)j] * z[j];
        json_array_append_new(list, json_real(sum));
    }
    return list;
}

static double sum_of(const problem_file *p, const answer *a, int g) {
    double sum = 0;
    for (int i = 0; i < p->size; i++) sum += a->group[i] == g ? a->z[i] : 0;
    return sum;
}

/* [{"rows": [...], "sum": s, "sum_determined": true}, ...] */
static json_t *json_groups(const problem_file *p, const answer *a) {
    json_t *list = json_array();
    for (int g = 0; g < a->groups; g++) {
        json_t *rows = json_array();
        for (int i = 0; i < p->size; i++)
            if (a->group[i] == g) json_array_append_new(rows, json_integer(i));
        json_array_append_new(list, json_pack("{s:o, s:f, s:b}", "rows", rows, "sum", sum_of(p, a, g),
                                              "sum_determined", a->sums[g]));
    }
    return list;
}

static int print_json(const problem_file *p, const answer *a, abut_lcp_method method) {
    const abut_lcp_result *r = &a->result;
    bool infeasible = r->status == ABUT_INFEASIBLE;
    json_t *document = json_pack("{s:s, s:s, s:o, s:o, s:f, s:i, s:b}", "status", status_word(r->status),
                                 "solver", abut_lcp_method_name(method), "z", json_list(a->z, p->size), "w",
                                 infeasible ? json_residual(p, a->z) : json_list(a->w, p->size), "residual",
                                 r->residual, "pivots", r->pivots, "unique", r->unique);
    if (infeasible) json_object_set_new(document, "ray", json_list(a->w, p->size));
    if (method == ABUT_LCP_LP) json_object_set_new(document, "guess", json_string(guess_word(r->guess)));
    json_t *determined = json_array();
    for (int i = 0; i < p->size && r->status == ABUT_OK; i++)
        json_array_append_new(determined, json_boolean(a->determined[i]));
    json_object_set_new(document, "determined", determined);
    json_object_set_new(document, "groups", json_groups(p, a));
    return cli_print_json(document);
}

static void print_table(const problem_file *p, const answer *a, abut_lcp_method method) {
    static const char *const places[] = {"between", "at lo", "at hi"};
    const abut_lcp_result *r = &a->result;
    printf("%s by %s: residual %.3g, %d %s%s\n", status_word(r->status), abut_lcp_method_name(method),
           r->residual, r->pivots, method >= ABUT_LCP_PGS ? "sweeps" : "pivots",
           r->status != ABUT_OK ? ""
           : r->unique          ? ", the only solution"
                                : "");
    if (method == ABUT_LCP_LP) printf("the guess of the linear program: %s\n", guess_word(r->guess));
    printf("%5s %24s %24s  %s\n", "row", "z", r->status == ABUT_INFEASIBLE ? "ray" : "w", "place");
    for (int i = 0; i < p->size; i++)
        printf("%5d %24.17g %24.17g  %s%s\n", i, a->z[i], a->w[i], places[a->state[i] % 3],
               r->status == ABUT_OK && !a->determined[i] ? ", not determined" : "");
    for (int g = 0; g < a->groups; g++) {
        printf("only together:");
        for (int i = 0; i < p->size; i++)
            if (a->group[i] == g) printf(" %d", i);
        if (a->sums[g])
            printf(", sum %.17g\n", sum_of(p, a, g));
        else
            printf(", their sum is free too\n");
    }
}

static abut_lcp problem_of(const problem_file *p) {
    return (abut_lcp){.size = p->size,
                      .dense = p->a,
                      .b = p->b,
                      .lo = p->has_lo ? p->lo : NULL,
                      .hi = p->has_hi ? p->hi : NULL};
}

/* Which components are the same in every solution, and which of the others only together; told for symmetric
 * and semidefinite A, for others all or none. */
static void determine(abut_lcp_solver *solver, const abut_lcp *problem, bool plain, answer *a) {
    size_t n = (size_t)problem->size;
    bool told =
        plain && abut_lcp_determine(solver, problem, a->z, a->w, a->determined, NULL, NULL) == ABUT_OK;
    if (!told) memset(a->determined, a->result.unique, n * sizeof(bool));
    if (plain)
        abut_lcp_groups(solver, problem, a->determined, a->group, a->sums, &a->groups, NULL);
    else
        for (size_t i = 0; i < n; i++) a->group[i] = -1;
}

/* Solves; the exit status says whether there is an answer to print (EXIT_DONE), good or bad.  Without a
 * chosen method, matrices that the exact one is not for go to Lemke's. */
static int solve(const problem_file *p, bool chosen, abut_lcp_method *method, answer *a) {
    size_t n = (size_t)p->size + 1;
    abut_error error = {0};
    abut_lcp problem = problem_of(p);
    abut_lcp_kind kind;
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    a->z = calloc(n, sizeof(double)), a->w = calloc(n, sizeof(double));
    a->state = calloc(n, 1), a->determined = calloc(n, sizeof(bool));
    a->group = calloc(n, sizeof(int)), a->sums = calloc(n, sizeof(bool));
    if (!solver || !a->z || !a->w || !a->state || !a->determined || !a->group || !a->sums)
        return cli_complain("out of memory");
    abut_status status = abut_lcp_kind_of(solver, &problem, &kind, &error);
    bool plain = kind.symmetric && kind.semidefinite;
    if (!chosen && !plain) *method = ABUT_LCP_LEMKE;
    abut_lcp_config config = abut_default_lcp_config();
    config.method = *method;
    if (status == ABUT_OK)
        status = abut_lcp_solve(solver, &problem, &config, a->state, a->z, a->w, &a->result, &error);
    if (status == ABUT_OK) determine(solver, &problem, plain, a);
    abut_lcp_solver_destroy(solver);
    snprintf(error.file, sizeof error.file, "%s", p->path);
    if (status != ABUT_OK && cli_error(&error) == EXIT_WRONG) return EXIT_WRONG;
    return EXIT_DONE;
}

static int find_method(const char *word, abut_lcp_method *method) {
    for (int m = 0; m < ABUT_LCP_METHOD_COUNT; m++)
        if (!word || strcmp(word, abut_lcp_method_name((abut_lcp_method)m)) == 0) {
            *method = (abut_lcp_method)m;
            return EXIT_DONE;
        }
    return cli_complain("solve: there is no solver `%s`; use exact, lemke, lp, pgs or nncg", word);
}

int command_solve(int argc, char **argv) {
    const char *solver = NULL;
    bool json = false, stop;
    cli_option options[] = {{.name = "--solver", .value = &solver}, {.name = "--json", .flag = &json}};
    cli_call call = {.command = "solve",
                     .arguments = "PROBLEM.json [--solver exact|lemke|lp|pgs|nncg] [--json]",
                     .options = options,
                     .option_count = 2,
                     .least = 1,
                     .most = 1};
    abut_lcp_method method = ABUT_LCP_EXACT;
    int status = cli_parse(&call, argc, argv, &stop);
    if (status == EXIT_DONE && !stop) status = find_method(solver, &method);
    if (status != EXIT_DONE || stop) return status;
    problem_file file = {.path = call.positional[0]};
    answer a = {0};
    status = load(&file);
    if (status == EXIT_DONE) status = solve(&file, solver != NULL, &method, &a);
    if (status == EXIT_DONE) {
        if (json)
            status = print_json(&file, &a, method);
        else
            print_table(&file, &a, method);
        if (status == EXIT_DONE && a.result.status != ABUT_OK) status = EXIT_NOT_MET;
    }
    free(file.a), free(file.b), free(file.lo), free(file.hi);
    free(a.z), free(a.w), free(a.state), free(a.determined), free(a.group), free(a.sums);
    return status;
}

/* Complementarity problems: text through `abut solve`, or arrays through the library, by the first byte.
 *
 *     text     the bytes behind the first are PROBLEM.json, for the solver that the first byte names
 *     arrays   A = J J^T of small integers (contacts: singular, redundant, degenerate), or doubles as they
 * come (NaN, infinities, indefinite); bounds of every kind; solved cold, then warm with other loads
 *
 * What must hold: no crash, no leak, no hang; what is accepted passes the validator and keeps its bounds;
 * what is infeasible has a ray that proves it; what is refused has a message. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROWS = 48, MOST_COLUMNS = 12 };

typedef struct input {
    const uint8_t *bytes;
    size_t left;
} input;

static void require(bool holds) {
    if (!holds) abort();
}

static int byte(input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->bytes++;
}

static double any_double(input *in) {
    double x = 0;
    size_t size = in->left < sizeof x ? in->left : sizeof x;
    memcpy(&x, in->bytes, size);
    in->bytes += size, in->left -= size;
    return x;
}

/* ---- text */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    FILE *nowhere = fopen("/dev/null", "w"); /* the sanitizers write to the descriptor, not to the stream */
    require(nowhere != NULL);
    stdout = stderr = nowhere;
    return 0;
}

static void solve_text(abut_lcp_method method, const uint8_t *bytes, size_t size) {
    char path[] = "/tmp/fuzz_solve_XXXXXX", name[8];
    int file = mkstemp(path);
    require(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(name, sizeof name, "%s", abut_lcp_method_name(method));
    char solver[] = "--solver", json[] = "--json";
    char *arguments[] = {path, solver, name, json, NULL};
    int status = command_solve(4, arguments);
    require(status == EXIT_DONE || status == EXIT_NOT_MET || status == EXIT_WRONG);
    close(file), unlink(path);
}

/* ---- arrays */

typedef struct arrays {
    int size;
    double a[MOST_ROWS * MOST_ROWS], b[MOST_ROWS], lo[MOST_ROWS], hi[MOST_ROWS], z[MOST_ROWS], w[MOST_ROWS];
    uint8_t state[MOST_ROWS];
} arrays;

/* A = J J^T; rows of J come again where the byte says so.  Sums of small integers: no rounding. */
static void fill_contacts(arrays *p, input *in) {
    double j[MOST_ROWS][MOST_COLUMNS] = {{0}};
    int columns = 1 + byte(in) % MOST_COLUMNS;
    for (int i = 0; i < p->size; i++) {
        int kind = byte(in);
        double unit = kind & 2 ? 0x1p-13 : 1; /* masses 1 : 7e7 */
        for (int k = 0; k < columns; k++)
            j[i][k] =
                kind & 1 && i > 0 ? j[i - 1][k] : (k % 3 == kind % 3 ? (int8_t)byte(in) / 16 : 0) * unit;
        p->b[i] = (int8_t)byte(in) / 8;
    }
    for (int i = 0; i < p->size; i++)
        for (int l = 0; l < p->size; l++)
            for (int k = 0; k < columns; k++) p->a[i * p->size + l] += j[i][k] * j[l][k];
}

static void fill_bounds(arrays *p, input *in) {
    for (int i = 0; i < p->size; i++) {
        int kind = byte(in) % 5;
        p->lo[i] = kind == 1 || kind == 3 ? -(double)INFINITY : kind == 2 ? -1 : 0;
        p->hi[i] = kind == 2 ? 1 : kind == 3 ? 0 : kind == 4 ? 0.5 : (double)INFINITY;
    }
}

/* The ray of the exact solver: within the bounds for ever, b.d < 0. */
static void check_ray(const abut_lcp *problem, const double *ray) {
    double falls = 0;
    for (int i = 0; i < problem->size; i++) {
        require(isfinite(ray[i]) && (ray[i] >= 0 || isinf(problem->lo[i])) &&
                (ray[i] <= 0 || isinf(problem->hi[i])));
        falls += problem->b[i] * ray[i];
    }
    require(falls < 0);
}

static void solve(abut_lcp_solver *solver, arrays *p, abut_lcp_config config) {
    abut_lcp problem = {.size = p->size, .dense = p->a, .b = p->b, .lo = p->lo, .hi = p->hi};
    abut_lcp_result result;
    abut_error error = {0};
    abut_status status = abut_lcp_solve(solver, &problem, &config, p->state, p->z, p->w, &result, &error);
    require(status == result.status && (status == ABUT_OK || error.message[0] != 0));
    if (status == ABUT_OK) {
        require(abut_lcp_validate(&problem, p->z, NULL) <= 2 * config.tolerance + 16 * result.attainable);
        for (int i = 0; i < p->size; i++) require(p->z[i] >= p->lo[i] && p->z[i] <= p->hi[i]);
        bool determined[MOST_ROWS];
        abut_lcp_determine(solver, &problem, p->z, p->w, determined, NULL, NULL);
    } else if (status == ABUT_INFEASIBLE && config.method == ABUT_LCP_EXACT)
        check_ray(&problem, p->w);
}

static void solve_arrays(abut_lcp_method method, bool raw, input in) {
    static arrays p;
    memset(&p, 0, sizeof p);
    p.size = byte(&in) % (MOST_ROWS + 1);
    if (raw)
        for (int i = 0; i < p.size; i++) {
            p.b[i] = any_double(&in);
            for (int l = 0; l <= i; l++)
                p.a[i * p.size + l] = p.a[l * p.size + i] = l == i ? fabs(any_double(&in)) : any_double(&in);
        }
    else
        fill_contacts(&p, &in);
    fill_bounds(&p, &in);
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    require(solver != NULL);
    abut_lcp_config config = abut_default_lcp_config();
    config.method = method, config.budget = 5000;
    solve(solver, &p, config);
    for (int i = 0; i < p.size; i++) p.b[i] += (int8_t)byte(&in) / 64.0, p.state[i] %= 3;
    config.warm = true;
    solve(solver, &p, config);
    abut_lcp_solver_destroy(solver);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 1 || size > 16384) return 0;
    abut_lcp_method method = (abut_lcp_method)(bytes[0] / 4 % ABUT_LCP_METHOD_COUNT);
    if (bytes[0] % 4 == 3 || bytes[0] == '{')
        solve_text(method, bytes[0] == '{' ? bytes : bytes + 1, bytes[0] == '{' ? size : size - 1);
    else
        solve_arrays(method, bytes[0] % 4 == 2, (input){bytes + 1, size - 1});
    return 0;
}

/* Table 1 of Vanecek 1990: the index of spheres of n slices by n stacks and of tori of n by n faces, n = 4,
 * 6, 8, 10, 20.
 *
 * The paper's method comes first (cuts in the middle of the box while a region has more than 20 faces, then
 * the first face), then the default.  The report does not say how its tori were proportioned; here major = 4
 * minor, axis x, tube turned by a quarter of a step.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

typedef struct row {
    bool torus;
    int n;
    int nodes, height;
    double average;
} row;
static const row rows[] = {
    {false, 4, 58, 16, 7.8},    {false, 6, 135, 19, 9.4},  {false, 8, 245, 18, 9.9},
    {false, 10, 463, 18, 10.4}, {false, 20, 2309, 24, 13}, {true, 4, 110, 9, 6.1},
    {true, 6, 299, 11, 7.3},    {true, 8, 435, 14, 8.6},   {true, 10, 1019, 19, 10.2},
    {true, 20, 4721, 27, 12.6},
};
enum { ROWS = sizeof rows / sizeof rows[0], MOST = 400 };

typedef struct soup {
    abut_vec3 points[MOST];
    int corners[4 * MOST];
    int64_t face_start[MOST + 1];
    abut_mesh mesh;
} soup;

static void add_face(soup *s, int a, int b, int c, int d) {
    int corner[4] = {a, b, c, d};
    for (int i = 0; i < (d < 0 ? 3 : 4); i++) s->corners[s->mesh.corner_count++] = corner[i];
    s->face_start[++s->mesh.face_count] = s->mesh.corner_count;
}

static int ring(int n, int stack, int slice) { return 1 + (stack - 1) * n + slice % n; }

static void make_sphere(soup *s, int n) {
    s->points[s->mesh.point_count++] = (abut_vec3){0, 0, 1};
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++) {
            double polar = PI * i / n, turn = 2 * PI * j / n;
            s->points[s->mesh.point_count++] =
                (abut_vec3){sin(polar) * cos(turn), sin(polar) * sin(turn), cos(polar)};
        }
    s->points[s->mesh.point_count++] = (abut_vec3){0, 0, -1};
    int south = (int)s->mesh.point_count - 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (i == 0)
                add_face(s, 0, ring(n, 1, j), ring(n, 1, j + 1), -1);
            else if (i == n - 1)
                add_face(s, ring(n, i, j), south, ring(n, i, j + 1), -1);
            else
                add_face(s, ring(n, i, j), ring(n, i + 1, j), ring(n, i + 1, j + 1), ring(n, i, j + 1));
        }
}

static void make_torus(soup *s, int n) {
    double major = 4, minor = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double around = 2 * PI * i / n, tube = 2 * PI * (j + 0.25) / n, r = major + minor * cos(tube);
            s->points[s->mesh.point_count++] =
                (abut_vec3){minor * sin(tube), r * cos(around), r * sin(around)};
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int i2 = (i + 1) % n, j2 = (j + 1) % n;
            add_face(s, i * n + j, i2 * n + j, i2 * n + j2, i * n + j2);
        }
}

static int measure(const row *r, soup *s, abut_error *error) {
    s->mesh = (abut_mesh){.points = s->points, .corners = s->corners, .face_start = s->face_start};
    s->face_start[0] = 0;
    if (r->torus)
        make_torus(s, r->n);
    else
        make_sphere(s, r->n);
    abut_solid *solid = NULL;
    abut_status status = abut_solid_build(NULL, &s->mesh, NULL, &solid, error);
    if (status != ABUT_OK) return cli_error(error);
    abut_solid_facts f = abut_solid_facts_of(solid);
    printf("%-6s %5lld   %5d %6d %7.1f ", r->torus ? "torus" : "sphere",
           (long long)(f.vertices + f.edges + f.faces), r->nodes, r->height, r->average);
    const abut_index_method methods[2] = {ABUT_INDEX_FIRST, ABUT_INDEX_HYBRID};
    for (int m = 0; m < 2 && status == ABUT_OK; m++) {
        abut_index_options options = abut_default_index_options();
        options.method = methods[m];
        abut_index *index = NULL;
        status = abut_index_build(NULL, solid, &options, &index, error);
        if (status != ABUT_OK) break;
        abut_index_facts x = abut_index_facts_of(index);
        printf("  %6lld %6lld %7.2f ", (long long)x.nodes, (long long)x.height, x.average_height);
        abut_index_free(NULL, index);
    }
    printf("\n");
    abut_solid_free(NULL, solid);
    return status == ABUT_OK ? EXIT_DONE : cli_error(error);
}

int bench_table1(bool strict) {
    (void)strict; /* the table has no marks to meet */
    soup *s = malloc(sizeof *s);
    abut_error error = {0};
    if (!s) return cli_complain("no memory");
    printf("                -------- paper -------    -------- first -------    ------- hybrid -------\n");
    printf("solid  V+E+F    nodes height average     nodes height average     nodes height average\n");
    int status = EXIT_DONE;
    for (int i = 0; i < ROWS && status == EXIT_DONE; i++) status = measure(&rows[i], s, &error);
    free(s);
    return status;
}
